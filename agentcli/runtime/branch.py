"""The present git branch, read from the file system: git itself is not run for a status line."""

from __future__ import annotations

from pathlib import Path

HEADS = "ref: refs/heads/"


def current_branch(directory: Path) -> str | None:
    """The branch's name, the first characters of a detached commit, or ``None`` outside a repository."""
    for place in (directory, *directory.parents):
        marker = place / ".git"
        try:
            if marker.is_file():
                target = marker.read_text(encoding="utf-8", errors="replace").strip().removeprefix("gitdir:").strip()
                return _branch((place / target) / "HEAD")
            if marker.is_dir():
                return _branch(marker / "HEAD")
        except OSError:
            return None
    return None


def _branch(head: Path) -> str:
    text = head.read_text(encoding="utf-8", errors="replace").strip()
    return text.removeprefix(HEADS) if text.startswith(HEADS) else text[:8]
