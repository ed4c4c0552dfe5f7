"""A memory room on real files, with what it said and asked in hand."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agentcli.memory import MemoryRoom, Outside, auto_places, read_places
from agentcli.settings.layers import Layer, Source
from agentcli.settings.merged import Settings


def settings(*, scope: Any = "user", foreign: bool = False, **values: Any) -> Settings:
    source = Source(scope, Path("/settings.json"), Path("/"))
    return Settings((Layer(source, values, foreign=foreign),), trusted=True)


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


@dataclass
class Desk:
    """``answer`` is given to every question about files outside the tree; ``None`` leaves it open."""

    start: Path
    settings: Settings = field(default_factory=lambda: Settings(()))
    answer: bool | None = None
    asks: bool = False
    auto: bool = False
    add_dirs: Sequence[Path] = ()
    sources: Sequence[str] = ("user", "project", "local")
    flags: dict[str, bool] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    asked: list[Outside] = field(default_factory=list)
    room: MemoryRoom = field(init=False)

    def __post_init__(self) -> None:
        self.open()

    @property
    def home(self) -> Path:
        return Path(os.environ["HOME"]) / ".agentcli"

    @property
    def managed(self) -> Path:
        return Path(os.environ["HOME"]).parent / "etc" / "CLAUDE.md"

    def open(self) -> MemoryRoom:
        """A new session in the same world."""
        places = read_places(
            self.start, self.settings, os.environ, add_dirs=self.add_dirs, sources=self.sources, managed=self.managed
        )
        notes = auto_places(places, self.settings, os.environ, self.home, **self.flags) if self.auto else None
        self.room = MemoryRoom(
            places, home=self.home, auto=notes, warn=self.warnings.append, ask=self._ask if self.asks else None
        )
        return self.room

    async def _ask(self, outside: Sequence[Outside]) -> bool | None:
        self.asked += outside
        return self.answer

    async def section(self) -> str:
        return await self.room.section() or ""

    async def touch(self, *paths: Path) -> str:
        """The reminders that come when these files are used, as one text."""
        return "\n\n".join(r.text for r in await self.room.collect("file_touched", paths=paths))

    async def step(self) -> str:
        return "\n\n".join(r.text for r in await self.room.collect("before_step"))

    def skipped(self) -> list[str]:
        return [str(s) for s in self.room.skipped()]

    def paths(self) -> list[str]:
        """What was loaded, in order, relative to the directory above home and project."""
        above = Path(os.environ["HOME"]).parent
        return [str(f.path.relative_to(above)) for f in self.room.loaded()]
