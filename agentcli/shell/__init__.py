"""Reading of command lines: every command that a line would run, what is known about it, and what is not."""
