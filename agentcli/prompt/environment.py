"""Facts of the machine and the directory, collected once.  Git is read, never run."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PureWindowsPath

from agentcli.prompt.words import one_line
from agentcli.text import clean


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """Where a session runs.  ``worktree``: the directory is a linked git worktree, not the main checkout."""

    cwd: str
    additional: tuple[str, ...] = ()
    git: bool = False
    worktree: bool = False
    platform: str = "linux"
    shell: str = "unknown"
    os_version: str = ""


def collect_environment(
    cwd: Path, additional: Sequence[Path] = (), *, env: Mapping[str, str] | None = None
) -> Environment:
    """Reads the facts.  Never raises for an odd or unreadable repository: it then counts as none."""
    repository, worktree = git_facts(cwd)
    return Environment(
        cwd=clean(str(cwd)),
        additional=other_directories(cwd, additional),
        git=repository,
        worktree=worktree,
        platform=sys.platform,
        shell=shell_name(os.environ if env is None else env),
        os_version=os_version(),
    )


def other_directories(cwd: Path, additional: Sequence[Path]) -> tuple[str, ...]:
    """The working directories beside the first one, as they are named."""
    return tuple(sorted({clean(str(path)) for path in additional} - {clean(str(cwd))}))


def git_facts(directory: Path) -> tuple[bool, bool]:
    """(is in a git repository, is in a linked worktree), by the nearest ``.git`` entry from the directory up."""
    for place in (directory, *directory.parents):
        entry = place / ".git"
        try:
            if entry.is_dir():
                if os.path.exists(entry / "HEAD") or os.path.islink(entry / "HEAD"):
                    return True, False
            elif entry.is_file():
                return _linked(entry)
        except OSError:
            return False, False
    return False, False


def _linked(entry: Path) -> tuple[bool, bool]:
    """A ``.git`` file names a git directory elsewhere; only that of a worktree has a ``commondir`` (a submodule's has
    none; gitrepository-layout)."""
    try:
        first = entry.read_text(encoding="utf-8", errors="surrogateescape").partition("\n")[0]
        if not first.startswith("gitdir:"):
            return False, False
        target = entry.parent / first.removeprefix("gitdir:").strip()
        return os.path.exists(target / "HEAD"), os.path.isfile(target / "commondir")
    except (OSError, ValueError):
        return False, False


def shell_name(env: Mapping[str, str]) -> str:
    """Last component of ``$SHELL``; ``unknown`` without one."""
    shell = env.get("SHELL", "").strip()
    return clean(PureWindowsPath(shell).name) or "unknown"


def os_version() -> str:
    """What ``uname -sr`` prints; on Windows its name and version."""
    if hasattr(os, "uname"):
        system = os.uname()
        return f"{system.sysname} {system.release}"
    return f"{platform.system()} {platform.version()}"


def environment_lines(environment: Environment) -> list[str]:
    """The facts as ``Label: value`` lines, each one line whatever the names hold."""
    lines = [f"Primary working directory: {one_line(environment.cwd)}"]
    if environment.additional:
        lines.append("Additional working directories: " + ", ".join(map(one_line, environment.additional)))
    lines.append(f"Git repository: {_git(environment)}")
    lines.append(f"Platform: {one_line(environment.platform)}")
    lines.append(f"Shell: {one_line(environment.shell)}{_unix_syntax(environment)}")
    if environment.os_version:
        lines.append(f"OS version: {one_line(environment.os_version)}")
    return lines


def _git(environment: Environment) -> str:
    if not environment.git:
        return "no"
    if environment.worktree:
        return "yes, a linked worktree: stay in it, don't change to the main checkout"
    return "yes"


def _unix_syntax(environment: Environment) -> str:
    if environment.platform != "win32":
        return ""
    return " (use Unix shell syntax: forward slashes, /dev/null rather than NUL)"
