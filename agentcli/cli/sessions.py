"""``agentcli sessions``: what is stored of this directory's conversations, and taking away what is old."""

from __future__ import annotations

import json
import sys
from datetime import datetime
from pathlib import Path

from agentcli.clock import SystemClock
from agentcli.errors import UserError
from agentcli.paths import agentcli_home
from agentcli.runtime.options import SessionOptions
from agentcli.runtime.world import read_world
from agentcli.sessions import SessionStore, expired, remove

DAYS = 30
"""Default of the setting ``cleanupPeriodDays``."""


def list_stored(*, as_json: bool) -> int:
    """The sessions of this directory, newest first."""
    home = agentcli_home()
    infos = SessionStore(home, Path.cwd(), clock=SystemClock()).list() if home else []
    if as_json:
        rows = [
            {
                "id": i.id,
                "title": i.title,
                "first_prompt": i.first_prompt,
                "modified": _when(i.modified),
                "bytes": i.size,
            }
            for i in infos
        ]
        sys.stdout.write(json.dumps(rows, ensure_ascii=False, indent=2) + "\n")
        return 0
    for info in infos:
        sys.stdout.write(f"{info.id}  {_when(info.modified)}  {info.label}\n")
    if not infos:
        sys.stdout.write("No sessions are stored for this directory.\n")
    return 0


def prune(*, days: int | None, yes: bool) -> int:
    """Removes sessions that nothing was written to for so many days, of every directory.  Asks first; nothing is ever
    removed otherwise.  1 when something could not be removed."""
    home = agentcli_home()
    if home is None:
        raise UserError("there is no home directory, so no sessions are stored (set HOME or AGENTCLI_HOME)")
    kept = days if days is not None else _period()
    old = expired(home, kept, SystemClock().now())
    if not old:
        sys.stdout.write(f"Nothing is older than {kept} days.\n")
        return 0
    for path in old:
        sys.stdout.write(f"{_when(path.stat().st_mtime)}  {path}\n")
    if not yes and not _agreed(f"Remove these {len(old)} sessions for good? [y/N] "):
        sys.stdout.write("Nothing was removed.\n")
        return 0
    problems = remove(old)
    for problem in problems:
        sys.stderr.write(f"agentcli: {problem}\n")
    sys.stdout.write(f"Removed {len(old) - len(problems)} sessions.\n")
    return 1 if problems else 0


def _period() -> int:
    value = read_world(SessionOptions(cwd=Path.cwd())).settings.get("cleanupPeriodDays")
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else DAYS


def _agreed(question: str) -> bool:
    if not sys.stdin.isatty():
        raise UserError("nobody can be asked here: use --yes to remove them")
    sys.stdout.write(question)
    sys.stdout.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _when(seconds: float) -> str:
    return datetime.fromtimestamp(seconds).astimezone().strftime("%Y-%m-%d %H:%M")
