"""Between the engine and the rooms that say what the model is told."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol, runtime_checkable

from agentcli.conversation import SystemPrompt
from agentcli.messages import Message, TextBlock

Moment = Literal["first_message", "before_step", "file_touched", "after_compaction"]
"""When reminders are collected: with the first user message of a conversation, before each later request, after a
tool has read or changed a file, and with the first message after a compaction."""


@dataclass(frozen=True, slots=True)
class StepContext:
    """What the effective prompt of a step may depend on."""

    model: str
    interactive: bool = True


class SystemPromptSource(Protocol):
    """Rebuilds the effective prompt for every step; memoisation keeps it byte-stable."""

    async def effective(self, step: StepContext) -> SystemPrompt: ...


@dataclass(frozen=True, slots=True)
class PromptSources:
    """Texts that other rooms give to the dynamic sections, as async callables.  ``None`` means: nothing to say."""

    memory: Callable[[], Awaitable[str | None]]
    skills: Callable[[], Awaitable[str | None]]
    agents: Callable[[], Awaitable[str | None]]
    mcp_instructions: Callable[[], Awaitable[str | None]]
    coordinator: Callable[[], Awaitable[str | None]]


@dataclass(frozen=True, slots=True)
class Reminder:
    """A system reminder: appended to the next user message, stored as sent, never edited.

    ``key`` names its kind ("date", "memory", "mode", "changed-file:src/a.py"); ``text`` is without the tags.
    """

    key: str
    text: str


class ReminderSource(Protocol):
    async def collect(self, moment: Moment, *, paths: Sequence[Path] = ()) -> list[Reminder]:
        """Reminders that are due now.  Each is returned once; asking again returns only what is new."""


@dataclass(frozen=True, slots=True)
class Remaining:
    """A conversation that was taken back to an earlier state: what is left of it, and the section values of its prompt.

    ``restored``: the conversation's choices are those of that time too (a compaction was taken back); after a rewind
    they are still those from before it.
    """

    messages: Sequence[Message]
    sections: Mapping[str, str | None]
    restored: bool = False

    def reminders(self) -> list[str]:
        """The texts of all reminders in it, tags included, oldest first."""
        blocks = (b for m in self.messages for b in m.content)
        return [b.text for b in blocks if isinstance(b, TextBlock) and b.origin == "reminder"]


@runtime_checkable
class Rewindable(Protocol):
    """A reminder source that remembers what it told."""

    def rewound(self, remaining: Remaining) -> None:
        """What stands no longer in the conversation counts as not told."""
