"""The core of Edit: where a text occurs in a file, and the file's text with those places replaced.

Everything outside the places stays as it is, character for character, whatever line endings the file mixes; inside a
place, lines that the replacement repeats keep theirs.
"""

from __future__ import annotations

import difflib
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from agentcli.files import TextFormat, to_newlines
from agentcli.files.textual import Newline


@dataclass(frozen=True, slots=True)
class Places:
    """Spans of the text (from, to), in order; they may overlap, as those of ``aa`` in ``aaa``.

    ``literal``: line endings were given as they stand.
    """

    spans: tuple[tuple[int, int], ...]
    literal: bool = False


def find(text: str, form: TextFormat, wanted: str) -> Places:
    """Where ``wanted`` occurs.  A ``\\n`` in it fits any line ending, unless it spells carriage returns itself."""
    if "\r" in wanted:
        spans = _occurrences(text, wanted)
        if spans:
            return Places(spans, literal=True)
        wanted = wanted.replace("\r\n", "\n")
    if form.newline == "\r":
        return Places(_occurrences(text.replace("\r", "\n"), wanted))
    if "\r\n" not in text:
        return Places(_occurrences(text, wanted))
    plain = text.replace("\r\n", "\n")
    back = _Offsets(text)
    return Places(tuple((back.of(a), back.of(b)) for a, b in _occurrences(plain, wanted)))


class _Offsets:
    """From a place in the text with ``\\n`` to the place in the text with ``\\r\\n``."""

    def __init__(self, text: str) -> None:
        self._breaks: list[int] = []
        """Place in the plain text of each line break that has a carriage return in front."""
        place = text.find("\r\n")
        while place >= 0:
            self._breaks.append(place - len(self._breaks))
            place = text.find("\r\n", place + 2)

    def of(self, place: int) -> int:
        return place + bisect_right(self._breaks, place - 1)


def _occurrences(text: str, wanted: str) -> tuple[tuple[int, int], ...]:
    spans: list[tuple[int, int]] = []
    place = text.find(wanted)
    while place >= 0:
        spans.append((place, place + len(wanted)))
        place = text.find(wanted, place + 1)
    return tuple(spans)


def replace(text: str, form: TextFormat, places: Places, new: str) -> str:
    """The text with ``new``, literally, in every place; of places that overlap the first counts."""
    parts: list[str] = []
    end = 0
    for start, stop in apart(places):
        parts.append(text[end:start])
        parts.append(new if places.literal else _fitted(text[start:stop], form, new))
        end = stop
    return "".join([*parts, text[end:]])


def apart(places: Places) -> list[tuple[int, int]]:
    """The spans without those that begin inside the one before."""
    spans: list[tuple[int, int]] = []
    for start, stop in places.spans:
        if not spans or start >= spans[-1][1]:
            spans.append((start, stop))
    return spans


def _fitted(old: str, form: TextFormat, new: str) -> str:
    """``new`` with the line endings of what it replaces; in a mixed file those that ``new`` spells out are taken."""
    if not form.mixed:
        return to_newlines(new, form.newline)
    if "\r\n" in new:
        return new
    before = _lines(old)
    after = _lines(new)
    matcher = difflib.SequenceMatcher(
        None, [b.rstrip("\r\n") for b in before], [a.rstrip("\r\n") for a in after], False
    )
    newline = _prevailing(before) or form.newline
    result: list[str] = []
    # A line that is written anew takes the ending of the one in whose place it stands.
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag == "equal":
            kept = zip(before[a:b], after[c:d], strict=True)
            result.extend(x if _ends(x) == _ends(y) else to_newlines(y, newline) for x, y in kept)
        else:
            places = [_ending(x) for x in before[a:b]]
            endings = [*places, *[newline] * (d - c)]
            result.extend(to_newlines(y, e or newline) for y, e in zip(after[c:d], endings, strict=False))
    return "".join(result)


def _lines(text: str) -> list[str]:
    pieces = text.split("\n")
    lines = [piece + "\n" for piece in pieces[:-1]]
    return [*lines, pieces[-1]] if pieces[-1] else lines


def _ending(line: str) -> Newline | None:
    return "\r\n" if line.endswith("\r\n") else "\n" if _ends(line) else None


def _ends(line: str) -> bool:
    return line.endswith("\n")


def _prevailing(lines: Sequence[str]) -> Newline | None:
    """The line ending of most of these lines; ``None`` if none has any."""
    crlf = sum(line.endswith("\r\n") for line in lines)
    lf = sum(_ends(line) for line in lines) - crlf
    if not crlf and not lf:
        return None
    return "\r\n" if crlf > lf else "\n"


def line_of(text: str, form: TextFormat, place: int) -> int:
    """Number (from 1) of the line that holds the character at ``place``."""
    return text.count("\r" if form.newline == "\r" else "\n", 0, place) + 1
