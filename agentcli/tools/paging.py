"""A page of a long text: as many rows as were asked for and as fit, and honest notes about the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from agentcli.text import estimate_tokens, plural

MAX_TOKENS = 25_000
"""Of one page, estimated."""
DEFAULT_ROWS = 2_000
MAX_ROW = 2_000
"""Characters of a line; what is longer is cut."""


@dataclass(frozen=True, slots=True)
class Page:
    """``rows`` are numbers ``first`` to ``last`` (from 1) of ``total``."""

    rows: tuple[str, ...]
    first: int
    last: int
    total: int
    cut_lines: int
    notes: tuple[str, ...]
    summary: str

    @property
    def shown(self) -> bool:
        return bool(self.rows)

    @property
    def whole(self) -> bool:
        """Whether nothing is missing."""
        return len(self.rows) == self.total and not self.cut_lines


def page_of(rows: Sequence[str], *, offset: int | None, limit: int | None, unit: Literal["line", "cell"]) -> Page:
    """The page from row ``offset`` (from 1; 0 counts as 1), at most ``limit`` rows and ``MAX_TOKENS``."""
    total = len(rows)
    first = max(offset or 1, 1)
    if first > total:
        note = f"[Offset {first} is past the end: there {'is' if total == 1 else 'are'} only {plural(total, unit)}.]"
        return Page((), first, first - 1, total, 0, (note,), f"past the end of {plural(total, unit)}")
    longest = MAX_ROW if unit == "line" else 10 * MAX_ROW
    wanted = rows[first - 1 : first - 1 + (limit or DEFAULT_ROWS)]
    shown: list[str] = []
    cut = 0
    left = MAX_TOKENS
    for row in wanted:
        text = row if len(row) <= longest else f"{row[:longest]}… [{len(row) - longest:,} more characters]"
        left -= estimate_tokens(text) + 2
        if left < 0 and shown:
            break
        cut += len(row) > longest
        shown.append(text)
    last = first + len(shown) - 1
    notes = _notes(first, last, total, cut, unit=unit, full=len(shown) < len(wanted))
    whole = len(shown) == total
    summary = plural(total, unit) if whole else f"{unit}s {first:,}-{last:,} of {total:,}"
    return Page(tuple(shown), first, last, total, cut, notes, summary)


def _notes(first: int, last: int, total: int, cut: int, *, unit: str, full: bool) -> tuple[str, ...]:
    notes: list[str] = []
    if last < total:
        reason = ", as many as fit" if full else ""
        notes.append(f"[{unit.capitalize()}s {first}-{last} of {total}{reason}. Go on with offset={last + 1}.]")
    if cut:
        notes.append(f"[{plural(cut, f'long {unit}')} cut. For the rest use Bash (cut -c) or Grep.]")
    return tuple(notes)
