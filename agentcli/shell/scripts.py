"""Shells that are started from a line: the text that they will run, if the line holds it."""

from __future__ import annotations

from collections.abc import Iterator

from agentcli.shell.inner import Inner
from agentcli.shell.values import SimpleCommand, Word

_VALUED = frozenset({"--rcfile", "--init-file", "-O", "+O", "-o", "+o"})
STANDARD_INPUT = frozenset({"/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"})


def shell_script(command: SimpleCommand) -> Iterator[Inner]:
    """``bash -c TEXT``, ``bash <<E``, ``bash <<< TEXT``.  A script file is an ordinary argument; commands from a pipe
    or a terminal can't be known."""
    words = command.arguments
    reads_text = False
    position = 0
    while position < len(words):
        item = words[position]
        if item.literal is None and item.may_be_flag:
            yield Inner(problem=f"options of {command.program} that are only known when it runs")
            return
        if not item.text.startswith(("-", "+")) or item.text in {"-", "--"}:
            position += item.text in {"-", "--"}
            break
        if not item.text.startswith("--") and item.text[0] == "-" and "c" in item.text:
            reads_text = True
        # -o and -O may close a cluster (-euo pipefail) and take the next word.
        clustered = not item.text.startswith("--") and item.text[-1] in "oO"
        position += 2 if item.text in _VALUED or clustered else 1
    rest = words[position:]
    if _asks_only(words):
        return
    if reads_text:
        yield from _text(command, rest)
    elif not rest or rest[0].literal in STANDARD_INPUT:
        yield from standard_input(command)


def _asks_only(words: tuple[Word, ...]) -> bool:
    return any(w.text in {"--version", "--help", "-n"} for w in words)


def _text(command: SimpleCommand, rest: tuple[Word, ...]) -> Iterator[Inner]:
    if not rest:
        return
    if rest[0].literal is None:
        yield Inner(problem=f"{command.program} -c with a text that is only known when it runs")
    else:
        yield Inner("script", script=rest[0].text)


def standard_input(command: SimpleCommand) -> Iterator[Inner]:
    """A shell without a script reads its commands from its input."""
    given = [r for r in command.redirects if r.kind in {"heredoc", "herestring", "read"}]
    last = given[-1] if given else None
    if last is not None and last.kind == "heredoc" and last.body is not None:
        yield Inner("script", script=last.body)
    elif last is not None and last.kind == "herestring" and last.target is not None and last.target.literal is not None:
        yield Inner("script", script=last.target.literal)
    else:
        yield Inner(problem=f"{command.program} takes its commands from its input")
