"""Which project a directory belongs to, read from the file system alone, and whether git tracks a file of it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

QUIET = ("-c", "core.fsmonitor=", "-c", "core.hooksPath=/dev/null")
"""Options of every git call of ours: nothing that the repository configures may run."""


def git_root(directory: Path) -> Path | None:
    """The real path of the work tree that holds the directory, or ``None``.

    A ``.git`` file (a linked work tree, a submodule) counts like a directory.
    """
    here = directory.resolve()
    for candidate in (here, *here.parents):
        if os.path.exists(candidate / ".git"):
            return candidate
    return None


def main_checkout(root: Path) -> Path:
    """The main checkout of a linked work tree; ``root`` itself for anything else.

    The link is believed only if the main repository points back at this work tree: a foreign directory can't claim to
    belong to a repository that is trusted.
    """
    marker = root / ".git"
    if not os.path.isfile(marker):
        return root
    try:
        text = marker.read_text(encoding="utf-8")[:4096].strip()
        private = (root / text.removeprefix("gitdir:").strip()).resolve()
        back = Path((private / "gitdir").read_text(encoding="utf-8").strip())
        back = back if back.is_absolute() else private / back
    except (OSError, UnicodeDecodeError, ValueError):
        return root
    if private.parent.name != "worktrees" or private.parent.parent.name != ".git" or back.resolve() != marker.resolve():
        return root
    return private.parent.parent.parent


def is_tracked(path: Path, root: Path) -> bool:
    """Whether git tracks the file, or it is reached through a link inside the work tree.

    Where that can't be told the answer is yes: what others may have written is then not taken for the user's own.
    """
    if os.path.islink(path.parent) or os.path.islink(path):
        return True
    environment = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    try:
        done = subprocess.run(
            ["git", *QUIET, "-C", str(root), "ls-files", "--error-unmatch", "--", str(path)],
            check=False,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=10,
            env=environment,
        )
    except (OSError, subprocess.TimeoutExpired):
        return True
    return done.returncode != 1
