"""Modes: which prompt level a session runs at, with which tools, and who starts a turn.

A mode knows the prompt room and nothing of a user interface.  ``select`` decides which are on, and loads the module of
one behind a flag only then.
"""
