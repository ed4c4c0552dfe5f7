"""The append-only session file: one JSON object a line, mode 0600, written before its effect is shown.

An entry is ``{"v":1,"kind":…,"time":…,"uuid":…, …}``; a ``delta`` (text as it streams, superseded by its message)
has neither time nor uuid, since there are thousands of them.  A failing disk never raises: the lines wait in memory,
the user is told once, and they are written when there is space again.
"""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from agentcli.files import open_private_append
from agentcli.messages import Json
from agentcli.paths import private_directory
from agentcli.ports.sessions import Clock, EntryKind, PrefixRecord

VERSION = 1
DELTA_START = b'{"v":1,"kind":"delta"'
"""How a delta's line begins: a reader can tell it without parsing."""


def encode(kind: EntryKind, data: Json, time: str) -> bytes:
    """One entry as a line, newline included.  Half a surrogate pair is written as an escape, never an error."""
    entry: dict[str, Any] = {"v": VERSION, "kind": kind}
    if kind != "delta":
        entry |= {"time": time, "uuid": str(uuid.uuid4())}
    entry |= data
    try:
        text = json.dumps(entry, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        text = json.dumps(entry, separators=(",", ":")).encode()
    return text + b"\n"


def prefix_data(record: PrefixRecord) -> dict[str, Any]:
    return asdict(record)


EMPTY = frozenset({"start", "end", "mode", "model", "title", "prefix", "todos"})
"""What a session holds in which nobody has said anything."""


@dataclass(slots=True)
class MemoryJournal:
    """Where nothing can be stored: the entries are kept for this run."""

    entries: list[dict[str, Any]] = field(default_factory=list)
    _prefix: PrefixRecord | None = None

    def append(self, kind: EntryKind, data: Json) -> None:
        self.entries.append({"kind": kind, **data})

    def prefix(self, record: PrefixRecord) -> None:
        if record != self._prefix:
            self._prefix = record
            self.append("prefix", prefix_data(record))

    def known_prefix(self, record: PrefixRecord | None) -> None:
        """The record that is known already, after a resume."""
        self._prefix = record

    def sync(self) -> None:
        return None

    def close(self) -> None:
        return None


class FileJournal:
    """Appends to one session file.  ``notice`` gets a sentence when storing fails, and one when it works again."""

    def __init__(self, path: Path, *, clock: Clock, notice: Callable[[str], None] = lambda text: None) -> None:
        self.path = path
        self._clock = clock
        self._notice = notice
        self._descriptor: int | None = None
        self._waiting: list[bytes] = []
        self._torn = False
        """A line was written in part: the next write begins with a newline, so that it stands on its own line."""
        self._failing = False
        self._prefix: PrefixRecord | None = None
        self.spoken = False
        """Something was said since this process opened the file."""

    def append(self, kind: EntryKind, data: Json) -> None:
        self.spoken = self.spoken or kind not in EMPTY
        line = encode(kind, data, self._clock.now().isoformat(timespec="milliseconds"))
        if self._waiting and kind in ("message", "discard"):
            self._waiting = [w for w in self._waiting if not w.startswith(DELTA_START)]
        self._waiting.append(line)
        self._flush()

    def prefix(self, record: PrefixRecord) -> None:
        if record != self._prefix:
            self._prefix = record
            self.append("prefix", prefix_data(record))

    def known_prefix(self, record: PrefixRecord | None) -> None:
        """The record that the file already ends with, after a resume."""
        self._prefix = record

    def sync(self) -> None:
        if self._descriptor is None or self._waiting:
            return
        try:
            os.fsync(self._descriptor)
        except OSError as error:
            self._failed(error)

    def close(self) -> None:
        """Writes what waits, if it can be written, and closes the file.  Safe to call twice."""
        if self._waiting:
            self._flush()
        self.sync()
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _flush(self) -> None:
        try:
            descriptor = self._opened()
            while self._waiting:
                self._write(descriptor, self._waiting[0])
                self._waiting.pop(0)
        except OSError as error:
            self._failed(error)
            return
        if self._failing:
            self._failing = False
            self._notice(f"The session file can be written again; nothing is missing in it: {self.path}")

    def _opened(self) -> int:
        if self._descriptor is None:
            private_directory(self.path.parent)
            self._descriptor = open_private_append(self.path)
            self._torn = not ends_whole(self.path)
        return self._descriptor

    def _write(self, descriptor: int, line: bytes) -> None:
        data = b"\n" + line if self._torn else line
        before = os.fstat(descriptor).st_size
        done = 0
        while done < len(data):
            try:
                done += os.write(descriptor, data[done:])
            except OSError:
                self._torn = self._torn or (done > 0 and not _cut_back(descriptor, before))
                raise
        self._torn = False

    def _failed(self, error: OSError) -> None:
        if not self._failing:
            self._failing = True
            self._notice(
                f"The session can't be stored ({error.strerror or error}); it goes on in memory and is written when "
                f"that is possible again: {self.path}"
            )


def _cut_back(descriptor: int, size: int) -> bool:
    """Takes a line away that was written in part: it is written whole once there is space.  The file has one writer."""
    try:
        os.ftruncate(descriptor, size)
    except OSError:
        return False
    return True


def ends_whole(path: Path) -> bool:
    """Whether the file is empty or ends with a newline."""
    with path.open("rb") as file:
        if file.seek(0, os.SEEK_END) == 0:
            return True
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"
