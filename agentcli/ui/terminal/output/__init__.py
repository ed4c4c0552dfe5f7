"""What is drawn: Markdown blocks, tool calls, diffs, the live area and the status line."""
