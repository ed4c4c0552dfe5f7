"""Notices edited memory files by their state on disk, and says what is different from what was told."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from agentcli.files import Stamp
from agentcli.memory.discovery import candidates
from agentcli.memory.places import Places
from agentcli.memory.render import attribute, path_of, render_file
from agentcli.memory.values import MemoryFile

WHOLE = 4_000
"""Characters up to which a changed file is told whole; of a longer one only the changed lines."""
MUCH = 40_000
"""Characters of a text or of changes above which only the fact is told."""


@dataclass(frozen=True, slots=True)
class Change:
    """``before`` and ``after`` are whole elements; empty where there was none, or is none any more."""

    path: str
    before: str
    after: str
    sources: frozenset[Path]


@dataclass(slots=True)
class Watch:
    """``told`` holds the elements that the conversation has been sent, by path."""

    told: dict[str, str] = field(default_factory=dict)
    _sources: dict[str, frozenset[Path]] = field(default_factory=dict)
    _stamps: dict[Path, Stamp | None] = field(default_factory=dict)
    _own: set[Path] = field(default_factory=set)
    _doubtful: bool = False

    def remember(self, files: Iterable[MemoryFile], places: Places, directories: Iterable[Path]) -> None:
        """These files, and no others, have been told or are being told now.  Watched are they and every place where a
        new one would count."""
        self.told, self._sources, self._doubtful = {}, {}, False
        self._stamps = {path: _stamp(path) for path in candidates(places)}
        self.add(files, directories)

    def add(self, files: Iterable[MemoryFile], directories: Iterable[Path]) -> None:
        """More files that are being told now; what is watched already stays as it was."""
        for file in files:
            name, sources = attribute(file.path), file.sources()
            self.told[name] = render_file(file)
            self._sources[name] = frozenset(sources)
            self._stamps |= {real: stamp for real, stamp in sources.items() if stamp is not None}
        for path in directories:
            if path not in self._stamps:
                self._stamps[path] = _stamp(path)

    def believe(self, sent: Mapping[str, str]) -> None:
        """What an earlier run told, in place of what was read now.  Differences are found at the next look."""
        self.told = dict(sent)
        self._doubtful = True

    @property
    def believes(self) -> bool:
        """Whether it has not been looked yet what is different from what an earlier run or state was told."""
        return self._doubtful

    def own(self, paths: Iterable[Path]) -> None:
        """The agent itself has read or written these: their changes are no news to it."""
        self._own.update(p.resolve() for p in paths)

    def taken_own(self) -> frozenset[Path]:
        own = frozenset(self._own)
        self._own.clear()
        return own

    def stale(self) -> bool:
        """Whether any watched file is in another state than when it was told.  Costs one ``stat`` for each."""
        return self._doubtful or any(_stamp(path) != stamp for path, stamp in self._stamps.items())

    def differences(self, files: Iterable[MemoryFile]) -> list[Change]:
        """New, changed and vanished elements, in the order of the files."""
        changes = []
        present = set()
        for file in files:
            name = attribute(file.path)
            present.add(name)
            before, after = self.told.get(name, ""), render_file(file)
            if before != after:
                sources = frozenset(file.sources()) | self._sources.get(name, frozenset())
                changes.append(Change(name, before, after, sources))
        for name in [n for n in self.told if n not in present]:
            changes.append(Change(name, self.told[name], "", self._sources.get(name, frozenset({path_of(name)}))))
        return changes


def change_text(change: Change) -> str:
    """What the conversation is told about a change."""
    if not change.after:
        return f"The memory file {change.path} is gone or counts no longer: don't follow it any more."
    if not change.before:
        return f"There is a new memory file. Follow it from now on.\n\n{_short(change)}"
    if len(change.after) <= WHOLE:
        return f"The memory file {change.path} was edited. From now on it says:\n\n{change.after}"
    lines = difflib.unified_diff(
        change.before.splitlines(), change.after.splitlines(), "before", "now", n=1, lineterm=""
    )
    diff = "\n".join(lines) if len(change.before) + len(change.after) <= 10 * MUCH else ""
    if not diff or len(diff) >= min(len(change.after), MUCH):
        return f"The memory file {change.path} was edited. From now on this holds:\n\n{_short(change)}"
    return f"The memory file {change.path} was edited. Its changed lines:\n\n{diff}"


def _short(change: Change) -> str:
    if len(change.after) <= MUCH:
        return change.after
    return f"It is long ({len(change.after):,} characters): read {path_of(change.path)} before you go on."


def _stamp(path: Path) -> Stamp | None:
    try:
        return Stamp.of(path.stat())
    except OSError:
        return None
