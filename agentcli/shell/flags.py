"""Which options a program may be given so that it only reads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from agentcli.shell.values import Word, names


@dataclass(frozen=True, slots=True)
class Flags:
    """Allowed options.  ``short``: single letters; ``valued``: those of them that take a value; ``long``: names
    without dashes, spelled out (an abbreviation is not allowed); ``long_valued``: those that take the next word when
    no ``=`` follows.  ``operands``: whether other arguments are allowed."""

    short: frozenset[str] = frozenset()
    valued: frozenset[str] = frozenset()
    long: frozenset[str] = frozenset()
    long_valued: frozenset[str] = frozenset()
    operands: bool = True


def flags(short: str = "", valued: str = "", long: str = "", long_valued: str = "", *, operands: bool = True) -> Flags:
    return Flags(frozenset(short), frozenset(valued), names(long), names(long_valued), operands)


def refused(words: tuple[Word, ...], allowed: Flags) -> str:
    """The first argument that is not allowed, as a reason; empty when all are."""
    position = 0
    operands_only = False
    while position < len(words):
        item = words[position]
        position += 1
        if operands_only or not item.may_be_flag or item.text == "-":
            if not allowed.operands:
                return f"the argument {item.text}"
            continue
        if item.literal is None and item.pieces[0].kind != "text":
            return f"{item.text} may become an option"
        if item.text == "--":
            operands_only = True
            continue
        step = _option(item, allowed)
        if isinstance(step, str):
            return step
        position += step
    return ""


def _option(item: Word, allowed: Flags) -> int | str:
    """How many words behind the option belong to it, or why it is refused."""
    text = item.text
    if text.startswith("--"):
        name, equals, _ = text[2:].partition("=")
        if name not in allowed.long | allowed.long_valued:
            return f"the option --{name}"
        return int(name in allowed.long_valued and not equals)
    if text[1:].isdecimal() and "0" in allowed.short:
        return 0
    for index, letter in enumerate(text[1:], 1):
        if letter in allowed.valued:
            return int(index == len(text) - 1)
        if letter not in allowed.short:
            return f"the option -{letter}"
    return 0


def options_of(words: tuple[Word, ...]) -> Iterator[str]:
    """Every option: long names without dashes, short ones letter by letter (values of short ones may be among them)."""
    for item in words:
        text = item.text
        if text == "--":
            return
        if text.startswith("--"):
            yield text[2:].partition("=")[0]
        elif text.startswith("-"):
            yield from text[1:]
