"""The notes of one kind of subagent (``memory`` in its definition): a directory with an index of their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

from agentcli.memory.auto import AutoMemory, AutoPlaces
from agentcli.memory.places import Places
from agentcli.ports.prompt import Moment, Reminder

NotesScope = Literal["user", "project", "local"]
WORDS = "agent_words.md"
_FOLDERS = {"user": "agent-memory", "project": "agent-memory", "local": "agent-memory-local"}


def notes_directory(places: Places, scope: NotesScope, name: str) -> Path | None:
    """``~/.claude/agent-memory/NAME`` or, in the project, ``.claude/agent-memory[-local]/NAME``; ``None`` where there
    is no such place, or a link or the name leads out of it."""
    claude = places.user if scope == "user" else places.root / ".claude"
    if claude is None:
        return None
    folder = claude / _FOLDERS[scope]
    directory = folder / name
    ground = folder.resolve() if scope == "user" else places.root
    inside = directory.resolve() != folder.resolve() and directory.resolve().is_relative_to(folder.resolve())
    return directory if inside and folder.resolve().is_relative_to(ground) else None


class AgentNotes:
    """``ports.prompt.ReminderSource`` for the agent that keeps them.  ``warn`` takes what could not be read or made."""

    def __init__(self, directory: Path, *, create: bool, warn: Callable[[str], None]) -> None:
        self.directory = directory
        self._auto = AutoMemory(AutoPlaces(directory, words=WORDS), create=create)
        self._warn = warn

    @property
    def names(self) -> tuple[Path, ...]:
        """The directory as it is named and as it really is."""
        return tuple(dict.fromkeys((self.directory, self.directory.resolve())))

    async def collect(self, moment: Moment, *, paths: Sequence[Path] = ()) -> list[Reminder]:
        match moment:
            case "first_message" | "after_compaction":
                text = self._auto.section()
                for warning in self._auto.warnings:
                    self._warn(warning)
                return [Reminder("notes", text)] if text else []
            case "file_touched":
                return self._auto.touched(paths)
            case "before_step":
                return self._auto.changes()
