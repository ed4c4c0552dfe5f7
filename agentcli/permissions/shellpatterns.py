"""Command patterns of shell rules against commands of which not every character is known.

A pattern is text with ``*`` anywhere (it spans spaces); ``:*`` or `` *`` at the end needs a word boundary and also
matches the bare command.  A command is its words with one space between them; where a value is only known when it
runs there is a hole.  A rule *matches* when it does so whatever the holes hold, and *may match* when it does for some
values.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile
from typing import TypeAlias

from agentcli.shell import SimpleCommand, Word

STAR = "*"
WORD_HOLE = "w"
HOLE = "h"


@dataclass(frozen=True, slots=True)
class Mark:
    """Something that stands for characters: ``*`` of a pattern, a hole inside one word, a hole of any words."""

    kind: str


Token: TypeAlias = "str | Mark"
_STAR = Mark(STAR)
_WORD_HOLE = Mark(WORD_HOLE)
_HOLE = Mark(HOLE)


@dataclass(frozen=True, slots=True)
class Pattern:
    """A compiled specifier.  ``prefix`` is the literal text in front of the first ``*``; ``exact``: there is none."""

    alternatives: tuple[tuple[Token, ...], ...]
    prefix: str
    exact: bool
    expression: re.Pattern[str]
    """The same for texts without holes."""


@dataclass(frozen=True, slots=True)
class Form:
    """A command as characters and holes.  ``lead`` are the characters in front of the first hole; ``whole``: there is
    none."""

    tokens: tuple[Token, ...]
    lead: str
    whole: bool


def form(tokens: tuple[Token, ...]) -> Form:
    lead = "".join(takewhile(lambda t: isinstance(t, str), tokens))  # type: ignore[arg-type]
    return Form(tokens, lead, len(lead) == len(tokens))


@lru_cache(maxsize=2048)
def compile_pattern(text: str) -> Pattern:
    """``npm run:*``, ``npm run *``, ``git * main``, ``ls``.  ``\\*`` is a literal star."""
    boundary = text.endswith((":*", " *")) and not text.endswith(("\\:*", "\\*"))
    body = text[:-2] if boundary else text
    tokens = tuple(_tokens(body))
    if not boundary:
        return _pattern((tokens,), exact=_STAR not in tokens)
    if not tokens:
        return _pattern(((_STAR,),), exact=False)
    return _pattern((tokens, (*tokens, " ", _STAR)), exact=False)


def _pattern(alternatives: tuple[tuple[Token, ...], ...], *, exact: bool) -> Pattern:
    texts = ["".join(re.escape(t) if isinstance(t, str) else ".*" for t in a) for a in alternatives]
    expression = re.compile("|".join(f"(?:{t})" for t in texts), re.DOTALL)
    return Pattern(alternatives, form(alternatives[0]).lead, exact, expression)


def _tokens(text: str) -> Iterator[Token]:
    position = 0
    while position < len(text):
        character = text[position]
        if character == "\\" and text[position + 1 : position + 2] in {"*", "\\"}:
            yield text[position + 1]
            position += 1
        elif character == "*":
            yield _STAR
        else:
            yield character
        position += 1


def command_form(words: tuple[Word, ...], *, vanishing: bool = False) -> Form:
    """The words as characters and holes.  With ``vanishing`` the space in front of a word that may vanish belongs to
    its hole."""
    found: list[Token] = []
    for index, word in enumerate(words):
        tokens = list(_word_tokens(word))
        if index and not (vanishing and tokens == [_HOLE]):
            found.append(" ")
        found += tokens
    return form(tuple(found))


def _word_tokens(word: Word) -> Iterator[Token]:
    for piece in word.pieces:
        if piece.kind == "text":
            yield from piece.text
        elif piece.kind == "glob":
            yield _HOLE
        else:
            yield _WORD_HOLE if piece.quoted else _HOLE


def text_form(text: str) -> Form:
    return Form(tuple(text), text, True)


def matches(pattern: Pattern, command: Form) -> bool:
    """Whether the pattern matches whatever the holes hold."""
    # Expressions with many stars take too long on long texts.
    if command.whole and (len(command.lead) < 500 or pattern.expression.pattern.count(".*") <= 2):
        return pattern.expression.fullmatch(command.lead) is not None
    return _compatible(pattern, command) and any(
        _walk(a, command.tokens, open_holes=False) for a in pattern.alternatives
    )


def may_match(pattern: Pattern, command: Form) -> bool:
    """Whether there are values of the holes with which the pattern matches."""
    if command.whole:
        return matches(pattern, command)
    return _compatible(pattern, command) and any(
        _walk(a, command.tokens, open_holes=True) for a in pattern.alternatives
    )


def _compatible(pattern: Pattern, command: Form) -> bool:
    """Whether the beginnings, as far as both are literal, agree: most rules are out here."""
    length = min(len(pattern.prefix), len(command.lead))
    return pattern.prefix[:length] == command.lead[:length]


def _walk(pattern: tuple[Token, ...], command: tuple[Token, ...], *, open_holes: bool) -> bool:
    """Dynamic programming over (position in the pattern, position in the command)."""
    end = len(command)
    # A row holds, for every position of the command, whether the rest of the pattern matches the rest of the command.
    after = [False] * (end + 1)
    after[end] = True
    _skip_holes(after, command, None, after, open_holes=open_holes)
    for token in reversed(pattern):
        row = [False] * (end + 1)
        for position in range(end, -1, -1):
            if isinstance(token, Mark):
                row[position] = after[position] or (position < end and row[position + 1])
            elif position < end and command[position] == token:
                row[position] = after[position + 1]
        _skip_holes(row, command, token, after, open_holes=open_holes)
        after = row
    return after[0]


def _skip_holes(
    row: list[bool], command: tuple[Token, ...], token: Token | None, after: list[bool], *, open_holes: bool
) -> None:
    """Lets every hole be empty, or stand for the pattern's next character (and go on)."""
    if not open_holes:
        return
    for position in range(len(command) - 1, -1, -1):
        here = command[position]
        if not isinstance(here, Mark):
            continue
        if row[position + 1]:
            row[position] = True
        if isinstance(token, str) and after[position] and not (here is _WORD_HOLE and token == " "):
            row[position] = True


def rule_text_of(command: SimpleCommand) -> str:
    """The command's words as a pattern that matches exactly them."""
    return command.text.replace("\\", "\\\\").replace("*", "\\*")
