"""Builtins that evaluate what looks like data: the subscript in ``test -v 'a[$(x)]'`` runs ``x``, in spite of the
quotes, wherever the shell takes a word for the name of a variable (or, as zsh does, for a number)."""

from __future__ import annotations

import re

from agentcli.shell.values import Assignment, SimpleCommand, Word, names

_BUILTINS = names("test [ read wait printf exit return shift break continue")
_RUNS = re.compile(r"\[.*(\$\(|`|\$\{|[<>]\()", re.DOTALL)
_NAME = r"[A-Za-z_][A-Za-z0-9_]*(?:\[(?:\d+|[@*])\])?"
_COMPUTED = re.compile(rf"""(?<!\S)-[vR]\s+(?!(?:{_NAME}|"{_NAME}"|'{_NAME}')(?:\s|\Z))""")
_TWO_UNKNOWN = re.compile(r"""\[\s+(?:!\s+)?["']?\$\S+\s+["']?\$\S+\s+\]\Z""")
_SUBSCRIPT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\[(?!(?:\d+|[@*])\])")


def evaluates(command: SimpleCommand) -> str:
    """What the command's words make the shell evaluate; empty if nothing."""
    words = _called(command)
    if not words:
        return ""
    name = words[0].text
    for item in words[1:]:
        known = "".join(p.text if p.kind in {"text", "glob"} else " " for p in item.pieces)
        if _RUNS.search(known):
            return f"{name} evaluates the subscript in {item.text}"
        if name == "read" and _SUBSCRIPT.match(known):
            return f"{name} evaluates the subscript in {item.text}"
    if name == "test":
        return evaluated_test(" ".join(["[", *(w.text for w in words[1:]), "]"]))
    if name == "wait" and any(w.text.startswith("-") and "p" in w.text for w in words[1:]):
        return "wait -p sets a variable"
    return ""


def names_taken(command: SimpleCommand) -> set[str]:
    """Variables whose values such a builtin is handed."""
    return {p.text for w in _called(command)[1:] for p in w.pieces if p.kind == "variable"}


def _called(command: SimpleCommand) -> tuple[Word, ...]:
    """The builtin and its words; nothing where another program is called."""
    words = command.words
    while words and words[0].text in {"builtin", "command"}:
        words = words[1:]
    return words if words and words[0].text in _BUILTINS else ()


def evaluated_test(text: str) -> str:
    """The same of a test as it is written, ``[ … ]`` or ``[[ … ]]``."""
    if _COMPUTED.search(text) or _TWO_UNKNOWN.match(text):
        return "a test of a variable whose name is computed"
    return ""


def holds_command(item: Assignment) -> bool:
    """Whether the variable is given text that runs a command where it is taken for the name of a variable."""
    return bool(_RUNS.search("".join(p.text if p.kind == "text" else " " for p in item.value.pieces)))
