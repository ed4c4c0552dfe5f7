"""``.claude/rules/**/*.md``: rules that always hold, and rules that hold for the files their ``paths`` name."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from agentcli.frontmatter import FrontMatter, FrontMatterError, read_front_matter
from agentcli.globs import Match, compile_glob
from agentcli.memory.reading import Unusable, real_path
from agentcli.memory.values import Findings, Found, Scope, Skipped

MOST = 10_000
"""Entries of one tree of rules that are looked at."""
_PLAIN = re.compile(r"[A-Za-z_][\w-]*:(?: +(?:[A-Za-z][\w ./()-]*|\"[^\"\\]*\"|'[^']*'))? *$")
_ITEM = re.compile(r"\s*- +(?:\"([^\"\\]+)\"|'([^']+)'|([A-Za-z_./][\w./-]*/[\w./*?-]*))\s*$")
_ONE = re.compile(r"paths: +(?:\"([^\"\\]+)\"|'([^']+)')\s*$")

MayFollow = Callable[[Path, Path, Path | None], bool]
"""``(real directory, link, tree)`` → whether the link may be followed."""


@dataclass(frozen=True, slots=True)
class RuleText:
    """A rule's file, taken apart.  ``patterns`` empty: it always holds.  ``problem`` names file and line."""

    patterns: tuple[str, ...]
    body: str
    body_line: int
    problem: str = ""


def find_rules(base: Path, found: Findings, *, scope: Scope, tree: Path | None, follow: MayFollow) -> list[Found]:
    """The rule files below ``base/.claude/rules`` (of the user: ``base/rules``), in the order of their names.

    Links to files and directories are followed where ``follow`` agrees, each real directory once.
    """
    top = base / "rules" if scope == "user" else base / ".claude" / "rules"
    files: list[Path] = []
    seen: set[Path] = set()
    waiting = [top]
    entries = 0
    while waiting:
        directory = waiting.pop()
        if not _enter(Found(directory, scope, tree=tree), top, seen, found=found, follow=follow):
            continue
        with os.scandir(directory) as listing:
            for entry in listing:
                entries += 1
                if entry.name.lower().endswith(".md") and not _is_directory(entry):
                    files.append(directory / entry.name)
                elif _is_directory(entry):
                    waiting.append(directory / entry.name)
        if entries > MOST:
            found.warn(f"{top}: more than {MOST:,} entries; the rest is not looked at")
            break
    files.sort(key=lambda p: p.parts)
    return [Found(p, scope, "rule", tree, base=None if scope == "user" else base) for p in files]


def _is_directory(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def _enter(place: Found, top: Path, seen: set[Path], *, found: Findings, follow: MayFollow) -> bool:
    """Whether to list this directory; a real one once, so that a link to itself ends."""
    directory = place.path
    if directory == top and not os.path.lexists(top):
        return False
    try:
        real = real_path(directory)
        if real in seen or (real != directory and not follow(real, directory, place.tree)):
            return False
        os.scandir(directory).close()
    except (Unusable, OSError) as error:
        words = str(error) if isinstance(error, Unusable) else f"can't be read ({error.strerror})"
        found.skip(Skipped(directory, place.scope, words))
        return False
    seen.add(real)
    found.directories[directory] = None
    return True


def read_rule(text: str, path: Path) -> RuleText:
    """Front matter and body.  With front matter that can't be read the rule holds always, and ``problem`` says why."""
    if (quick := _simple(text)) is not None:
        return quick
    try:
        front = read_front_matter(text, source=path, plain=True)
        patterns, problem = _patterns(front, path)
    except FrontMatterError as error:
        hint = ' Put a glob that begins with * or { into quotes: paths: "**/*.py".' if _GLOB_FIRST.search(text) else ""
        body, line = _behind_fence(text)
        return RuleText((), body, line, f"{error}{hint} The rule is loaded as if it had no paths.")
    return RuleText(patterns, front.body, front.body_line, problem)


_GLOB_FIRST = re.compile(r"^(?:paths:|\s*-)\s*[*{!\[]", re.M)


def _simple(text: str) -> RuleText | None:
    """The usual form without a YAML parser: thousands of rules are read at the start.  ``None``: let YAML judge."""
    if not text.startswith("---\n"):
        return None if text.startswith(("---", "\ufeff")) else RuleText((), text, 1)
    end = text.find("\n---\n", 3)
    if end < 0:
        return None
    patterns: list[str] = []
    listing = False
    names: set[str] = set()
    for line in text[4 : end + 1].splitlines():
        item = _ITEM.match(line) if listing else None
        if item is not None:
            patterns.append(next(g for g in item.groups() if g))
            continue
        name = line.partition(":")[0]
        if name in names or not _PLAIN.match(line):
            return None
        names.add(name)
        listing = line.rstrip() == "paths:"
        if name == "paths" and not listing:
            one = _ONE.match(line)
            if one is None:
                return None
            patterns += split_patterns(one[1] or one[2])
    line_number = text.count("\n", 0, end + 5) + 1
    return RuleText(tuple(p.strip() for p in patterns if p.strip()), text[end + 5 :], line_number)


def _patterns(front: FrontMatter, path: Path) -> tuple[tuple[str, ...], str]:
    value = front.values.get("paths")
    items = split_patterns(value) if isinstance(value, str) else value
    if items is None:
        return (), ""
    if not isinstance(items, list) or not all(isinstance(i, str) for i in items):
        return (), f"{path}:2: paths must be a glob or a list of globs. The rule is loaded as if it had no paths."
    patterns = tuple(i.strip() for i in items if i.strip())
    for pattern in patterns:
        try:
            compile_glob(pattern)
        except ValueError as error:
            return patterns, f"{path}:2: {error}; this glob matches nothing."
    return patterns, ""


def _behind_fence(text: str) -> tuple[str, int]:
    """The text below the front matter, as far as it can be told; all of it where the fence is not closed."""
    lines = text.split("\n")
    end = next((i for i, line in enumerate(lines[1:], 1) if line.rstrip() == "---"), None)
    return (text, 1) if end is None else ("\n".join(lines[end + 1 :]), end + 2)


def split_patterns(text: str) -> list[str]:
    """A text of globs with commas between them; commas in braces belong to the glob."""
    parts, depth, current = [], 0, ""
    for character in text:
        depth += {"{": 1, "}": -1}.get(character, 0)
        if character == "," and depth <= 0:
            parts.append(current)
            current = ""
        else:
            current += character
    return [p.strip() for p in [*parts, current] if p.strip()]


def match_path(patterns: Sequence[str], path: Path, base: Path | None, *, home: Path | None = None) -> str | None:
    """The first pattern that matches the file; ``None`` if none does.

    Patterns are relative to ``base``, the directory that holds ``.claude`` (``*.md``: the files right in it; ``src/``:
    everything below).  A pattern that begins with ``/`` or ``~/`` is also matched against the absolute path.
    """
    absolute = path.as_posix()
    relative = path.relative_to(base).as_posix() if base is not None and path.is_relative_to(base) else None
    for pattern in patterns:
        text = f"{pattern}**" if pattern.endswith("/") else pattern
        if relative is not None and _glob(text.removeprefix("/"))(relative):
            return pattern
        if text.startswith("~/") and home is not None:
            text = f"{home.as_posix()}/{text[2:]}"
        if text.startswith("/") and _glob(text)(absolute):
            return pattern
    return None


@lru_cache(maxsize=8192)
def _glob(pattern: str) -> Match:
    try:
        return compile_glob(pattern)
    except ValueError:  # too many alternatives: told when the rule was read
        return lambda path: False
