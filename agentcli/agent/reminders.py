"""System reminders: the only place that writes their tags."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from agentcli.agent.rooms import Rooms
from agentcli.agent.state import SessionState
from agentcli.messages import TextBlock
from agentcli.ports.prompt import Moment, Remaining, Reminder, ReminderSource, Rewindable
from agentcli.text import clean

OPEN, CLOSE = "<system-reminder>", "</system-reminder>"
_TAG = re.compile(r"<(?=\s*/?\s*system-reminder)", re.IGNORECASE)


def wrap(text: str) -> TextBlock:
    """The text as a reminder block.  Tags inside it are defused: nothing that is quoted can end the reminder early or
    pose as another."""
    return TextBlock(f"{OPEN}\n{_TAG.sub('&lt;', clean(text))}\n{CLOSE}", "reminder")


def blocks(reminders: Iterable[Reminder]) -> tuple[TextBlock, ...]:
    return tuple(wrap(r.text) for r in reminders if r.text.strip())


class Reminders:
    """Joins sources in order; each says what is new since it was last asked."""

    def __init__(self, sources: Sequence[ReminderSource] = ()) -> None:
        self._sources = list(sources)

    def add(self, source: ReminderSource) -> None:
        self._sources.append(source)

    async def collect(self, moment: Moment, *, paths: Sequence[Path] = ()) -> list[Reminder]:
        found: list[Reminder] = []
        for source in self._sources:
            found.extend(await source.collect(moment, paths=paths))
        return found

    def rewound(self, remaining: Remaining) -> None:
        """``ports.prompt.Rewindable``: for all sources that are."""
        for source in self._sources:
            if isinstance(source, Rewindable):
                source.rewound(remaining)


def taken_back(state: SessionState, rooms: Rooms, *, restored: bool) -> None:
    """Tells the sources that the conversation is an earlier one again; ``restored`` as in ``Remaining``."""
    if isinstance(rooms.reminders, Rewindable):
        rooms.reminders.rewound(Remaining(tuple(state.messages), dict(state.cache.sections), restored))
