"""A change of a file as people read it: line numbers, signs, the changed words marked; never by hue alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Literal

from rich.text import Text

from agentcli.ui.terminal.output.pen import safe

Sign = Literal[" ", "+", "-", "…"]
CONTEXT = 3
MAX_LINES = 2_000
"""Sides longer than this are compared only between their equal head and tail."""
MARKED_LINES = 200
"""In a longer replaced part no words are marked."""
_WORDS = re.compile(r"\w+|\s+|[^\w\s]")
Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class DiffLine:
    """``number`` is the line in the new text, for a removed line in the old one (0: none).  ``marks`` are the changed
    parts of a replaced line, as character spans."""

    sign: Sign
    number: int
    text: str
    marks: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class Diff:
    lines: tuple[DiffLine, ...]
    added: int
    removed: int


@lru_cache(maxsize=8)
def compare(before: str | None, after: str) -> Diff:
    """The difference line by line, with three lines of context.  A new file (``None``) is all additions."""
    old = [] if before is None else before.splitlines()
    new = after.splitlines()
    if before is None:
        return Diff(tuple(DiffLine("+", n, line) for n, line in enumerate(new, 1)), len(new), 0)
    lines: list[DiffLine] = []
    added = removed = 0
    for number, group in enumerate(_groups(old, new)):
        if number:
            lines.append(DiffLine("…", 0, ""))
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                lines += [DiffLine(" ", j + 1, new[j]) for j in range(j1, j2)]
                continue
            lines += _changed(old[i1:i2], new[j1:j2], i1, j1)
            added += j2 - j1
            removed += i2 - i1
    return Diff(tuple(lines), added, removed)


def _groups(old: list[str], new: list[str]) -> Iterator[list[tuple[str, int, int, int, int]]]:
    """``SequenceMatcher`` groups; where both sides are long, the equal head and tail are taken off first."""
    head = 0
    limit = min(len(old), len(new))
    while head < limit and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < limit - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    skip, keep = max(0, head - CONTEXT), max(0, tail - CONTEXT)
    a, b = old[skip : len(old) - keep], new[skip : len(new) - keep]
    if max(len(a), len(b)) > MAX_LINES:
        yield [("replace", head, len(old) - tail, head, len(new) - tail)]
        return
    for group in SequenceMatcher(None, a, b, autojunk=False).get_grouped_opcodes(CONTEXT):
        yield [(tag, i1 + skip, i2 + skip, j1 + skip, j2 + skip) for tag, i1, i2, j1, j2 in group]


def _changed(old: list[str], new: list[str], i: int, j: int) -> list[DiffLine]:
    marks = [_word_marks(a, b) for a, b in zip(old, new, strict=True)] if len(old) == len(new) <= MARKED_LINES else []
    removed = [DiffLine("-", i + n + 1, line, marks[n][0] if marks else ()) for n, line in enumerate(old)]
    added = [DiffLine("+", j + n + 1, line, marks[n][1] if marks else ()) for n, line in enumerate(new)]
    return removed + added


def _word_marks(old: str, new: str) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
    """The parts that differ between two versions of a line; nothing where they have little in common."""
    if len(old) + len(new) > 1_000:
        return (), ()
    a, b = _WORDS.findall(old), _WORDS.findall(new)
    matcher = SequenceMatcher(None, a, b, autojunk=False)
    if matcher.ratio() < 0.4:
        return (), ()
    left: list[Span] = []
    right: list[Span] = []
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        if tag != "equal":
            left.append((len("".join(a[:i1])), len("".join(a[:i2]))))
            right.append((len("".join(b[:j1])), len("".join(b[:j2]))))
    return tuple(s for s in left if s[0] < s[1]), tuple(s for s in right if s[0] < s[1])


def draw(diff: Diff, *, limit: int | None = None, more: str = "… {count} more lines") -> list[Text]:
    """The diff as lines; beyond ``limit`` they are cut and counted."""
    width = len(str(max((line.number for line in diff.lines), default=0)))
    shown = diff.lines if limit is None or len(diff.lines) <= limit + 1 else diff.lines[:limit]
    texts = [_draw_line(line, width) for line in shown]
    if len(shown) < len(diff.lines):
        texts.append(Text(more.format(count=len(diff.lines) - len(shown)), style="dim"))
    return texts


def _draw_line(line: DiffLine, width: int) -> Text:
    if line.sign == "…":
        return Text(" " * (width - 1) + "⋮", style="dim")
    look = {"+": "added", "-": "removed", " ": ""}[line.sign]
    text = Text().append(f"{line.number:>{width}} ", style="dim")
    start = len(text) + 2
    text.append(f"{line.sign} {safe(line.text)}", style=look)
    for begin, end in line.marks:
        text.stylize(f"{look}_word", start + begin, start + end)
    text.expand_tabs(4)
    return text
