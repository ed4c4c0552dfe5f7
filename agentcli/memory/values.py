"""The values of this room: what was found, what was loaded, what was not and why."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from agentcli.files import Stamp
from agentcli.text import estimate_tokens

Scope = Literal["managed", "user", "project", "local"]
Kind = Literal["file", "rule", "import", "setting"]
Reason = Literal["session_start", "nested_traversal", "path_glob_match", "include"]
"""Why a file was loaded; names of the field's ``InstructionsLoaded`` hook."""
AgentsMd = Literal["fallback", "always", "never"]
Level = Literal["warning", "note"]


@dataclass(frozen=True, slots=True)
class Found:
    """A file that may be loaded.  ``tree`` is the directory that links and imports of it may not leave unasked;
    ``None`` where its author is trusted (the organisation, the user)."""

    path: Path
    scope: Scope
    kind: Kind = "file"
    tree: Path | None = None
    patterns: tuple[str, ...] = ()
    base: Path | None = None
    """Where the patterns of a rule begin."""


@dataclass(frozen=True, slots=True)
class MemoryFile:
    """A file as it is given to the model.

    ``text`` is what is sent: without front matter and block comments, with imports in their places.  ``size`` counts
    the characters of the file itself.
    """

    path: Path
    real: Path
    scope: Scope
    kind: Kind
    text: str
    size: int
    reason: Reason = "session_start"
    patterns: tuple[str, ...] = ()
    imports: tuple[MemoryFile, ...] = ()
    stamp: Stamp | None = None
    """The state of the file that was read; ``None`` where there is none behind it."""

    @property
    def tokens(self) -> int:
        """Estimate for all that is sent of it, imports included."""
        return estimate_tokens(self.text)

    def sources(self) -> dict[Path, Stamp | None]:
        """The real paths that the text was made from, with their states at that time."""
        states = {self.real: self.stamp}
        for one in self.imports:
            states |= one.sources()
        return states


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file, link or import that is not loaded.  ``line`` is where it is named, 0 where it stands for itself."""

    path: Path
    scope: Scope
    reason: str
    line: int = 0
    named: str = ""

    def __str__(self) -> str:
        place = f"{self.path}:{self.line}" if self.line else str(self.path)
        return f"{place}: {self.named + ' ' if self.named else ''}{self.reason}"


@dataclass(frozen=True, slots=True)
class Outside:
    """A file that a project's file wants to load from outside its tree."""

    target: Path
    """Its real path; a directory for a linked tree of rules."""
    wanted_by: Path
    line: int = 0


@dataclass(slots=True)
class Findings:
    """What happened during a load; each thing once, in order.

    ``warnings`` are for the user at once, ``notes`` for listings and the linter, ``outside`` are files that nobody has
    decided about yet, ``directories`` those that were listed: a change of them may mean new files.
    """

    skipped: dict[Skipped, None] = field(default_factory=dict)
    warnings: dict[str, None] = field(default_factory=dict)
    notes: dict[str, None] = field(default_factory=dict)
    outside: dict[Outside, None] = field(default_factory=dict)
    directories: dict[Path, None] = field(default_factory=dict)

    def skip(self, skipped: Skipped, *, level: Level = "warning") -> None:
        self.skipped[skipped] = None
        (self.warnings if level == "warning" else self.notes)[str(skipped)] = None

    def warn(self, text: str) -> None:
        self.warnings[text] = None

    def note(self, text: str) -> None:
        self.notes[text] = None

    def copy(self) -> Findings:
        return Findings(
            dict(self.skipped), dict(self.warnings), dict(self.notes), dict(self.outside), dict(self.directories)
        )
