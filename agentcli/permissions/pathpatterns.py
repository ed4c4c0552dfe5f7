"""Path rules: gitignore patterns with an anchor."""

from __future__ import annotations

import re
from functools import lru_cache

from agentcli.permissions.places import Ground, Place
from agentcli.permissions.rules import Rule


def matches(rule: Rule, where: Place, ground: Ground) -> bool:
    """Whether a path rule covers a file.  An allow rule must cover it under its written and its real name; a deny or
    ask rule holds under any name, and whatever the case of the letters."""
    patterns = compiled(rule, ground)
    if rule.behavior == "allow":
        return all(any(p.match(str(n)) for p in patterns) for n in (where.lexical, where.real))
    return any(p.match(str(n)) for p in patterns for n in where.names)


def compiled(rule: Rule, ground: Ground) -> tuple[re.Pattern[str], ...]:
    """The rule as expressions over absolute paths."""
    start, cwd = ground.workspace.start, ground.workspace.cwd
    anchors = (start,) if rule.behavior == "allow" else tuple(dict.fromkeys((start, cwd)))
    bases = tuple(dict.fromkeys(str(b) for a in anchors for b in (a, a.resolve())))
    own = rule.base or start
    own_bases = tuple(dict.fromkeys((str(own), str(own.resolve()))))
    home = () if ground.home is None else tuple(dict.fromkeys((str(ground.home), str(ground.home.resolve()))))
    return _compile(rule.pattern, rule.behavior != "allow", bases, own_bases, home)


@lru_cache(maxsize=512)
def _compile(
    pattern: str, guards: bool, bases: tuple[str, ...], own: tuple[str, ...], home: tuple[str, ...]
) -> tuple[re.Pattern[str], ...]:
    flags = re.DOTALL | (re.IGNORECASE if guards else 0)
    if guards and pattern.endswith("/**") and pattern.strip("/*"):
        # Who must not read what is in a directory must not search the directory either.
        pattern = pattern[:-3] + "/"
    return tuple(re.compile(e, flags) for e in _expressions(pattern, guards, bases, own, home))


def _expressions(
    pattern: str, guards: bool, bases: tuple[str, ...], own: tuple[str, ...], home: tuple[str, ...]
) -> list[str]:
    if pattern.startswith("//"):
        return [_below("/", pattern[2:])]
    if pattern == "~" or pattern.startswith("~/"):
        return [_below(h, pattern[2:]) for h in home]
    if pattern.startswith("/"):
        return [_below(b, pattern[1:]) for b in own]
    anchored = pattern.startswith("./")
    body = pattern.removeprefix("./")
    name = body.rstrip("/")
    if not anchored and "/" not in name:
        return [_below("/" if guards else b, f"**/{body}") for b in (bases[:1] if guards else bases)]
    return [_below(b, body) for b in bases]


def _below(base: str, pattern: str) -> str:
    """``pattern`` below ``base``; a directory stands for all that is in it."""
    head = re.escape(base.rstrip("/")) + "/"
    body = _translate(pattern.rstrip("/"))
    if pattern.endswith("/"):
        return rf"{head}{body}(?:/.*)?\Z"
    if not pattern:
        return rf"{re.escape(base.rstrip('/'))}(?:/.*)?\Z"
    return rf"{head}{body}(?:/.*)?\Z"


def _translate(pattern: str) -> str:
    parts: list[str] = []
    position = 0
    while position < len(pattern):
        if pattern.startswith("**/", position) and (position == 0 or pattern[position - 1] == "/"):
            parts.append("(?:.*/)?")
            position += 3
        elif pattern.startswith("**", position):
            parts.append(".*")
            position += 2
        else:
            text, position = _one(pattern, position)
            parts.append(text)
    return "".join(parts)


def _one(pattern: str, position: int) -> tuple[str, int]:
    character = pattern[position]
    if character == "*":
        return "[^/]*", position + 1
    if character == "?":
        return "[^/]", position + 1
    if character == "\\" and position + 1 < len(pattern):
        return re.escape(pattern[position + 1]), position + 2
    if character == "[":
        end = pattern.find("]", position + 2)
        if end > 0:
            inner = pattern[position + 1 : end].replace("\\", "\\\\")
            inner = "^" + inner[1:] if inner.startswith(("!", "^")) else inner
            try:
                re.compile(f"[{inner}]")
            except re.error:
                return re.escape(pattern[position : end + 1]), end + 1
            return f"(?!/)[{inner}]", end + 1
    return re.escape(character), position + 1
