"""What git prints, read."""

from __future__ import annotations

import os

from agentcli.checkpoints.state import FileState


def paths(raw: bytes) -> list[str]:
    """Repositories inside the project are named with a slash at the end and left alone."""
    return [os.fsdecode(p) for p in raw.split(b"\0") if p and not p.endswith(b"/")]


def entries(raw: bytes) -> dict[str, tuple[str, str]]:
    """Path → (mode as git has it, blob)."""
    found = {}
    for entry in raw.split(b"\0"):
        facts, tab, name = entry.partition(b"\t")
        if tab:
            mode, blob, _ = facts.split(b" ")
            found[os.fsdecode(name)] = (mode.decode(), blob.decode())
    return found


def state_of(kind: str, blob: str, mode: int | None) -> FileState:
    if kind == "120000":
        return FileState("link", blob)
    executable = kind == "100755"
    if mode is None or bool(mode & 0o100) != executable:
        mode = 0o755 if executable else 0o644
    return FileState("file", blob, mode)
