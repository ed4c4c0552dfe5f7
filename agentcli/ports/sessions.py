"""Between the engine and the session files."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

from agentcli.messages import Json, Message

EntryKind = Literal[
    "start",
    "message",
    "result",
    "delta",
    "discard",
    "prefix",
    "compaction",
    "clearing",
    "rewind",
    "title",
    "mode",
    "model",
    "todos",
    "usage",
    "cache",
    "notice",
    "turn_end",
    "end",
]


@dataclass(frozen=True, slots=True)
class PrefixRecord:
    """Everything that the bytes in front of the messages depend on, so that a resumed session sends the same ones."""

    sections: Json
    absent: Json
    choices: Json
    beta_headers: tuple[str, ...]
    tools: tuple[Json, ...]
    model: str
    effort: str | None
    thinking: str
    start_date: str
    system: Json
    """The effective prompt as it was sent (parts, level, layout)."""


@dataclass(frozen=True, slots=True)
class Earlier:
    """A conversation as it stood before its compaction: what taking that back needs.

    ``prefix`` is the record of its last request, ``written`` the digests of cache entries that were known then,
    ``context_tokens`` and ``measured`` the window's fill (see the session state).
    """

    messages: tuple[Message, ...]
    prefix: PrefixRecord | None
    written: tuple[str, ...] = ()
    context_tokens: int = 0
    measured: int = 0


class Journal(Protocol):
    """The append-only session file.  A line is written and flushed before its effect is shown; a failing disk never
    raises: lines are kept in memory, the user is told once, and they are written when there is space again."""

    def append(self, kind: EntryKind, data: Json) -> None: ...

    def prefix(self, record: PrefixRecord) -> None:
        """Stores the record when it differs from the last one."""

    def sync(self) -> None:
        """``fsync``: at the end of a turn."""


class Clock(Protocol):
    def now(self) -> datetime:
        """The local date and time, with its zone."""

    def monotonic(self) -> float:
        """Seconds that never go back."""

    async def sleep(self, seconds: float) -> None: ...
