"""Branch, work tree and origin of a git repository, read from the file system: git itself is not run for a status
line."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

HEADS = "ref: refs/heads/"
_REMOTE = re.compile(r"""^\[remote\s+"origin"\][^\[]*?^\s*url\s*=\s*(\S+)\s*$""", re.MULTILINE)
_WITH_SCHEME = re.compile(r"(?:https?|ssh|git)://(?:[^/@]*@)?([^/:@]+)(?::\d+)?/(.+)")
_LIKE_SCP = re.compile(r"(?:[^/@:]+@)?([^/:@]+):(?!//)(.+)")


@dataclass(frozen=True, slots=True)
class Origin:
    """Where the repository comes from; ``owner`` may have parts (``group/subgroup``)."""

    host: str
    owner: str
    name: str


def current_branch(directory: Path) -> str | None:
    """The branch's name, the first characters of a detached commit, or ``None`` outside a repository."""
    found = _git_directory(directory)
    try:
        return _branch(found / "HEAD") if found is not None else None
    except OSError:
        return None


def work_tree(directory: Path) -> str | None:
    """The name of the linked work tree that the directory stands in; ``None`` in the main one and elsewhere."""
    found = _git_directory(directory)
    return found.name if found is not None and found.parent.name == "worktrees" else None


def origin(directory: Path) -> Origin | None:
    """By the address of the remote ``origin``; ``None`` where there is none, or it names no host."""
    found = _git_directory(directory)
    if found is None:
        return None
    home = found.parent.parent if found.parent.name == "worktrees" else found
    try:
        config = (home / "config").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    address = _REMOTE.search(config)
    parts = (_WITH_SCHEME.fullmatch(address[1]) or _LIKE_SCP.fullmatch(address[1])) if address else None
    if parts is None:
        return None
    owner, _, name = parts[2].strip("/").removesuffix(".git").rpartition("/")
    return Origin(parts[1], owner, name) if owner and name else None


def _git_directory(directory: Path) -> Path | None:
    for place in (directory, *directory.parents):
        marker = place / ".git"
        try:
            if os.path.isdir(marker):
                return marker
            if os.path.isfile(marker):
                target = marker.read_text(encoding="utf-8", errors="replace").strip().removeprefix("gitdir:").strip()
                return place / target
        except OSError:
            return None
    return None


def _branch(head: Path) -> str:
    text = head.read_text(encoding="utf-8", errors="replace").strip()
    return text.removeprefix(HEADS) if text.startswith(HEADS) else text[:8]
