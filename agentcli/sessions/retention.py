"""How long sessions are kept.  Listing and removing are two calls: who removes asks first."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from datetime import datetime, timedelta
from pathlib import Path

from agentcli.sessions.lock import lock_path, owner


def expired(home: Path, days: int, now: datetime) -> list[Path]:
    """Session files that nobody has open and nothing was written to for that many days, oldest first."""
    oldest = (now - timedelta(days=days)).timestamp()
    found: list[tuple[float, Path]] = []
    for path in home.glob("projects/*/*.jsonl"):
        try:
            modified = path.stat().st_mtime
        except OSError:
            continue
        if modified < oldest and owner(path) is None:
            found.append((modified, path))
    return [path for _, path in sorted(found)]


def remove(sessions: Iterable[Path]) -> list[str]:
    """Removes the session files with their own directories; returns what could not be removed, and why."""
    problems: list[str] = []
    for path in sessions:
        try:
            path.unlink(missing_ok=True)
            lock_path(path).unlink(missing_ok=True)
            if os.path.isdir(path.with_suffix("")):
                shutil.rmtree(path.with_suffix(""))
        except OSError as error:
            problems.append(f"{path}: {error.strerror or error}")
    return problems
