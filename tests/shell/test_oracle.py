"""Our reading of command lines against shfmt's: whatever we claim to understand must hold the same commands."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest

from agentcli.shell import parse
from tests.shell.oracle import SHFMT, Words, oracle, ours

pytestmark = pytest.mark.skipif(SHFMT is None, reason="shfmt is not installed")
LINES = (Path(__file__).parent / "corpus" / "lines.txt").read_text(encoding="utf-8").rstrip("\n").split("\n%%\n")
DECLARATIONS = {"export", "declare", "readonly", "local", "typeset", "let", "unset"}


def items(text: str) -> list[str]:
    """A list, written as one text."""
    return text.split("¦")


FRAGMENTS = items(
    'a¦b¦ls¦rm¦-rf¦-k¦"c d"¦\'e f\'¦\\¦\n¦ ¦  ¦\t¦;¦&&¦||¦|¦|&¦&¦(¦)¦{ ¦; }¦$x¦${y}¦${z:-w}¦$(p)¦`q`¦"$(r)"¦'
    '"`s`"¦\\ ¦\\\n¦\\;¦\\"¦\\\'¦<f¦>g¦2>&1¦>>h¦&>i¦<<<j¦<(k)¦>(l)¦if ¦then ¦fi¦while ¦do ¦done¦for v in ¦'
    "case w in ¦esac¦x)¦;;¦!¦! ¦[[ ¦ ]]¦[ ¦ ]¦((¦))¦$((1+2))¦#¦# m¦~¦*¦?¦=¦A=1 ¦B=$(c) ¦-¦--¦-x¦f() { ¦"
    'function g ¦eval ¦"\\$(d)"¦$¦"${e:-$(g)}"¦<<E\nh $(i)\nE\n¦<<\'E\'\nh $(i)\nE\n¦@¦+¦%¦^¦,¦[a]¦"a"b¦}¦{¦'
    'until ¦else ¦elif ¦in ¦1>¦é¦$#¦[¦x+=3¦(( i++ ))¦9¦2>¦$"u"'
)


@pytest.mark.parametrize("text", LINES, ids=lambda t: t[:40])
def test_the_same_commands_are_found(text: str) -> None:
    line = parse(text)
    second = oracle(text)
    if not line.understood:
        return
    assert second is not None, "we understand what shfmt does not parse"
    exact = "{" not in text and "$'" not in text
    assert comparable(ours(line), exact=exact) == comparable(second, exact=exact)


def test_most_honest_lines_are_understood() -> None:
    understood = [t for t in LINES if parse(t).understood]
    assert len(understood) >= len(LINES) * 9 // 10


def test_random_lines_hold_no_command_that_we_miss(soak: bool) -> None:
    """Every command that shfmt finds must be among ours, or the line must not count as understood.  (We may list one
    more: a digit in front of a redirection, arithmetic taken for a subshell.)"""
    source = random.Random(20_261_130)
    understood = 0
    for _ in range(20_000 if soak else 1_500):
        text = "".join(
            source.choice(FRAGMENTS) + (" " if source.random() < 0.45 else "") for _ in range(source.randint(2, 10))
        )
        line = parse(text)
        if not line.understood or any(c.problem for c in line.commands):
            continue
        second = oracle(text)
        if second is None:
            continue
        understood += 1
        missing = Counter(heads(second)) - Counter(heads(ours(line)))
        assert not missing, (text, missing, heads(ours(line)))
    assert understood > 50


def comparable(found: list[Words], *, exact: bool) -> list[str]:
    """The words of each command, sorted; tests and declarations, which the two see differently, left out.  Without
    ``exact`` (braces, which only we expand, and ``$'…'``, which only we decode) the names alone."""
    kept = [w for w in found if w[0] not in DECLARATIONS and w[-1] != "]"]
    return sorted(repr(w if exact else w[0]) for w in kept)


def heads(found: list[Words]) -> list[str]:
    return sorted(repr(w[0]) for w in found if w[0] not in DECLARATIONS and w[-1] != "]" and w[0] != "[")
