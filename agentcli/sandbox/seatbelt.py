"""Seatbelt (macOS): a profile for ``sandbox-exec``, in which the last rule that matches decides."""

from __future__ import annotations

import json
from collections.abc import Sequence

from agentcli.sandbox.confines import Access, Confines

PROGRAM = "sandbox-exec"
ENDS_ALL = False
HINT = "sandbox-exec is part of macOS; check that /usr/bin is in PATH"
_DEVICES = ("/dev/null", "/dev/zero", "/dev/tty", "/dev/dtracehelper", "/dev/stdout", "/dev/stderr")
_RULES: dict[Access, tuple[str, ...]] = {
    "write": ("(allow file-read* file-write* {})",),
    "read": ("(allow file-read* {})", "(deny file-write* {})"),
    "none": ("(deny file-read* file-write* {})",),
    "absent": ("(deny file-write* {})",),
}


def command(confines: Confines, argv: Sequence[str], *, program: str = PROGRAM) -> list[str]:
    """``argv`` inside of the confines."""
    return [program, "-p", profile(confines), *argv]


def trial(program: str) -> list[str]:
    """A command that succeeds where sandboxes can be made."""
    return command(Confines(()), ["/usr/bin/true"], program=program)


def profile(confines: Confines) -> str:
    """The profile's text: everything may be read, only what is named may be written."""
    lines = ["(version 1)", "(allow default)", "(deny file-write*)"]
    lines += [f"(allow file-write* (literal {json.dumps(device)}))" for device in _DEVICES]
    for path, access in confines.in_order():
        there = f"(subpath {json.dumps(str(path), ensure_ascii=False)})"
        lines += [rule.format(there) for rule in _RULES[access]]
    if not confines.network:
        lines.append("(deny network*)")
    return "\n".join(lines) + "\n"
