"""A linter for memory files: what costs, contradicts, leads nowhere or should not be there."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Literal

from agentcli.memory.approvals import Approvals
from agentcli.memory.comments import read_lines
from agentcli.memory.conversation import load_start
from agentcli.memory.loading import PathRule
from agentcli.memory.places import Places
from agentcli.memory.reading import Unusable, read_content
from agentcli.memory.rules import match_path
from agentcli.memory.secrets import find_secrets
from agentcli.memory.values import MemoryFile

LONG = 200
"""Lines above which a file is too long to be followed well (the field's recommendation)."""
FILES = 50_000
"""Files of the project that are looked at for rules."""
SKIPPED_DIRECTORIES = frozenset({".git", "node_modules", ".venv", "venv", "__pycache__", ".tox", "target", "dist"})
Kind = Literal["long", "duplicate", "contradiction", "load", "paths", "secret"]
_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])\s+(\S.*)")
_HEADING = re.compile(r" {0,3}(#{1,6})\s+(\S.*?)\s*#*$")
_NEGATIVE = re.compile(r"(?:never|do not|don't|don’t|avoid|no longer|must not|should not)\s+", re.I)
_POSITIVE = re.compile(r"(?:please\s+)?(?:always|do|must|should|you must|you should)\s+", re.I)


@dataclass(frozen=True, slots=True)
class Finding:
    """``line`` 0: the file as a whole."""

    path: Path
    line: int
    kind: Kind
    text: str

    def __str__(self) -> str:
        return f"{self.path}{f':{self.line}' if self.line else ''}: {self.text}"


def check(places: Places, approvals: Approvals) -> list[Finding]:
    """Looks at every instruction file that counts here, and at the rules that wait for files."""
    loader, start = load_start(places, approvals)
    findings = [_located(text) for text in (*loader.findings.warnings, *loader.findings.notes)]
    texts = [(path, text) for path in _paths(start, loader.path_rules.values()) if (text := _text(path)) is not None]
    for path, text in texts:
        findings += _single(path, text)
    findings += _across(texts)
    findings += _unmatched(loader.path_rules.values(), places)
    return findings


def _located(text: str) -> Finding:
    """A warning of the loader, which begins with its place."""
    found = re.match(r"(.+?)(?::(\d+))?(?::\d+)?: (.*)", text, re.S)
    return Finding(Path(found[1]), int(found[2] or 0), "load", found[3]) if found else Finding(Path(), 0, "load", text)


def _paths(files: Iterable[MemoryFile], rules: Iterable[PathRule]) -> list[Path]:
    found: list[Path] = []
    for file in files:
        found += [file.path] if file.kind != "setting" else []
        found += _paths(file.imports, ())
    return [*found, *(r.found.path for r in rules)]


def _text(path: Path) -> str | None:
    try:
        return read_content(path).text
    except Unusable:
        return None


def _single(path: Path, text: str) -> Iterator[Finding]:
    lines = text.count("\n") + (not text.endswith("\n"))
    if lines > LONG:
        yield Finding(path, 0, "long", f"{lines:,} lines; above {LONG} single instructions are easily missed")
    seen: dict[str, int] = {}
    for line in read_lines(text).lines:
        heading = None if line.code else _HEADING.match(line.text)
        if heading is None:
            continue
        name = f"{heading[1]} {heading[2].casefold()}"
        if name in seen:
            words = f"the heading {heading[2]!r} stands in line {seen[name]} already"
            yield Finding(path, line.number, "duplicate", words)
        seen.setdefault(name, line.number)
    for secret in find_secrets(text):
        yield Finding(path, secret.line, "secret", f"looks like {secret.kind}; it is sent with every request")


def _across(texts: Iterable[tuple[Path, str]]) -> Iterator[Finding]:
    """The same rule twice, and rules that say the opposite of each other."""
    seen: dict[tuple[bool, str], tuple[Path, int]] = {}
    for path, text in texts:
        for line in read_lines(text).lines:
            item = None if line.code else _ITEM.match(line.text)
            if item is None or len(item[1]) < 12:
                continue
            negative, rule = _rule(item[1])
            if (negative, rule) in seen:
                other, number = seen[negative, rule]
                yield Finding(path, line.number, "duplicate", f"the same rule stands in {other}:{number}")
            elif (not negative, rule) in seen:
                other, number = seen[not negative, rule]
                yield Finding(path, line.number, "contradiction", f"says the opposite of {other}:{number}")
            seen.setdefault((negative, rule), (path, line.number))


def _rule(text: str) -> tuple[bool, str]:
    """(forbids, what): the rule without its polarity, case and punctuation."""
    words = text.replace("*", "").strip()
    negative = _NEGATIVE.match(words)
    match = negative or _POSITIVE.match(words)
    rest = words[match.end() :] if match else words
    return negative is not None, " ".join(re.sub(r"[^\w\s/.]", " ", rest).casefold().split()).rstrip(".")


def _unmatched(rules: Iterable[PathRule], places: Places) -> Iterator[Finding]:
    """Rules of the project whose paths no file of it matches."""
    open_rules: dict[Path, list[PathRule]] = defaultdict(list)
    for rule in rules:
        if rule.found.scope != "user" and rule.found.base is not None:
            open_rules[rule.found.base].append(rule)
    for base, group in open_rules.items():
        if not base.is_relative_to(places.root):
            continue  # rules above the project are about other places too
        for rule in _without_file(group, base):
            words = f"no file matches its paths ({', '.join(rule.patterns)}): it is never loaded"
            yield Finding(rule.found.path, 0, "paths", words)


def _without_file(rules: list[PathRule], base: Path) -> list[PathRule]:
    left = rules
    for file in islice(_walk(base), FILES):
        if not left:
            break
        left = [r for r in left if match_path(r.patterns, file, base) is None]
    return left


def _walk(base: Path) -> Iterator[Path]:
    for directory, names, files in os.walk(base):
        names[:] = sorted(n for n in names if n not in SKIPPED_DIRECTORIES)
        for name in sorted(files):
            yield Path(directory, name)
