"""Who wins: override, coordinator, agent, custom, default.  One chain; a level replaces, it never merges."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from agentcli.conversation import Layout, PromptLevel, PromptPart, SystemPrompt
from agentcli.text import clean

LevelText: TypeAlias = Callable[[], Awaitable[str | None]]
DefaultPrompt: TypeAlias = Callable[[], Awaitable[tuple[PromptLevel, list[PromptPart]]]]
"""The default prompt's level (``default``, ``simple`` or ``proactive``) and parts."""


Replacing = Literal["override", "coordinator", "agent", "custom"]


@dataclass(frozen=True, slots=True)
class Winner:
    """The level that replaces the default prompt, and its text."""

    level: Replacing
    text: str

    def keeps_default(self, *, proactive: bool) -> bool:
        """In proactive mode an agent's text is added to the default prompt instead of replacing it."""
        return self.level == "agent" and proactive


async def nothing() -> str | None:
    """A level that is not given."""
    return None


def given(text: str | None) -> LevelText:
    """A fixed text as a level."""

    async def level() -> str | None:
        return text

    return level


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptLevels:
    """Texts of the levels as callables, so that ``prompt/`` imports no mode; a level that lost is not called.

    Each must give the same text for a whole conversation.  A text without any visible character is "not given": the
    API takes no empty block.
    """

    override: LevelText = nothing
    coordinator: LevelText = nothing
    agent: LevelText = nothing
    custom: LevelText = nothing
    append: LevelText = nothing

    async def winner(self) -> Winner | None:
        """The precedence, whole; ``None``: the default prompt."""
        return (
            await _won("override", self.override)
            or await _won("coordinator", self.coordinator)
            or await _won("agent", self.agent)
            or await _won("custom", self.custom)
        )


async def build_effective_system_prompt(
    levels: PromptLevels,
    default: DefaultPrompt,
    *,
    proactive: bool = False,
    layout: Layout = "split",
    global_scope: bool = False,
) -> SystemPrompt:
    """The prompt that is sent: the winner's text or the default prompt, then what is appended."""
    winner = await levels.winner()
    if winner is None:
        level, parts = await default()
    elif winner.keeps_default(proactive=proactive):
        level, parts = winner.level, [*(await default())[1], _custom_agent(winner.text)]
    else:
        level, parts = winner.level, [PromptPart(winner.level, winner.level, winner.text)]
    append = None if level == "override" else await _text(levels.append)
    tail = [] if append is None else [PromptPart("append", "append", append)]
    return SystemPrompt((*parts, *tail), level, append is not None, layout, global_scope)


async def _won(level: Replacing, text: LevelText) -> Winner | None:
    found = await _text(text)
    return None if found is None else Winner(level, found)


async def _text(level: LevelText) -> str | None:
    found = await level()
    return clean(found) if found is not None and found.strip() else None


def _custom_agent(text: str) -> PromptPart:
    return PromptPart("agent", "agent", f"# Custom Agent Instructions\n\n{text}")
