"""Which files may hold instructions, in the order in which they are read.

Only the directories from the file system's root down to the start are looked at, and trees of rules: a project is
never searched.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from agentcli.memory.places import Places
from agentcli.memory.rules import MayFollow, find_rules
from agentcli.memory.values import Findings, Found, Scope, Skipped

PROJECT_FILES = ("CLAUDE.md", ".claude/CLAUDE.md")
AGENTS_FILE = "AGENTS.md"
LOCAL_FILE = "CLAUDE.local.md"


def start_files(places: Places, found: Findings, follow: MayFollow) -> list[Found]:
    """The organisation's file, the user's, then directory by directory; rules with and without ``paths``."""
    files = [Found(places.managed, "managed")] if _kind(places.managed) else []
    if not places.enabled:
        return files
    if "user" in places.sources and places.user is not None:
        files += _present([places.user / "CLAUDE.md"], "user", None, found)
        files += find_rules(places.user, found, scope="user", tree=None, follow=follow)
    for directory in [*places.chain(), *places.extra]:
        files += directory_files(directory, places, found, follow)
    return files


def directory_files(directory: Path, places: Places, found: Findings, follow: MayFollow) -> list[Found]:
    """One directory's files: those of the project, its rules, then the user's own for this project."""
    tree = places.tree_of(directory)
    files: list[Found] = []
    if "project" in places.sources:
        users = directory / ".claude" == places.user  # the user's own files, which have been found already
        names = PROJECT_FILES[:1] if users else PROJECT_FILES
        shared = _present([directory / name for name in names], "project", tree, found)
        if places.agents_md == "always" or (places.agents_md == "fallback" and not shared):
            shared += _present([directory / AGENTS_FILE], "project", tree, found)
        if not users:
            shared += find_rules(directory, found, scope="project", tree=tree, follow=follow)
        files += _of_other_checkout(shared, found) if places.of_main_checkout(directory) else shared
    if "local" in places.sources:
        files += _present([directory / LOCAL_FILE], "local", tree, found)
    return files


def candidates(places: Places) -> list[Path]:
    """Every place where a file or a tree of rules would count from the start on, whether there is one or not."""
    names = (*PROJECT_FILES, AGENTS_FILE, LOCAL_FILE, ".claude/rules")
    user = [places.user / "CLAUDE.md", places.user / "rules"] if places.user is not None else []
    return [places.managed, *user, *(d / name for d in (*places.chain(), *places.extra) for name in names)]


def identify(path: Path, places: Places) -> Found:
    """What a file that was loaded once is, by its place."""
    if path == places.managed:
        return Found(path, "managed")
    parts = path.parts
    is_rule = "rules" in parts[:-1]
    if places.user is not None and path.is_relative_to(places.user):
        return Found(path, "user", "rule" if is_rule else "file")
    scope: Scope = "local" if path.name == LOCAL_FILE else "project"
    base = path.parent
    if ".claude" in parts[:-1]:
        base = Path(*parts[: len(parts) - 1 - parts[::-1].index(".claude")])
    return Found(path, scope, "rule" if is_rule else "file", places.tree_of(base), base=base if is_rule else None)


def _present(paths: list[Path], scope: Scope, tree: Path | None, found: Findings) -> list[Found]:
    """Those of the paths that are files.  Whatever else has such a name is told."""
    files = []
    for path in paths:
        match _kind(path):
            case "file":
                files.append(Found(path, scope, tree=tree))
            case "":
                pass
            case words:
                found.skip(Skipped(path, scope, words))
    return files


def _kind(path: Path) -> str:
    """``file``, nothing where nothing is, else what is wrong with it."""
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return "is a link to nothing" if os.path.islink(path) else ""
    except PermissionError:
        return "can't be looked at (permission denied)"
    except OSError as error:
        return f"can't be read ({error.strerror})"
    if stat.S_ISDIR(mode):
        return "is a directory, not a file; ignored"
    return "file" if stat.S_ISREG(mode) else "is not a regular file; ignored"


def _of_other_checkout(files: list[Found], found: Findings) -> list[Found]:
    for file in files:
        words = "belongs to the main checkout around this work tree, which has files of its own"
        found.skip(Skipped(file.path, file.scope, words), level="note")
    return []
