"""What the model has seen of which file: behind ``ports.tools.SeenFiles``."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from agentcli.files.replace import Stamp, read_stamped
from agentcli.ports.tools import SeenFile

_Lines: TypeAlias = list[tuple[int, int]]
"""Spans of lines, first and last, from 1."""


@dataclass(slots=True)
class _Entry:
    file: SeenFile
    stamp: Stamp | None
    """The last state on disk that was looked at; ``None`` if it did not fit the content."""
    lines: _Lines = field(default_factory=list)
    told: str = ""
    """Digest of the foreign content that was told last."""


class FilesSeen:
    """One per conversation, kept in memory; keyed by real path."""

    def __init__(self) -> None:
        self._entries: dict[Path, _Entry] = {}

    def note(self, path: Path, data: bytes, *, whole: bool, encoding: str = "") -> None:
        """Of content that was seen whole before, a part does not make it less."""
        self._put(path.resolve(), data, [], whole=whole, encoding=encoding)

    def note_lines(self, path: Path, data: bytes, *, first: int, last: int, total: int, encoding: str = "") -> None:
        self._put(path.resolve(), data, [(first, last)], total=total, encoding=encoding)

    def _put(
        self, real: Path, data: bytes, lines: _Lines, *, whole: bool = False, total: int = 0, encoding: str
    ) -> None:
        now = digest(data)
        before = self._entries.get(real)
        if before is not None and before.file.digest == now:
            lines = _merge([*before.lines, *lines])
            whole = whole or before.file.whole
        stamp = _stamp(real)
        if stamp is not None and stamp.size != len(data):
            stamp = None
        encoding = encoding or (before.file.encoding if before else "")
        seen = SeenFile(now, whole or lines == [(1, total)], stamp.mtime_ns if stamp else 0, len(data), encoding)
        self._entries[real] = _Entry(seen, stamp, lines)

    def get(self, path: Path) -> SeenFile | None:
        entry = self._entries.get(path.resolve())
        return entry.file if entry else None

    def changed(self) -> list[Path]:
        return sorted(real for real, entry in self._entries.items() if _news(real, entry))

    def forget(self) -> None:
        self._entries.clear()


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _news(real: Path, entry: _Entry) -> bool:
    """Whether the file holds something else than what was seen and what was told.  A vanished file is a change."""
    stamp = _stamp(real)
    if stamp is not None and stamp == entry.stamp:
        return False
    try:
        present = digest(read_stamped(real)[0])
    except OSError:
        present = "gone"
    entry.stamp = stamp
    if present == entry.file.digest:
        entry.told = ""
        return False
    if present == entry.told:
        return False
    entry.told = present
    return True


def _stamp(real: Path) -> Stamp | None:
    try:
        return Stamp.of(real.stat())
    except OSError:
        return None


def _merge(lines: _Lines) -> _Lines:
    merged: _Lines = []
    for first, last in sorted(lines):
        if merged and first <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(last, merged[-1][1]))
        else:
            merged.append((first, last))
    return merged
