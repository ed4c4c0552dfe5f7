"""What a wrapper runs, and the reading of its options."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from agentcli.shell.values import Assignment, Piece, Via, Word

REST = Word((Piece("hole", "…"),))
"""Words that are added when the command runs (``xargs``, ``find -exec … +``)."""


@dataclass(frozen=True, slots=True)
class Inner:
    """One thing that a wrapper runs: words, or a ``script`` (text for a shell).

    ``same_shell``: it runs in the shell of the line (``eval``), so that it can move it.  ``elsewhere``: in a directory
    that isn't known.  ``defines``: names that mean something else afterwards (``alias``).
    """

    via: Via = "transparent"
    words: tuple[Word, ...] = ()
    script: str | None = None
    assignments: tuple[Assignment, ...] = ()
    problem: str = ""
    same_shell: bool = False
    elsewhere: bool = False
    defines: frozenset[str] = frozenset()


def skip_options(words: tuple[Word, ...], valued: frozenset[str]) -> tuple[frozenset[str], tuple[Word, ...]] | None:
    """The names of the options in front, and the words behind them; ``None`` when a word might be an option."""
    used: set[str] = set()
    position = 0
    while position < len(words):
        item = words[position]
        if item.literal is None:
            if item.may_be_flag:
                return None
            break
        text = item.text
        if text == "--":
            position += 1
            break
        if not text.startswith("-") or text == "-":
            break
        position += 1
        if text.startswith("--"):
            name, equals, _ = text[2:].partition("=")
            # GNU programs take every abbreviation that is not ambiguous.
            full = next((v for v in sorted(valued) if len(v) > 1 and v.startswith(name)), name)
            used.add(full)
            position += full in valued and not equals
            continue
        for index, letter in enumerate(text[1:], 1):
            used.add(letter)
            if letter in valued:
                position += index == len(text) - 1
                break
    return frozenset(used), words[position:]


def assignment_word(item: Word) -> Assignment | None:
    """``NAME=value`` as an argument (``env``, ``sudo``)."""
    match = re.match(r"([A-Za-z_][A-Za-z0-9_]*)=", item.text)
    if match is None or item.pieces[0].kind != "text" or len(item.pieces[0].text) < match.end():
        return None
    first = Piece("text", item.pieces[0].text[match.end() :], item.pieces[0].quoted)
    return Assignment(match[1], Word((first, *item.pieces[1:])), prefix=True)


def joined_script(words: tuple[Word, ...], via: Via, name: str, *, same_shell: bool = False) -> Iterator[Inner]:
    """Arguments that a program joins with spaces and gives to a shell."""
    if all(w.literal is not None for w in words):
        yield Inner(via, script=" ".join(w.text for w in words), same_shell=same_shell, elsewhere=via == "remote")
    else:
        yield Inner(problem=f"{name} runs a text that is only known when it runs")


def script_of(item: Word, via: Via, name: str, *, same_shell: bool = False) -> Inner:
    if item.literal is None:
        return Inner(problem=f"{name} runs a text that is only known when it runs")
    return Inner(via, script=item.text, same_shell=same_shell)
