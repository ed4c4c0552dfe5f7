"""A Markdown text as lines: which stand in code fences, and which block-level HTML comments are left out.

Fences of both kinds count at any indentation, in lists and in quotes.  A line that is merely indented is text: in
lists it usually is.  A comment is block-level when it begins a line; one that is never closed is text, so that a
forgotten ``-->`` does not make a file disappear.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_PREFIX = r"((?:[ \t>]|[-*+](?=[ \t])|\d{1,9}[.)](?=[ \t]))*+)"
_OPEN = re.compile(_PREFIX + r"(?:(`{3,})[^`]*|(~{3,}).*)$")
_CLOSE = re.compile(r"[ \t>]*+(`{3,}|~{3,})[ \t]*$")
_COMMENT = re.compile(r" {0,3}<!--")
_END = "-->"


@dataclass(frozen=True, slots=True)
class Line:
    """``number`` counts from 1 in the file; ``code`` for fences and what is in them."""

    number: int
    text: str
    code: bool = False


@dataclass(frozen=True, slots=True)
class Document:
    lines: tuple[Line, ...]
    open_fence: str = ""
    """The fence that is never closed."""
    open_comment: int = 0
    """The line of a comment that is never closed; 0 if there is none."""

    @property
    def text(self) -> str:
        """What is left of the file, an unclosed fence closed, so that it takes in nothing that follows."""
        kept = [line.text for line in self.lines]
        return "\n".join([*kept, self.open_fence] if self.open_fence else kept).strip("\n")


@dataclass(frozen=True, slots=True)
class _Fence:
    mark: str
    quoted: bool

    def closed_by(self, text: str) -> bool:
        found = _CLOSE.match(text)
        return found is not None and found[1][0] == self.mark[0] and len(found[1]) >= len(self.mark)


def read_lines(text: str, *, first: int = 1) -> Document:
    """The lines without block-level comments.  ``first`` is the number of the first line."""
    source = text.split("\n")
    last_end = max((i for i, line in enumerate(source) if _END in line), default=-1)
    lines: list[Line] = []
    fence: _Fence | None = None
    unclosed = i = 0
    while i < len(source):
        line, number = source[i], first + i
        i += 1
        if fence is not None and fence.quoted and not line.lstrip().startswith(">"):
            fence = None  # the quote is over, and what was open in it
        if fence is not None:
            lines.append(Line(number, line, code=True))
            fence = None if fence.closed_by(line) else fence
        elif (opened := _fence(line)) is not None:
            fence = opened
            lines.append(Line(number, line, code=True))
        elif _COMMENT.match(line) and (end := _end_of_comment(source, i - 1, last_end)) is not None:
            i = _leave_out(lines, source, i - 1, end, first=first)
        else:
            unclosed = unclosed or (number if _COMMENT.match(line) else 0)
            lines.append(Line(number, line))
    return Document(tuple(lines), fence.mark if fence else "", unclosed)


def _fence(line: str) -> _Fence | None:
    found = _OPEN.match(line)
    return _Fence(found[2] or found[3], ">" in found[1]) if found else None


def _end_of_comment(source: Sequence[str], start: int, last_end: int) -> int | None:
    """Index of the line that closes the comment which begins in line ``start``."""
    if _closing(source[start], begins=True) >= 0:
        return start
    if last_end <= start:
        return None
    return next(i for i in range(start + 1, last_end + 1) if _END in source[i])


def _closing(line: str, *, begins: bool) -> int:
    """Where the comment's end stands in the line, -1 if nowhere.  ``<!-->`` is a whole comment."""
    return line.find(_END, line.index("<!--") + 2 if begins else 0)


def _leave_out(lines: list[Line], source: Sequence[str], start: int, end: int, *, first: int) -> int:
    """Goes on behind the comment; of two blank lines that meet there one is enough."""
    rest = source[end][_closing(source[end], begins=start == end) + len(_END) :]
    following = end + 1
    if rest.strip():
        lines.append(Line(first + end, rest))
    elif following < len(source) and not source[following].strip() and (not lines or not lines[-1].text.strip()):
        following += 1
    return following
