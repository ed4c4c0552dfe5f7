"""What the session did to files, in order: one JSON object a line, appended, mode 0600.

``turn`` and ``restore`` are marks; ``before`` and ``after`` enclose a change of one file, ``change`` is one that was
found when the project was looked at; ``running`` and ``settled`` enclose a command, ``cut`` says that the
conversation went back.  A process that was killed leaves a ``before`` or ``running`` without its end: what stands
there at the next reading is what it left.
"""

from __future__ import annotations

import json
import os
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from agentcli.checkpoints.state import Change, FileState, from_record, read_state, to_record
from agentcli.files import open_private_append
from agentcli.paths import private_directory

VERSION = 1


@dataclass(slots=True)
class Mark:
    """``first`` is the number of changes before it."""

    kind: Literal["turn", "restore"]
    first: int
    prompt: str = ""
    time: str = ""
    message_id: str = ""
    live: bool = True
    """Whether the turn is still in the conversation."""


@dataclass(slots=True)
class Log:
    """Written from the first change on; marks before it wait in memory.  Writing raises ``OSError``."""

    path: Path
    marks: list[Mark] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    running: bool = False
    """A command's changes have not been looked at."""
    _last: dict[Path, int] = field(default_factory=dict)
    _open: dict[Path, FileState | None] = field(default_factory=dict)
    _waiting: list[bytes] = field(default_factory=list)
    _descriptor: int | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)
    """Files are restored in a thread of their own."""

    @classmethod
    def load(cls, path: Path) -> Log:
        """What an earlier process wrote, as far as it can be read."""
        log = cls(path)
        try:
            lines = path.read_bytes().splitlines()
        except OSError:
            return log
        for line in lines:
            try:
                log._take(json.loads(line))
            except (ValueError, TypeError, LookupError, AttributeError):
                continue  # cut off by a crash
        for file, before in log._open.items():
            log._add(Change(file, before, read_state(file)[0]))
        log._open.clear()
        return log

    @property
    def stored(self) -> bool:
        return self._descriptor is not None or os.path.exists(self.path)

    # --- what happens -------------------------------------------------------------------------------------------------

    def mark(self, kind: Literal["turn", "restore"], time: str, prompt: str = "") -> Mark:
        made = Mark(kind, len(self.changes), prompt, time)
        self.marks.append(made)
        self._write({"kind": kind, "time": time, "prompt": prompt}, lasting=self.stored)
        return made

    def name(self, message_id: str) -> None:
        """The front end's name for the latest turn."""
        turn = next((m for m in reversed(self.marks) if m.kind == "turn"), None)
        if turn is not None:
            turn.message_id = message_id
            self._write({"kind": "name", "id": message_id}, lasting=self.stored)

    def cut(self, mark: int) -> None:
        """The conversation went back to before that turn."""
        self._cut(mark)
        self._write({"kind": "cut", "mark": mark}, lasting=self.stored)

    def before(self, path: Path, state: FileState | None) -> None:
        self._write({"kind": "before", "path": str(path), "state": to_record(state)})

    def after(self, change: Change) -> None:
        """Ends what ``before`` began."""
        self._write({"kind": "after", "path": str(change.path), **_states(change)})
        self._add(change)

    def found(self, change: Change) -> None:
        self._write({"kind": "change", "path": str(change.path), **_states(change)})
        self._add(change)

    def runs(self, running: bool) -> None:
        if running != self.running:
            self.running = running
            self._write({"kind": "running" if running else "settled"}, lasting=running or self.stored)

    # --- what is known ------------------------------------------------------------------------------------------------

    def since(self, path: Path, position: int, before: FileState | None) -> FileState | None:
        """``before``, or what the session itself made of the file since that number of changes."""
        last = self._last.get(path, -1)
        return self.changes[last].after if last >= position else before

    def left(self, path: Path) -> tuple[bool, FileState | None]:
        """Whether the session has changed the file, and what it left."""
        last = self._last.get(path)
        return (False, None) if last is None else (True, self.changes[last].after)

    def touched_since(self, path: Path, position: int) -> bool:
        return self._last.get(path, -1) >= position

    def close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    # --- lines --------------------------------------------------------------------------------------------------------

    def _write(self, entry: dict[str, Any], *, lasting: bool = True) -> None:
        line = json.dumps({"v": VERSION, **entry}, separators=(",", ":")).encode() + b"\n"
        with self._lock:
            self._waiting.append(line)
            if lasting:
                self._flush()

    def _flush(self) -> None:
        if self._descriptor is None:
            private_directory(self.path.parent)
            torn = os.path.exists(self.path) and not self.path.read_bytes().endswith(b"\n")
            self._descriptor = open_private_append(self.path)
            if torn:
                self._waiting.insert(0, b"\n")
        rest = memoryview(b"".join(self._waiting))
        while rest:
            rest = rest[os.write(self._descriptor, rest) :]
        self._waiting.clear()

    def _add(self, change: Change) -> None:
        if change.before != change.after:
            self._last[change.path] = len(self.changes)
            self.changes.append(change)

    def _cut(self, mark: int) -> None:
        for gone in self.marks[mark:]:
            gone.live = gone.kind == "restore"

    def _take(self, entry: dict[str, Any]) -> None:
        match entry["kind"]:
            case "turn" | "restore" as kind:
                self.marks.append(Mark(kind, len(self.changes), str(entry["prompt"]), str(entry["time"])))
            case "name":
                turns = [m for m in self.marks if m.kind == "turn"]
                turns[-1].message_id = str(entry["id"])
            case "cut":
                self._cut(int(entry["mark"]))
            case "before":
                self._open.setdefault(Path(entry["path"]), from_record(entry["state"]))
            case "after" | "change":
                path = Path(entry["path"])
                self._open.pop(path, None)
                self._add(Change(path, from_record(entry["before"]), from_record(entry["after"])))
            case "running" | "settled" as kind:
                self.running = kind == "running"
            case _:
                pass


def _states(change: Change) -> dict[str, Any]:
    return {"before": to_record(change.before), "after": to_record(change.after)}
