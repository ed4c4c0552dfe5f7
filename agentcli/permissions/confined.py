"""What the sandbox changes about permissions: what need not be asked, and which files deny rules hide from commands."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from agentcli.permissions.pathpatterns import compiled
from agentcli.permissions.rules import SHELL_TOOLS, Rule
from agentcli.permissions.shellrules import is_wide
from agentcli.permissions.verdicts import Policy, Verdict, Weight, allow

MOST = 50_000
"""Entries of the working directories that are looked at for files that deny rules mean."""
_AT_EASE: frozenset[Weight] = frozenset({"default", "unclear", "doubtful"})
_PLAIN = frozenset("*?[")


def unasked(values: Mapping[str, Any], policy: Policy) -> bool:
    """Whether the sandbox stands in for a question.  Plan mode only reads, confined or not."""
    bounds = policy.confinement
    return bounds is not None and bounds.unasked and policy.mode != "plan" and bounds.covers(values)


def without_wide_asks(policy: Policy) -> Policy:
    """An ask rule for every command is met by the sandbox; one that names commands still asks."""
    kept = tuple(r for r in policy.rules if not (r.behavior == "ask" and r.tool in SHELL_TOOLS and _wide(r)))
    return replace(policy, rules=kept)


def _wide(rule: Rule) -> bool:
    return rule.kind == "bare" or (rule.kind == "shell" and is_wide(rule))


def at_ease(verdict: Verdict) -> Verdict:
    """A question that only stands for what no rule allows is answered by the sandbox."""
    if verdict.behavior == "ask" and verdict.weight in _AT_EASE:
        return allow("it runs in the sandbox", subject=verdict.subject)
    return verdict


def denied_files(policy: Policy, *tools: str) -> tuple[tuple[Path, ...], bool]:
    """The files and directories that deny rules about ``tools`` mean and that exist: those that are named, and those
    in the working directories that match.  Whether these are all: in very large directories not all are looked at."""
    rules = [r for r in policy.having("deny", *tools) if r.kind == "path"]
    found = dict.fromkeys(path for rule in rules if (path := _named(rule, policy)) is not None and os.path.exists(path))
    patterns = [expression for rule in rules for expression in compiled(rule, policy.ground)]
    matching, whole = _matching(policy.ground.workspace.roots, patterns) if patterns else ([], True)
    return tuple(found | dict.fromkeys(matching)), whole


def _named(rule: Rule, policy: Policy) -> Path | None:
    """The path of a rule without patterns (``~/.ssh/**``, ``//etc/passwd``, ``./.env``)."""
    text = rule.pattern.removesuffix("/**").rstrip("/")
    if not text or _PLAIN & set(text):
        return None
    home, start = policy.ground.home, policy.ground.workspace.start
    if text.startswith("//"):
        return Path(text[1:])
    if text == "~" or text.startswith("~/"):
        return home / text[2:] if home is not None else None
    if text.startswith("/"):
        return (rule.base or start) / text[1:]
    return start / text.removeprefix("./")


def _matching(roots: Iterable[Path], patterns: list[Any]) -> tuple[list[Path], bool]:
    """What matches, not looking into ``.git``; false where there was too much to look at."""
    found: list[Path] = []
    seen = 0
    for root in roots:
        for folder, folders, files in os.walk(root):
            seen += len(files) + len(folders)
            if seen > MOST:
                return found, False
            inner = {name for name in folders if any(p.match(f"{folder}/{name}") for p in patterns)}
            found += (Path(folder, name) for name in sorted(inner))
            folders[:] = [name for name in folders if name != ".git" and name not in inner]
            found += (Path(folder, name) for name in files if any(p.match(f"{folder}/{name}") for p in patterns))
    return found, True
