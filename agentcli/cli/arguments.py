"""Spellings that people's scripts use and that an option parser of fixed arity can't read, made plain."""

from __future__ import annotations

import re

OPTIONAL_VALUE = {"-r": "--resume", "--resume": "--resume"}
"""Options that may stand alone."""
RULES = frozenset({"--allowedTools", "--allowed-tools", "--disallowedTools", "--disallowed-tools"})
VARIADIC = RULES | {"--add-dir", "--mcp-config"}
_RULE = re.compile(r"(?:mcp__[\w-]+(?:\*)?|[A-Z][A-Za-z]+(?:\(.*\))?)", re.S)

INERT: dict[str, bool] = {
    "--debug": False,
    "--debug-file": True,
    "--debug-to-stderr": False,
    "--exclude-dynamic-system-prompt-sections": False,
    "--include-hook-events": False,
    "--plugin-dir": True,
    "--resume-drops-turn": True,
    "--resume-session-at": True,
    "--session-mirror": False,
    "--task-budget": True,
    "--thinking-display": True,
}
"""Options of the documented command line that have no effect yet, and whether they take a value.  Programs that drive
a command line give them unasked, so they are said, not refused."""


def without_inert(arguments: list[str]) -> tuple[list[str], tuple[str, ...]]:
    """The other arguments, and the options that were taken out."""
    rest: list[str] = []
    found: list[str] = []
    words = iter(arguments)
    for word in words:
        name, equals, _ = word.partition("=")
        if word == "--":
            rest += [word, *words]
        elif name not in INERT:
            rest.append(word)
        else:
            found.append(name)
            if INERT[name] and not equals:
                next(words, None)
    return rest, tuple(dict.fromkeys(found))


def normalise(arguments: list[str]) -> list[str]:
    """The same arguments with every variadic option repeated and every optional value written with ``=``.

    ``--allowedTools "Bash(git log *)" Read`` takes following words as long as they look like rules, so that a prompt
    behind it is still a prompt; everything behind ``--`` is left alone.
    """
    result: list[str] = []
    position = 0
    while position < len(arguments):
        word = arguments[position]
        position += 1
        if word == "--":
            return [*result, word, *arguments[position:]]
        if word in OPTIONAL_VALUE:
            value = ""
            if position < len(arguments) and _is_session(arguments[position]):
                value = arguments[position]
                position += 1
            result.append(f"{OPTIONAL_VALUE[word]}={value}")
        elif word in VARIADIC:
            taken = _values(word, arguments[position:])
            position += len(taken)
            result.extend(f"{word}={value}" for value in taken)
            if not taken:
                result.append(word)
        else:
            result.append(word)
    return result


def _is_session(word: str) -> bool:
    """Whether the word behind ``--resume`` is its value: an id, the beginning of one, or one word of a title."""
    return not word.startswith("-") and not any(c.isspace() for c in word)


def _values(option: str, rest: list[str]) -> list[str]:
    taken: list[str] = []
    for word in rest:
        if word.startswith("-") and word != "-":
            break
        if taken and not _goes_on(option, word):
            break
        taken.append(word)
    return taken


def _goes_on(option: str, word: str) -> bool:
    """Whether a further word can only be another value of the option, and no prompt."""
    if option in RULES:
        return bool(_RULE.fullmatch(word))
    return option == "--mcp-config" and (word.endswith(".json") or word.lstrip().startswith("{"))


def split_rules(values: list[str]) -> tuple[str, ...]:
    """Permission rules from option values: separated by commas or blanks, but not inside parentheses."""
    rules: list[str] = []
    for value in values:
        rule, depth = "", 0
        for character in value:
            depth += {"(": 1, ")": -1}.get(character, 0)
            if depth <= 0 and (character == "," or character.isspace()):
                rules.append(rule)
                rule = ""
            else:
                rule += character
        rules.append(rule)
    return tuple(r for r in rules if r)
