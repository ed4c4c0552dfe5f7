"""Splits a streamed Markdown text into top-level blocks as soon as each is complete.  Linear in the text's length.

A block is a paragraph, heading, list item, table, quote, rule, fence or indented code.  A long fence is handed out in
pieces while it is being written, so that what still changes stays small.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Kind = Literal["block", "item", "code"]

FENCE_PIECE = 16
"""Lines of a fence that are handed out together while it goes on."""
_FENCE = re.compile(r"^(?P<indent> {0,3})(?P<mark>`{3,}|~{3,})(?P<info>[^`]*)$")
_INNER_FENCE = re.compile(r"^\s*(?:[-*+]|\d{1,9}[.)])?\s*(`{3,}|~{3,})")
_ITEM = re.compile(r"^ {0,3}(?:[-*+]|\d{1,9}[.)])(?:\s|$)")
_HEADING = re.compile(r"^ {0,3}#{1,6}(?:\s|$)")
_RULE = re.compile(r"^ {0,3}(?:(?:\*\s*){3,}|(?:-\s*){3,}|(?:_\s*){3,})$")


@dataclass(frozen=True, slots=True)
class Piece:
    """A finished part of the answer.

    ``text`` is Markdown source, for ``code`` the bare lines of a fence (``language`` is its info string's first word,
    ``first`` marks the fence's first piece).  ``spaced``: a blank line stands in front of it.
    """

    kind: Kind
    text: str
    spaced: bool = True
    language: str = ""
    first: bool = True


class BlockSplitter:
    """``feed`` takes text as it comes and returns the pieces that it completed; ``finish`` returns the rest."""

    def __init__(self) -> None:
        self._partial = ""
        self._lines: list[str] = []
        self._fence = ""
        self._fence_indent = 0
        self._language = ""
        self._fence_first = True
        self._list = False
        self._inner_fence = ""
        self._blank = False
        self._item_after_item = False

    @property
    def tail(self) -> Piece | None:
        """What is not finished yet, drawable as a piece."""
        source = [*self._lines, self._partial] if self._partial else self._lines
        if not source and not (self._fence and self._fence_first):
            return None
        return self._piece(source)

    def feed(self, text: str) -> list[Piece]:
        lines = (self._partial + text).split("\n") if "\n" in text else None
        if lines is None:
            self._partial += text
            return []
        self._partial = lines.pop()
        done: list[Piece] = []
        for line in lines:
            self._line(line, done)
        return done

    def finish(self) -> list[Piece]:
        done: list[Piece] = []
        if self._partial:
            line, self._partial = self._partial, ""
            self._line(line, done)
        if self._fence:
            self._end_fence(done)
        self._commit(done)
        self._list = self._blank = self._item_after_item = False
        self._inner_fence = ""
        return done

    def _line(self, line: str, done: list[Piece]) -> None:
        if self._fence:
            self._fence_line(line, done)
        elif self._list:
            self._list_line(line, done)
        else:
            self._open_line(line, done)

    def _open_line(self, line: str, done: list[Piece]) -> None:
        """A line outside fences and lists."""
        fence = _FENCE.match(line)
        if fence:
            self._commit(done)
            self._fence, self._fence_indent = fence["mark"], len(fence["indent"])
            self._language = (fence["info"].split() or [""])[0]
            self._fence_first = True
        elif not line.strip():
            if not self._indented():
                self._commit(done)
            elif self._lines:
                self._lines.append(line)
        elif _HEADING.match(line):
            self._commit(done)
            self._lines.append(line)
            self._commit(done)
        elif _ITEM.match(line) and not _RULE.match(line):
            self._commit(done)
            self._list, self._blank = True, False
            self._item_after_item = False
            self._start_item(line)
        elif _RULE.match(line) and not self._lines:
            self._lines.append(line)
            self._commit(done)
        else:
            if self._indented() and not line.startswith(("    ", "\t")):
                self._commit(done)
            self._lines.append(line)

    def _indented(self) -> bool:
        return bool(self._lines) and self._lines[0].startswith(("    ", "\t"))

    def _list_line(self, line: str, done: list[Piece]) -> None:
        if self._inner_fence:
            self._lines.append(line)
            if line.strip().startswith(self._inner_fence) and not line.strip().strip(self._inner_fence[0]):
                self._inner_fence = ""
        elif not line.strip():
            self._blank = True
            self._lines.append(line)
        elif _ITEM.match(line) and not _RULE.match(line) and not self._belongs(line):
            self._commit(done)
            self._item_after_item = True
            self._start_item(line)
        elif line.startswith((" ", "\t")) or (not self._blank and not _starts_block(line)):
            self._blank = False
            self._lines.append(line)
            self._note_fence(line)
        else:
            self._commit(done)
            self._list = self._item_after_item = False
            self._open_line(line, done)

    def _start_item(self, line: str) -> None:
        self._blank = False
        self._lines.append(line)
        self._note_fence(line)

    def _belongs(self, line: str) -> bool:
        """Whether an indented item is a child of the item that is being collected."""
        first = next((text for text in self._lines if text.strip()), "")
        return len(line) - len(line.lstrip()) >= len(first) - len(first.lstrip()) + 2

    def _note_fence(self, line: str) -> None:
        inner = _INNER_FENCE.match(line)
        if inner:
            self._inner_fence = inner[1]

    def _fence_line(self, line: str, done: list[Piece]) -> None:
        stripped = line.strip()
        closes = stripped.startswith(self._fence) and not stripped.strip(self._fence[0])
        if closes and len(line) - len(line.lstrip()) < 4:
            self._end_fence(done)
            return
        drop = min(self._fence_indent, len(line) - len(line.lstrip(" ")))
        self._lines.append(line[drop:])
        if len(self._lines) >= FENCE_PIECE:
            done.append(self._piece(self._lines))
            self._lines = []
            self._fence_first = False

    def _end_fence(self, done: list[Piece]) -> None:
        if self._lines or self._fence_first:
            done.append(self._piece(self._lines))
        self._lines = []
        self._fence = self._language = ""

    def _piece(self, lines: list[str]) -> Piece:
        if self._fence:
            return Piece("code", "\n".join(lines), self._fence_first, self._language, self._fence_first)
        text = "\n".join(lines).rstrip() if self._list else "\n".join(lines)
        return Piece("item" if self._list else "block", text, not self._item_after_item)

    def _commit(self, done: list[Piece]) -> None:
        if any(line.strip() for line in self._lines):
            done.append(self._piece(self._lines))
        self._lines = []


def _starts_block(line: str) -> bool:
    return bool(_FENCE.match(line) or _HEADING.match(line) or _RULE.match(line))
