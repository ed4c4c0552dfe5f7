"""Two contents of a file, line by line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher

from agentcli.files import decode, looks_binary

CONTEXT = 3
MOST_COMPARED = 3_000
"""Lines.  Where the sides differ over more, they are not matched line by line."""
NO_NEWLINE = "\\ No newline at end of file"


@dataclass(frozen=True, slots=True)
class Lines:
    """``lines`` is a unified diff without its head, ``None`` for what is no text."""

    lines: tuple[str, ...] | None
    added: int | None
    removed: int | None


def compare(before: bytes | None, after: bytes | None) -> Lines:
    """``None`` stands for no file.  Counts are exact where the lines can be matched, else of lines that only one side
    has."""
    if looks_binary(before or b"") or looks_binary(after or b""):
        return Lines(None, None, None)
    old, new = _split(before), _split(after)
    head, tail = _equal_ends(old, new)
    a, b = old[head : len(old) - tail], new[head : len(new) - tail]
    if max(len(a), len(b)) > MOST_COMPARED:
        return _roughly(a, b, head)
    lines: list[str] = []
    added = removed = 0
    skip, keep = max(0, head - CONTEXT), max(0, tail - CONTEXT)
    a, b = old[skip : len(old) - keep], new[skip : len(new) - keep]
    for group in SequenceMatcher(None, a, b, autojunk=False).get_grouped_opcodes(CONTEXT):
        lines.append(_heading(group[0][1] + skip, group[-1][2] + skip, group[0][3] + skip, group[-1][4] + skip))
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                lines += _shown(" ", a[i1:i2])
                continue
            lines += _shown("-", a[i1:i2])
            lines += _shown("+", b[j1:j2])
            removed += i2 - i1
            added += j2 - j1
    return Lines(tuple(lines), added, removed)


def _roughly(a: list[str], b: list[str], head: int) -> Lines:
    removed, added = Counter(a), Counter(b)
    counts = ((added - removed).total(), (removed - added).total())
    lines = (_heading(head, head + len(a), head, head + len(b)), *_shown("-", a), *_shown("+", b))
    return Lines(lines, *counts)


def _split(data: bytes | None) -> list[str]:
    """Lines with their ends; text in an unknown encoding as Latin-1, so that equal bytes stay equal."""
    if not data:
        return []
    found = decode(data)
    text = found.text if found is not None else data.decode("latin-1")
    lines = text.split("\n")
    ended = [line + "\n" for line in lines[:-1]]
    return [*ended, lines[-1]] if lines[-1] else ended


def _equal_ends(old: list[str], new: list[str]) -> tuple[int, int]:
    limit = min(len(old), len(new))
    head = 0
    while head < limit and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < limit - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    return head, tail


def _heading(i1: int, i2: int, j1: int, j2: int) -> str:
    return f"@@ -{_span(i1, i2)} +{_span(j1, j2)} @@"


def _span(start: int, end: int) -> str:
    """As POSIX diff writes it: one line without its count, an empty span behind the line before it."""
    count = end - start
    return f"{start + 1}" if count == 1 else f"{start + (count > 0)},{count}"


def _shown(sign: str, lines: list[str]) -> Iterator[str]:
    for line in lines:
        yield sign + line.removesuffix("\n").removesuffix("\r")
        if not line.endswith("\n"):
            yield NO_NEWLINE
