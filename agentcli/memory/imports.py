"""``@path`` in memory files: where one may stand, and which spellings of a path are understood.

A path ends at white space that has no backslash in front; what follows the name in prose (punctuation, brackets, a
possessive) does not belong to it, unless a file is really called so.  Nothing in code spans and fences is an import,
nor is an ``@`` behind a letter, digit or one of ``. + - % / \\`` (e-mail addresses, URLs) or behind a backslash.
"""

from __future__ import annotations

import re
import sys
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from agentcli.memory.comments import Line

LONGEST = 1024
"""Characters of a path that are looked at."""
MOST = 1000
"""Mentions of one file that are looked at."""
CANDIDATES = 24
"""So many shorter readings of one path are tried."""
_MENTION = re.compile(r"(?<![A-Za-z0-9_.+%@/\\-])@(?=[^\s@`])")
_TICKS = re.compile(r"`+")
_ENDS = frozenset(".,:;!?*_'\"()[]<>{}|#`。，、；：！？（）「」『』【】《》…’”")
_BLOCK = re.compile(r"\s*(?:#{1,6}(?:\s|$)|[-*+](?:\s|$)|\d{1,9}[.)](?:\s|$)|>|\||(?:=+|-+|\*{3,}|_{3,})\s*$)")
_QUOTES = {'"': '"', "'": "'", "<": ">", "“": "”", "‘": "’"}


@dataclass(frozen=True, slots=True)
class Reading:
    """One way to read a mention: the path, and where it ends in the line."""

    path: str
    end: int


@dataclass(frozen=True, slots=True)
class Mention:
    """An ``@`` that may be an import.  ``start`` is its place in the line; ``readings`` go from the longest to the
    shortest: the first that names a file holds.  ``rest`` is the line behind the ``@``."""

    line: int
    start: int
    readings: tuple[Reading, ...]
    rest: str

    @property
    def quoted(self) -> str:
        """The text between quotes or angle brackets right behind the ``@``; empty where there are none."""
        closing = _QUOTES.get(self.rest[:1])
        end = self.rest.find(closing, 1) if closing else -1
        return self.rest[1:end] if end > 0 else ""

    def longer(self, limit: int = 12) -> Iterator[str]:
        """Readings over unescaped blanks: what was meant if nobody had told the writer about backslashes."""
        blanks = [m.start() for m in re.finditer(r"\s", self.rest)][1 : limit + 1]
        for end in [*blanks, len(self.rest)]:
            text = self.rest[:end].rstrip()
            yield text
            if text and text[-1] in _ENDS:
                yield text.rstrip("".join(_ENDS))


def find_mentions(lines: Sequence[Line]) -> list[Mention]:
    """The mentions outside code, in order, at most ``MOST``.  They may overlap: ``(@a,@b)`` can be one name or two."""
    found: list[Mention] = []
    for paragraph in _paragraphs(lines) if any("@" in line.text for line in lines) else ():
        spans = code_spans("\n".join(line.text for line in paragraph))
        offset = 0
        for line in paragraph:
            found += [m for m in _in_line(line) if not _inside(spans, offset + m.start)]
            offset += len(line.text) + 1
        if len(found) >= MOST:
            return found[:MOST]
    return found


def code_spans(text: str) -> list[tuple[int, int]]:
    """(start, end) of the code spans of one paragraph: a run of backticks up to the next run of the same length."""
    runs = [(m.start(), m.end()) for m in _TICKS.finditer(text)]
    by_length: dict[int, list[int]] = defaultdict(list)
    for start, end in runs:
        by_length[end - start].append(start)
    spans: list[tuple[int, int]] = []
    after = 0
    for begin, end in runs:
        if begin < after:
            continue
        start = begin + _escaped(text, begin)
        length = end - start
        same = by_length[length]
        following = bisect_right(same, start)
        if length and following < len(same):
            after = same[following] + length
            spans.append((start, after))
    return spans


def _escaped(text: str, position: int) -> bool:
    backslashes = 0
    while backslashes < position and text[position - backslashes - 1] == "\\":
        backslashes += 1
    return backslashes % 2 == 1


def _inside(spans: Sequence[tuple[int, int]], position: int) -> bool:
    index = bisect_right(spans, (position, sys.maxsize)) - 1
    return index >= 0 and spans[index][0] <= position < spans[index][1]


def _paragraphs(lines: Iterable[Line]) -> Iterator[list[Line]]:
    """Runs of lines over which a code span can reach: blank lines, code, headings, list items and quotes end them."""
    current: list[Line] = []
    for line in lines:
        apart = line.code or not line.text.strip()
        if current and (apart or _BLOCK.match(line.text)):
            yield current
            current = []
        if not apart:
            current.append(line)
    if current:
        yield current


def _in_line(line: Line) -> Iterator[Mention]:
    for match in islice(_MENTION.finditer(line.text), MOST):
        start = match.start()
        rest = line.text[start + 1 : start + 1 + LONGEST]
        yield Mention(line.number, start, tuple(_readings(line.text, start + 1)), rest)


def _readings(text: str, begin: int) -> Iterator[Reading]:
    """The whole token, then what is left without the ends of prose, longest first."""
    characters: list[tuple[str, int]] = []
    i = begin
    while i < len(text) and len(characters) < LONGEST and not text[i].isspace():
        if text[i] == "\\" and i + 1 < len(text) and (text[i + 1] in " \t" or _punctuation(text[i + 1])):
            i += 1
        characters.append((text[i], i + 1))
        i += 1
    if not characters:
        return
    token = "".join(c for c, _ in characters)
    yield Reading(token, characters[-1][1])
    tried = 0
    for cut in range(len(token) - 1, 0, -1):
        if tried == CANDIDATES:
            return
        if _may_end(token, cut):
            tried += 1
            yield Reading(token[:cut], characters[cut - 1][1])


def _may_end(token: str, cut: int) -> bool:
    """Whether a name may end before ``token[cut]``.  A dot, colon or ``_`` inside a word belongs to the word."""
    character = token[cut]
    if character in ".:_!?":
        return all(c in _ENDS for c in token[cut:])
    return character in _ENDS or (not character.isascii() and token[cut - 1].isascii())


def _punctuation(character: str) -> bool:
    return character.isascii() and character.isprintable() and not character.isalnum() and character not in "./\\~_-"


def escaped_path(path: str) -> str:
    """The path as an import spells it."""
    return re.sub(r"([ \t])", r"\\\1", path)
