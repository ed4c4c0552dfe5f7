"""What a line evaluates as numbers.  bash and zsh take the text that they find there for an expression, the values of
its variables too, and an expression may hold a subscript that runs a command: ``x='PATH[$(id)]'; ((x))`` runs ``id``.
So a value that comes from outside the line (a file, a command, the environment) is only harmless where it is a number
for sure.

Which constructs evaluate was tried with bash 5.2 and zsh 5.9.  ``[ "$x" -eq 1 ]`` does in neither of them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agentcli.shell.tree import SUBSTITUTIONS
from agentcli.shell.values import Piece, Word, names
from agentcli.shell.words import source_of

if TYPE_CHECKING:
    from tree_sitter import Node

UNKNOWN = Word((Piece("hole", "…"),))
"""A value that a builtin reads or computes."""
NUMERIC_TESTS = ("-eq", "-ne", "-lt", "-le", "-gt", "-ge")
_INTEGERS = names(
    "RANDOM SRANDOM SECONDS OPTIND HISTSIZE SAVEHIST COLUMNS LINES SHLVL UID EUID GID EGID ERRNO FUNCNEST MAILCHECK "
    "KEYTIMEOUT TMOUT LISTMAX LOGCHECK BAUD DIRSTACKSIZE"
)
"""What is given to these is evaluated."""
_NUMBERS = _INTEGERS | names("LINENO PPID")
"""The shells themselves give these a number."""
_IDENTIFIER = re.compile(r"(?<!\w)[A-Za-z_]\w*", re.ASCII)
_LITERAL_NUMBER = re.compile(r"(?<!\w)(?:0[xX][0-9a-fA-F]+|\d+#\w+)", re.ASCII)
_SET = re.compile(r"(?<!\w)([A-Za-z_]\w*)\s*=(?!=)", re.ASCII)
_POSITIONAL = re.compile(r"\$\{?[0-9@*]")
_EXECUTES = re.compile(r"[`\[]|\$\(")
_COUNTS = re.compile(
    r"\$[#?$!]|\$\{#[^$`]*\}|\$\(\(.*\)\)|\$\[.*\]|\{-?\d+\.\.-?\d+(?:\.\.-?\d+)?\}|\((?:\s|\d)*\)"
    r"|\$\(\s*(?:nproc|date \+['\"]?%[sNYmdHMSju]['\"]?|seq(?: -?\d+){1,3}"
    r"|wc -[lcmw] <\s*(?:[\w./~-]+|\"?\$\w+\"?))\s*\)",
    re.DOTALL | re.ASCII,
)
"""Expansions that are numbers, whatever they are about."""
_DEFAULT = re.compile(r"\$\{(\w+):?[-=+]([^$`\[\]{}]*)\}", re.ASCII)
_PART = re.compile(r"\$\{([A-Za-z_]\w*)[%#:,^][^$`\[]*\}", re.ASCII)


class Arithmetic:
    """Collects what a line evaluates and which values it gives; ``judge`` says what is wrong with it."""

    def __init__(self) -> None:
        self._names: set[str] = set()
        self._soft: set[str] = set()
        self._values: dict[str, list[Word]] = {}
        self._unknown = ""

    def given(self, name: str, value: Word) -> None:
        """The line gives a variable this value, at some time."""
        self._values.setdefault(name, []).append(value)

    def integer(self, name: str) -> None:
        """The line declares a variable that evaluates what it is given (``declare -i``, ``declare -n``)."""
        self._soft.add(name)

    def expression(self, node: Node) -> None:
        """A part of the tree that is evaluated as it stands."""
        kept = bytearray(node.text or b"")
        stack = [node]
        while stack:
            here = stack.pop()
            if here.type in SUBSTITUTIONS:
                self._hole(source_of(here))
                start = here.start_byte - node.start_byte
                kept[start : start + len(here.text or b"")] = b" " * len(here.text or b"")
            else:
                stack.extend(here.children)
        self.text(kept.decode("utf-8", "replace"))

    def text(self, text: str) -> None:
        """An expression without substitutions."""
        if found := _POSITIONAL.search(text):
            self._doubt(found[0])
        text = _LITERAL_NUMBER.sub("0", text)
        for name in _SET.findall(text):
            self.given(name, Word((Piece("text", "0"),)))
        self._names |= set(_IDENTIFIER.findall(text))

    def word(self, item: Word) -> None:
        """A word of which the value is evaluated."""
        self._names |= self._inside(item)

    def subscript(self, text: str) -> None:
        """What stands between brackets behind ``$name``: for zsh a subscript, elsewhere just text."""
        if re.search(r"\$\(|`", text):
            self._doubt(text)
        self._soft |= set(_IDENTIFIER.findall(text)) - set(re.findall(r"\$\{?(\w+)", text))
        self._names |= set(re.findall(r"\$\{?([A-Za-z_]\w*)", text))

    def judge(self) -> tuple[list[str], str]:
        """Problems (a command in a value that is evaluated), and a caution where the value isn't known; empty
        if there is none."""
        problems: list[str] = []
        todo = [*self._names, *self._soft, *_INTEGERS]
        demanded = set(self._names)
        seen: set[str] = set()
        while todo:
            name = todo.pop()
            if name in seen:
                continue
            seen.add(name)
            if name not in self._values and name in demanded and name not in _NUMBERS:
                self._doubt(f"${name}")
            for value in self._values.get(name, ()):
                before = self._unknown
                inside = self._inside(value)
                if self._unknown and not before:
                    self._unknown = f"${name}"
                if any(p.kind in {"text", "glob"} and _EXECUTES.search(p.text) for p in value.pieces):
                    problems.append(f"arithmetic with ${name}, whose value holds a command")
                demanded |= inside
                todo += inside
                seen -= inside - set(self._values)
        caution = f"arithmetic with {self._unknown}, whose value is only known when it runs" if self._unknown else ""
        return problems, caution

    def _inside(self, item: Word) -> set[str]:
        """The names that a value mentions or takes its text from."""
        found: set[str] = set()
        for piece in item.pieces:
            if piece.kind == "variable":
                found.add(piece.text)
            elif piece.kind == "hole":
                found |= self._hole(piece.text)
            elif piece.kind == "glob":
                self._doubt(item.text)
            else:
                found |= set(_IDENTIFIER.findall(_LITERAL_NUMBER.sub("0", piece.text)))
        return found

    def _hole(self, text: str) -> set[str]:
        """An expansion: the names it takes its text from; a doubt where it may be anything."""
        if _COUNTS.fullmatch(text):
            return set()
        if with_default := _DEFAULT.fullmatch(text):
            return {with_default[1], *_IDENTIFIER.findall(with_default[2])}
        if part := _PART.fullmatch(text):
            return {part[1]}
        self._doubt(text)
        return set()

    def _doubt(self, what: str) -> None:
        self._unknown = self._unknown or what
