"""The static region: words that are the same for every user, session, system, directory, tool set and day."""

from __future__ import annotations

from pathlib import Path

from agentcli.conversation import PromptPart
from agentcli.prompt.words import read_words

STATIC_SECTIONS = (
    "intro",
    "system",
    "doing_tasks",
    "actions",
    "using_your_tools",
    "tone_and_style",
    "output_efficiency",
)
CODING_SECTIONS = frozenset({"doing_tasks"})
"""Left out where an output style replaces the coding instructions: the only choice in front of the boundary."""


def static_part(name: str) -> PromptPart:
    return PromptPart(name, "static", read_words(Path(__file__).with_name(f"{name}.md")))


def static_region(*, coding_instructions: bool = True) -> list[PromptPart]:
    """One of two lists, ever: the standard region, and the one without coding instructions."""
    return [static_part(n) for n in STATIC_SECTIONS if coding_instructions or n not in CODING_SECTIONS]
