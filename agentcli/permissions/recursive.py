"""Searches through whole directories: whether a file that must not be read lies in one."""

from __future__ import annotations

import os
import re
from pathlib import Path

from agentcli.permissions.pathpatterns import compiled
from agentcli.permissions.rules import Rule
from agentcli.permissions.verdicts import Policy
from agentcli.shell import SimpleCommand

MOST = 20_000
"""Entries that are looked at; in a larger directory nothing is known."""
_ALWAYS_SKIPPED = frozenset({".git"})
_GREP = frozenset({"grep", "egrep", "fgrep"})
_GREP_DEEP = re.compile(r"-[A-Za-z]*[rR]|--(?:dereference-)?recursive|--directories=recurse")
_RG_HIDDEN = re.compile(r"-[A-Za-z]*[u.]|--(?:hidden|no-ignore|unrestricted)")


def searches(command: SimpleCommand) -> bool:
    """Whether the command reads all files below the directories that it names."""
    if command.program == "rg":
        return "--files" not in command.argv
    if command.program in _GREP:
        return any(
            re.match(r"-[A-Za-z]*[rR]|--(?:dereference-)?recursive|--directories=recurse", t) for t in command.argv
        )
    return False


def guarded_below(directory: Path, command: SimpleCommand, policy: Policy) -> tuple[Rule | None, str]:
    """The first rule that denies or asks about reading a file below, and the file; a rule without a file where there
    are too many to look at; nothing where all may be read.  ``rg`` passes hidden files by unless it is told not to."""
    rules = [r for r in (*policy.having("deny", "Read"), *policy.having("ask", "Read")) if r.kind == "path"]
    if not rules or not os.path.isdir(directory):
        return None, ""
    hidden = command.program != "rg" or any(_RG_HIDDEN.match(t) for t in command.argv)
    patterns = [(rule, compiled(rule, policy.ground)) for rule in rules]
    seen = 0
    for folder, folders, files in os.walk(directory):
        kept = [f for f in folders if f not in _ALWAYS_SKIPPED and (hidden or not f.startswith("."))]
        folders[:] = kept
        seen += len(files) + len(kept)
        if seen > MOST:
            return rules[0], ""
        for name in files:
            if not hidden and name.startswith("."):
                continue
            path = f"{folder}/{name}"
            for rule, expressions in patterns:
                if any(e.match(path) for e in expressions):
                    return rule, path
    return None, ""
