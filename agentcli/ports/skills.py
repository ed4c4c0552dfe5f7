"""Between the ``Skill`` tool, the extensions and whoever runs commands for them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal, Protocol


@dataclass(frozen=True, slots=True)
class InvokedSkill:
    """A skill or custom command with everything put in: what the model gets.

    ``allowed_tools`` are permission rules that hold until the user's next message, ``disallowed_tools`` tools that must
    not be used until then; ``model`` and ``effort`` are for the rest of the turn that it starts or is invoked in
    (``None``: unchanged).  With ``fork`` the text is the task of a subagent of kind ``agent``,
    with ``background`` of one that nobody waits for.  ``notes`` are for the user.
    """

    name: str
    text: str
    allowed_tools: tuple[str, ...] = ()
    disallowed_tools: tuple[str, ...] = ()
    model: str | None = None
    effort: str | None = None
    fork: bool = False
    agent: str = ""
    background: bool = False
    notes: tuple[str, ...] = ()


class Skills(Protocol):
    """``ToolContext.services["skills"]``."""

    async def invoke(self, name: str, arguments: str = "", *, by: Literal["model", "user"] = "model") -> InvokedSkill:
        """Reads and expands the skill.  ``UserError`` (what is wrong, and what there is) if it can't be used."""


@dataclass(frozen=True, slots=True)
class LineOutcome:
    """What came of a command inside a skill's text.  ``refused`` says why it was not run; empty when it was."""

    output: str = ""
    exit_code: int = 0
    refused: str = ""


RunLine = Callable[[str, tuple[str, ...]], Awaitable[LineOutcome]]
"""``(command, allowed rules)`` → outcome.  Runs the line if the permission rules allow it; it never asks."""
