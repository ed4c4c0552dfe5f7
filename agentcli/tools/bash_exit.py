"""What an exit code means."""

from __future__ import annotations

import shlex
import signal

_ONE_IS_AN_ANSWER = {
    "grep": "no line matched",
    "egrep": "no line matched",
    "fgrep": "no line matched",
    "rg": "no line matched",
    "ag": "no line matched",
    "pgrep": "no process matched",
    "diff": "the files differ",
    "cmp": "the files differ",
    "find": "some directories could not be searched",
    "test": "the condition is false",
    "[": "the condition is false",
    "[[": "the condition is false",
    "git diff": "there are differences",
    "git grep": "no line matched",
}
"""Programs whose exit code 1 is an answer and no failure, as their manuals say."""
_OPERATORS = frozenset({";", "|", "||", "&&", "&", "\n", ";;", "|&"})
_STEPS_BEFORE = frozenset({"cd", "echo", "printf", "true", ":", "export", "pwd"})
"""May stand before ``&&``: they don't end with 1 as long as they say nothing."""


def answer(command: str, exit_code: int, output: str) -> str:
    """What exit code 1 of the line's last command answers; empty where it is a failure or can't be told."""
    if exit_code != 1:
        return ""
    parts = _commands(command)
    if not parts:
        return ""
    meaning = _ONE_IS_AN_ANSWER.get(_program(parts[-1][1]), "")
    for (_, words), (joint, _) in zip(reversed(parts[:-1]), reversed(parts), strict=False):
        if joint != "&&":
            break
        program = _program(words)
        if program not in _ONE_IS_AN_ANSWER and not (program in _STEPS_BEFORE and "cd: " not in output):
            return ""
    return meaning


def _commands(command: str) -> list[tuple[str, list[str]]]:
    """The line's simple commands in order, each with the operator before it; empty if it can't be read this way."""
    lexer = shlex.shlex(command.strip(), posix=True, punctuation_chars=";|&\n")
    lexer.whitespace = " \t\r"
    lexer.commenters = ""
    parts: list[tuple[str, list[str]]] = [("", [])]
    try:
        for token in lexer:
            operator = token.strip("\n") or "\n" if token.strip(";|&\n") == "" else ""
            if operator in _OPERATORS:
                parts.append((operator, []))
            else:
                parts[-1][1].append(token)
    except ValueError:
        return []
    return [part for part in parts if part[1]]


def _program(words: list[str]) -> str:
    words = [word for word in words if "=" not in word or word.startswith("-")]
    if not words:
        return ""
    name = words[0].rsplit("/", 1)[-1]
    if name == "git":
        return "git " + next((word for word in words[1:] if not word.startswith("-")), "")
    return name


def describe(exit_code: int, signal_number: int | None) -> str:
    """``exit code 7``; ``killed by signal 9 (SIGKILL), exit code 137``."""
    if signal_number is not None:
        return f"killed by signal {signal_number}{_signal_name(signal_number)}, exit code {exit_code}"
    name = _signal_name(exit_code - 128) if exit_code > 128 else ""
    if name:
        return f"exit code {exit_code}, as after being killed by signal {exit_code - 128}{name}"
    return f"exit code {exit_code}"


def _signal_name(number: int) -> str:
    try:
        return f" ({signal.Signals(number).name})"
    except ValueError:
        return ""
