"""What a file is at one moment: kind, content by git's name for it, permission bits."""

from __future__ import annotations

import hashlib
import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

KEPT = 10 * 1024 * 1024
"""Bytes.  The content of a larger file is not kept; it is known by size and time alone."""
BIG = "big:"
Kind = Literal["file", "link", "other"]


@dataclass(frozen=True, slots=True)
class FileState:
    """``content`` is the SHA-1 of the blob as git counts it (of a link: its target); for a file that is too big
    ``big:SIZE:TIME``, for what is no file (a pipe, something unreadable) a word.  ``mode``: permission bits, 0 for what
    has none of its own.  ``None`` in place of a state: there is no file (nothing, or a directory)."""

    kind: Kind
    content: str
    mode: int = 0

    @property
    def kept(self) -> bool:
        """Whether its content may be in the store."""
        return self.kind != "other" and not self.content.startswith(BIG)


@dataclass(frozen=True, slots=True)
class Change:
    """A file of the session's, before and after."""

    path: Path
    before: FileState | None
    after: FileState | None


def blob_id(data: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def read_state(path: Path) -> tuple[FileState | None, bytes | None]:
    """The present state and, where it is small enough, the content.  Never raises, never blocks, follows no link."""
    try:
        found = path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return None, None
    except (OSError, ValueError):
        return FileState("other", "unreadable"), None
    try:
        return _read(path, found)
    except FileNotFoundError:
        return None, None
    except OSError:
        return FileState("other", "unreadable"), None


def _read(path: Path, found: os.stat_result) -> tuple[FileState | None, bytes | None]:
    if stat.S_ISLNK(found.st_mode):
        target = os.fsencode(os.readlink(path))
        return FileState("link", blob_id(target)), target
    if stat.S_ISDIR(found.st_mode):
        return None, None
    if not stat.S_ISREG(found.st_mode):
        return FileState("other", "special"), None
    mode = stat.S_IMODE(found.st_mode)
    if found.st_size > KEPT:
        return FileState("file", big(found), mode), None
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
    with os.fdopen(os.open(path, flags), "rb") as file:
        data = file.read()
    return FileState("file", blob_id(data), mode), data


def big(found: os.stat_result) -> str:
    """How a file is known whose content is not kept."""
    return f"{BIG}{found.st_size}:{found.st_mtime_ns}"


def to_record(state: FileState | None) -> list[Any] | None:
    return None if state is None else [state.kind, state.content, state.mode]


def from_record(record: Any) -> FileState | None:
    """``ValueError`` or ``TypeError`` for what is none."""
    if record is None:
        return None
    kind, content, mode = record
    if kind not in ("file", "link", "other"):
        raise ValueError(f"unknown kind {kind!r}")
    return FileState(kind, str(content), int(mode))
