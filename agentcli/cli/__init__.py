"""The command line.  The only home of typer; nothing here is imported by anything but the door."""
