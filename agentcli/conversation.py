"""State of one conversation that decides which bytes are sent: section values, latches, written cache entries.

``ConversationCache`` is a value that the session state holds, so that one call
(``agentcli.prompt.section.clear_system_prompt_sections``) resets everything where a conversation begins anew.
``PromptPart``, ``SystemPrompt`` and ``SystemPromptBlock`` are the prompt's values on their way from the prompt room to
the model room.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

PartKind = Literal[
    "attribution",
    "identity",
    "static",
    "boundary",
    "dynamic",
    "custom",
    "agent",
    "coordinator",
    "override",
    "append",
]
Policy = Literal["static", "memoised", "volatile"]
PromptLevel = Literal["override", "coordinator", "agent", "custom", "default", "simple", "proactive"]
CacheScope = Literal["global", "org"]
Layout = Literal["split", "documented"]


@dataclass(frozen=True, slots=True)
class PromptPart:
    """One named part of a system prompt.  Only ``kind`` says what it is; nothing is recognised by its text."""

    name: str
    kind: PartKind
    text: str
    policy: Policy = "static"
    reason: str = ""
    """Why a volatile part is volatile; empty for the others."""


@dataclass(frozen=True, slots=True)
class SystemPrompt:
    """An effective system prompt.  A type of its own, so that a plain list can't be passed where one is due."""

    parts: tuple[PromptPart, ...]
    level: PromptLevel
    append: bool = False
    layout: Layout = "split"
    global_scope: bool = False
    """Whether the static region may be sent with the API's global cache scope."""


@dataclass(frozen=True, slots=True)
class SystemPromptBlock:
    """One text block of the ``system`` field.  ``scope`` is ``None`` where the block has no breakpoint of its own."""

    text: str
    scope: CacheScope | None
    parts: tuple[str, ...] = ()
    """Names of the parts whose texts, joined by a blank line, are this block."""
    static_end: bool = False
    """The last block of what all sessions share (breakpoint S)."""


@dataclass(slots=True)
class ConversationCache:
    """What is remembered between the requests of one conversation.

    ``sections`` holds every computed section value (``None`` means: not in the prompt), ``absent`` the sections whose
    compute failed and what it said, ``beta_headers`` the headers that were sent once and so go on being sent, in
    order, ``choices`` decisions that are made once (ttl, layout, tool deferral), ``written`` digests of the prefixes
    that the API is known to hold an entry for.  ``generation`` grows with every reset: a value that was being computed
    before a reset is not written after it.
    """

    sections: dict[str, str | None] = field(default_factory=dict)
    absent: dict[str, str] = field(default_factory=dict)
    beta_headers: list[str] = field(default_factory=list)
    choices: dict[str, Any] = field(default_factory=dict)
    written: list[str] = field(default_factory=list)
    computing: dict[str, asyncio.Future[str | None]] = field(default_factory=dict)
    generation: int = 0

    def latch(self, choice: str, value: Any) -> Any:
        """Returns the decision that was made first under this name; makes it ``value`` when there is none yet."""
        return self.choices.setdefault(choice, value)

    def latch_betas(self, headers: Sequence[str]) -> tuple[str, ...]:
        """Adds headers to those that this conversation sends, and returns all of them in the order they came."""
        for header in headers:
            if header not in self.beta_headers:
                self.beta_headers.append(header)
        return tuple(self.beta_headers)

    def put_back(
        self,
        *,
        sections: Mapping[str, str | None],
        absent: Mapping[str, str],
        choices: Mapping[str, Any],
        beta_headers: Sequence[str],
        written: Sequence[str],
    ) -> None:
        """What it was at an earlier time, in place of what it is: the conversation goes back to that time."""
        self.reset()
        self.sections.update(sections)
        self.absent.update(absent)
        self.choices.update(choices)
        self.beta_headers.extend(beta_headers)
        self.written.extend(written)

    def reset(self) -> None:
        """Empties everything.  Only ``clear_system_prompt_sections`` and ``put_back`` call this."""
        self.generation += 1
        self.sections.clear()
        self.absent.clear()
        self.beta_headers.clear()
        self.choices.clear()
        self.written.clear()
        self.computing.clear()
