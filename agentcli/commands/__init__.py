"""Slash commands: one small file each, no UI code.  ``commands/x.py`` with a ``COMMAND`` is found by the registry."""
