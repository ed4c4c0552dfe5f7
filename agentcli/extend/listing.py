"""The lists of skills and agents that stand in the prompt, within a budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

BUDGET = 8_000
"""Characters of a list where the settings say nothing."""
DESCRIPTION = 1_536
"""Characters of one description."""
CHARACTERS_PER_TOKEN = 4


@dataclass(frozen=True, slots=True)
class Item:
    """``text`` is one line; empty for a name alone."""

    name: str
    text: str

    def line(self, limit: int) -> str:
        text = self.text if len(self.text) <= limit else self.text[: max(limit - 1, 0)].rstrip() + "…"
        return f"- {self.name}: {text}" if text and limit > 0 else f"- {self.name}"


def budget(window: int | None, fraction: object) -> int:
    """Characters for the list: a fraction of the window (tokens), else ``BUDGET``."""
    usable = isinstance(fraction, int | float) and not isinstance(fraction, bool) and 0 < fraction <= 1
    if not usable or window is None:
        return BUDGET
    return int(window * fraction * CHARACTERS_PER_TOKEN)  # type: ignore[operator]  # a number, as tested


def listing(items: Sequence[Item], *, characters: int = BUDGET, longest: int = DESCRIPTION) -> str:
    """One line each, in the order given.  Where all is too long, the longest descriptions are cut to a common length,
    then left out; at last names are left out, and their number is told."""
    lines = [item.line(longest) for item in items]
    if _size(lines) <= characters:
        return "\n".join(lines)
    low, high = 0, longest
    while low < high:
        middle = (low + high + 1) // 2
        if _size([item.line(middle) for item in items]) <= characters:
            low = middle
        else:
            high = middle - 1
    lines = [item.line(low if low >= SHORTEST else 0) for item in items]
    kept: list[str] = []
    left = characters - len(f"- and {len(items)} more\n")
    for line in lines:
        left -= len(line) + 1
        if left < 0 and _size(lines) > characters:
            return "\n".join([*kept, f"- and {len(items) - len(kept)} more"])
        kept.append(line)
    return "\n".join(kept)


SHORTEST = 20
"""A shorter piece of a description says nothing."""


def _size(lines: Sequence[str]) -> int:
    return sum(len(line) + 1 for line in lines)
