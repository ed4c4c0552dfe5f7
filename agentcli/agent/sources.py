"""What reminds the model of things that changed since it was last told.  Each change is told once."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from agentcli.agent.reminders import wrap
from agentcli.agent.state import SessionState
from agentcli.conversation import ConversationCache
from agentcli.ports.permissions import PermissionGate
from agentcli.ports.prompt import Moment, Remaining, Reminder
from agentcli.ports.sessions import Clock
from agentcli.ports.tools import SeenFiles
from agentcli.text import one_line

TODO_SILENCE = 10
"""After so many steps without a word about it, the model is reminded of an unfinished todo list."""
LISTED = 20
LONGEST = 4_096
"""Characters of a path."""


@dataclass(slots=True)
class DateSource:
    """A session that runs past midnight.

    ``start`` gives the local date (YYYY-MM-DD) of the prompt; what was told since is kept among the conversation's
    choices, so that a resumed session knows it.
    """

    clock: Clock
    start: Callable[[], str]
    cache: ConversationCache = field(default_factory=ConversationCache)

    async def collect(self, moment: Moment, *, paths: Sequence[Path] = ()) -> list[Reminder]:
        today = self.clock.now().date().isoformat()
        # A compaction builds the prompt anew, with the date of its day.
        if moment in ("file_touched", "after_compaction") or today == self.cache.choices.get("told_date", self.start()):
            return []
        self.cache.choices["told_date"] = today
        return [Reminder("date", f"The date has changed: today is {today}.")]

    def rewound(self, remaining: Remaining) -> None:
        if not remaining.restored:
            self.cache.choices.pop("told_date", None)


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
        lines = [f"- {p}{'' if os.path.exists(p) else ' (no longer exists)'}" for p in changed[:LISTED]]
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
    """The permission mode, where the model has to know it (plan mode on and off).  What was told is kept among the
    conversation's choices, so that a resumed session knows it."""

    gate: PermissionGate
    texts: ModeTexts
    cache: ConversationCache = field(default_factory=ConversationCache)
    _told: str = ""
    """The mode that the model believes in: choices are emptied after a compaction has collected its reminders."""

    async def collect(self, moment: Moment, *, paths: Sequence[Path] = ()) -> list[Reminder]:
        if moment == "file_touched":
            return []
        anew = moment in ("first_message", "after_compaction")
        previous = "default" if anew else self._told or str(self.cache.choices.get("told_mode", "default"))
        now = self._told = self.gate.mode
        if now != "default" or "told_mode" in self.cache.choices:
            self.cache.choices["told_mode"] = now
        text = self.texts(previous, now) if now != previous else None
        return [Reminder("mode", text)] if text else []

    def rewound(self, remaining: Remaining) -> None:
        """The last that is left of what was told about plan mode, the only mode that is told."""
        plan, left = (
            wrap(text).text if text else "" for text in (self.texts("default", "plan"), self.texts("plan", "default"))
        )
        told = [text for text in remaining.reminders() if text in (plan, left)]
        self._told = "plan" if told and told[-1] == plan else "default"
        if "told_mode" in self.cache.choices:
            self.cache.choices["told_mode"] = self._told


@dataclass(slots=True)
class DirectoriesSource:
    """Working directories that were added or taken away.  ``present`` are those beside the first one, ``named`` those
    that the prompt names; what was told is kept among the conversation's choices, for a resumed session."""

    present: Callable[[], Sequence[str]]
    named: Callable[[], Sequence[str]]
    cache: ConversationCache
    _told: list[str] | None = None
    """``None``: nothing has been told in this process."""

    async def collect(self, moment: Moment, *, paths: Sequence[Path] = ()) -> list[Reminder]:
        if moment == "file_touched":
            return []
        now = list(self.present())
        if moment == "after_compaction":  # the prompt is about to be built anew, with all of them
            self._told = now
            return []
        told = list(self.named()) if moment == "first_message" else self._told
        if told is None:
            told = self.cache.choices.get("told_directories", [])
        self._told = now
        if now or "told_directories" in self.cache.choices:
            self.cache.choices["told_directories"] = now
        come, gone = [d for d in now if d not in told], [d for d in told if d not in now]
        lines = [f"You may work in this directory too, now: {one_line(d, LONGEST)}" for d in come]
        lines += [f"This is no working directory any more: {one_line(d, LONGEST)}" for d in gone]
        return [Reminder("directories", "\n".join(lines))] if lines else []

    def rewound(self, remaining: Remaining) -> None:
        if not remaining.restored:
            self._told = list(self.named())


@dataclass(slots=True)
class GrantedSource:
    """After a compaction: what the user has allowed for this session.  ``rules`` gives the rules' texts."""

    rules: Callable[[], Sequence[str]]

    async def collect(self, moment: Moment, *, paths: Sequence[Path] = ()) -> list[Reminder]:
        if moment != "after_compaction" or not (rules := list(dict.fromkeys(self.rules()))):
            return []
        listed = [f"- {rule}" for rule in rules[:LISTED]]
        if len(rules) > LISTED:
            listed.append(f"- and {len(rules) - LISTED} more")
        text = "The user has allowed this for the rest of the session, without being asked again:"
        return [Reminder("permissions", "\n".join([text, *listed]))]


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
