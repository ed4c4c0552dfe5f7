"""What ``.claude/`` directories bring: agents."""
