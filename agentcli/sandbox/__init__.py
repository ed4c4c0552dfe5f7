"""Confinement of shell commands by the operating system: bubblewrap on Linux, seatbelt on macOS."""
