"""What reminds the model of things that changed since it was last told.  Each change is told once."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from agentcli.agent.state import SessionState
from agentcli.ports.permissions import PermissionGate
from agentcli.ports.prompt import Moment, Reminder
from agentcli.ports.sessions import Clock
from agentcli.ports.tools import SeenFiles

TODO_SILENCE = 10
"""After so many steps without a word about it, the model is reminded of an unfinished todo list."""
LISTED = 20


@dataclass(slots=True)
class DateSource:
    """A session that runs past midnight."""

    clock: Clock
    told: str
    """The local date (YYYY-MM-DD) that the model believes in: at first the prompt's."""

    async def collect(self, moment: Moment, *, paths: Sequence[Path] = ()) -> list[Reminder]:
        today = self.clock.now().date().isoformat()
        if today == self.told or moment == "file_touched":
            return []
        self.told = today
        return [Reminder("date", f"The date has changed: today is {today}.")]


@dataclass(slots=True)
class ChangedFilesSource:
    """Files that the model has seen and somebody else changed since."""

    seen: SeenFiles

    async def collect(self, moment: Moment, *, paths: Sequence[Path] = ()) -> list[Reminder]:
        if moment in ("file_touched", "after_compaction"):
            return []
        changed = self.seen.changed()
        if not changed:
            return []
        lines = [f"- {p}{'' if p.exists() else ' (no longer exists)'}" for p in changed[:LISTED]]
        if len(changed) > LISTED:
            lines.append(f"- and {len(changed) - LISTED} more")
        text = (
            "These files were changed on disk since you last saw them, by the user or another program. Keep those "
            "changes; read a file again before you rely on it.\n" + "\n".join(lines)
        )
        return [Reminder("changed-files", text)]


ModeTexts = Callable[[str, str], str | None]
"""``(previous, now)`` → what the model is told; ``None`` for nothing."""


@dataclass(slots=True)
class ModeSource:
    """The permission mode, where the model has to know it (plan mode on and off)."""

    gate: PermissionGate
    texts: ModeTexts
    told: str = "default"
    """The mode that the model believes in."""

    async def collect(self, moment: Moment, *, paths: Sequence[Path] = ()) -> list[Reminder]:
        now = self.gate.mode
        if moment == "file_touched":
            return []
        previous = "default" if moment == "after_compaction" else self.told
        if now == previous:
            return []
        self.told = now
        text = self.texts(previous, now)
        return [Reminder("mode", text)] if text else []


@dataclass(slots=True)
class TodoSource:
    """An unfinished todo list that the model has not touched for a while."""

    state: SessionState
    _told_at: int = 0

    async def collect(self, moment: Moment, *, paths: Sequence[Path] = ()) -> list[Reminder]:
        state = self.state
        unfinished = [t for t in state.todos if t.status != "completed"]
        if moment != "before_step" or not unfinished or state.steps_since_todos < TODO_SILENCE:
            return []
        if self._told_at and state.steps - self._told_at < TODO_SILENCE:
            return []
        self._told_at = state.steps
        lines = "\n".join(f"- [{t.status}] {t.content}" for t in state.todos)
        text = "The todo list has not been updated for a while. It stands so; update it where it is out of date."
        return [Reminder("todos", f"{text}\n{lines}")]


@dataclass(slots=True)
class NewsSource:
    """Anything else that happens beside the conversation: ended jobs, servers, edited memory.

    ``news`` returns texts that were not told yet, each once.  ``moments`` are those at which it is asked.
    """

    key: str
    news: Callable[[], Sequence[str]]
    moments: frozenset[Moment] = field(default_factory=lambda: frozenset[Moment](("first_message", "before_step")))

    async def collect(self, moment: Moment, *, paths: Sequence[Path] = ()) -> list[Reminder]:
        return [Reminder(self.key, text) for text in self.news()] if moment in self.moments else []


@dataclass(slots=True)
class HeadSource:
    """The reminder at a conversation's head, and again after a compaction.  ``text`` is asked each time."""

    text: Callable[[], Awaitable[str | None]]

    async def collect(self, moment: Moment, *, paths: Sequence[Path] = ()) -> list[Reminder]:
        if moment not in ("first_message", "after_compaction"):
            return []
        text = await self.text()
        return [Reminder("head", text)] if text else []
