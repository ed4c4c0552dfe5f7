"""Builtins that evaluate what looks like data: the subscript in ``test -v 'a[$(x)]'`` runs ``x``, in spite of the
quotes, wherever the shell takes a word for the name of a variable (or, as zsh does, for a number)."""

from __future__ import annotations

import re
from itertools import pairwise

from agentcli.shell.arithmetic import UNKNOWN, Arithmetic
from agentcli.shell.values import Assignment, SimpleCommand, Word, names

_BUILTINS = names("test [ read wait printf exit return shift break continue")
_READING = {"read": "REPLY", "mapfile": "MAPFILE", "readarray": "MAPFILE", "getopts": "OPTARG"}
"""Builtins that give values to variables that they are told, and the variable that they take otherwise."""
_COUNTED = names("exit return shift break continue logout repeat let compgen integer float")
_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_DIRECTIVE = re.compile(r"%(?:%|[-+ #0']*(\*|\d*)(?:\.(\*|\d*))?[hlLjzt]*([A-Za-z(]))")
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
        if literal_holds_command(item) or (name == "read" and _SUBSCRIPT.match(known)):
            return f"{name} evaluates the subscript in {item.text}"
    if name == "test":
        return evaluated_test(" ".join(["[", *(w.text for w in words[1:]), "]"]))
    if name == "wait" and any(w.text.startswith("-") and "p" in w.text for w in words[1:]):
        return "wait -p sets a variable"
    return ""


def names_taken(command: SimpleCommand) -> set[str]:
    """Variables whose values such a builtin is handed."""
    return {p.text for w in _called(command)[1:] for p in w.pieces if p.kind == "variable"}


def give(command: SimpleCommand, arithmetic: Arithmetic) -> None:
    """What a builtin evaluates as a number, and the variables that it gives a value."""
    words = command.words
    while words and words[0].text in {"builtin", "command"}:
        words = words[1:]
    name, arguments = (words[0].text, words[1:]) if words else ("", ())
    if name in _COUNTED:
        for item in arguments:
            arithmetic.word(item)
            if item.literal and name == "let":
                arithmetic.text(item.literal)
    elif name in _READING:
        arithmetic.given(_READING[name], UNKNOWN)
        _targets(arguments, arithmetic)
    elif name == "printf":
        _printf(arguments, arithmetic)
    elif name in {"test", "unset", "set"}:
        for before, item in pairwise(words):
            if item.dynamic and (name == "unset" or before.text in {"-t", "-A", "+A"}):
                arithmetic.word(item)


def _targets(words: tuple[Word, ...], arithmetic: Arithmetic) -> None:
    """Variables that are given what is read or computed; a name that is only known when it runs is evaluated."""
    for item in words:
        if _PLAIN_NAME.match(item.text):
            arithmetic.given(item.text, UNKNOWN)
        elif item.dynamic:
            arithmetic.word(item)


def _printf(arguments: tuple[Word, ...], arithmetic: Arithmetic) -> None:
    """``-v`` takes a name; zsh evaluates what ``%d`` and its like are given."""
    if arguments and arguments[0].text.startswith("-v"):
        _targets(arguments[1:2] if arguments[0].text == "-v" else arguments[:1], arithmetic)
        arguments = arguments[2:] if arguments[0].text == "-v" else arguments[1:]
    if not arguments:
        return
    form, values = arguments[0], arguments[1:]
    counted = [
        kind
        for width, precision, letter in _DIRECTIVE.findall(form.text)
        if letter
        for kind in (*(c == "*" for c in (width, precision) if c == "*"), letter not in "sbqcn(")
    ]
    splits = any(p.kind in {"variable", "hole"} and not p.quoted for w in values for p in w.pieces)
    for index, item in enumerate(values):
        if not item.dynamic:
            continue
        if form.dynamic or (any(counted) if splits else bool(counted) and counted[index % len(counted)]):
            arithmetic.word(item)


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
    return literal_holds_command(item.value)


def literal_holds_command(item: Word) -> bool:
    """Whether the text that stands in a word would run a command where it is evaluated."""
    return bool(_RUNS.search("".join(p.text if p.kind in {"text", "glob"} else " " for p in item.pieces)))
