"""The undo: what files were before the session changed them, by edit tools and shell commands alike.

Edit tools and files that a command line names are copied byte for byte before they change.  Around every other
command that may write, git looks at the whole project with an index and an object store of its own beside the session
(``shadow``); the project's own repository is never touched.  A log (``log``) tells in order what each turn changed;
going back (``plan``, ``restore``) compares with what the session left, so that nobody else's work is lost.
"""

from agentcli.checkpoints.room import CheckpointRoom

__all__ = ["CheckpointRoom"]
