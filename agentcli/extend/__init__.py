"""What ``.claude`` directories bring: agents, skills, custom commands, output styles and hooks."""
