"""Bubblewrap (Linux): a mount namespace in which the file system is read-only but for what may be written."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from agentcli.sandbox.confines import Access, Confines

PROGRAM = "bwrap"
ENDS_ALL = True
"""The PID namespace ends with its first process."""
HINT = "install the package bubblewrap (apt install bubblewrap, dnf install bubblewrap)"


def command(confines: Confines, argv: Sequence[str], *, program: str = PROGRAM) -> list[str]:
    """``argv`` inside of the confines.

    A PID namespace of its own, so that nothing outlives the command; no capabilities, also for root; unless there is a
    network, an empty network namespace, which also cuts abstract sockets off.
    """
    words = [program, "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
    for path, access in confines.in_order():
        words += _mount(path, access)
    words += ["--unshare-pid", "--unshare-ipc", "--unshare-uts", "--die-with-parent", "--cap-drop", "ALL"]
    if not confines.network:
        words.append("--unshare-net")
    return [*words, "--", *argv]


def trial(program: str) -> list[str]:
    """A command that succeeds where sandboxes can be made."""
    return command(Confines(()), ["true"], program=program)


def _mount(path: Path, access: Access) -> list[str]:
    name = str(path)
    match access:
        case "write":
            return ["--bind", name, name]
        case "read":
            return ["--ro-bind", name, name]
        case "absent":
            # An empty directory that can't be filled.  Its mount point is made where there was none.
            return ["--tmpfs", name, "--remount-ro", name]
        case "none":
            if os.path.isdir(path):
                return ["--perms", "0000", "--tmpfs", name, "--remount-ro", name]
            return ["--ro-bind", "/dev/null", name]
