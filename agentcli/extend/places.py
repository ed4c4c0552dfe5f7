"""Where definitions are looked for: the project's ``.claude`` directories, nearest first, and the user's own."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Scope = Literal["session", "project", "user", "built-in"]
"""``session``: given on the command line."""
MAX_FILES = 2_000
MAX_DEPTH = 8
_BUILTIN = Path(__file__).with_name("builtin")


@dataclass(frozen=True, slots=True)
class Place:
    """One ``.claude`` directory.  ``trusted``: what it brings may run something or spare a question; ``root`` is the
    directory that files of an untrusted place must really lie in."""

    directory: Path
    scope: Scope
    trusted: bool
    root: Path


BUILT_IN = Place(_BUILTIN, "built-in", trusted=True, root=_BUILTIN)


@dataclass(frozen=True, slots=True)
class FoundFile:
    """``stamp`` changes with the content: modification time, size and inode.  ``relative`` is below the directory that
    was searched."""

    path: Path
    relative: str
    stamp: tuple[int, int, int]


def project_root(cwd: Path) -> Path:
    """The work tree that holds the directory; the directory itself where there is none."""
    here = cwd.resolve()
    return next((d for d in (here, *here.parents) if os.path.exists(d / ".git")), here)


def find_places(cwd: Path, *, user: Path | None, project: bool = True, trusted: bool = False) -> tuple[Place, ...]:
    """Nearest first, the user's last.  The walk up ends at the project's root: nothing from above it is taken in."""
    root, found = project_root(cwd), []
    own = user.resolve() if user is not None else None
    directory = cwd.resolve()
    while project:
        place = directory / ".claude"
        if place != own:
            found.append(Place(place, "project", trusted, root))
        if directory == root:
            break
        directory = directory.parent
    if user is not None:
        found.append(Place(user, "user", trusted=True, root=user))
    return tuple(found)


def nested_places(paths: tuple[Path, ...], root: Path, known: frozenset[Path], *, trusted: bool) -> list[Place]:
    """``.claude`` directories between files below the root and the root, that are not known yet."""
    found: dict[Path, Place] = {}
    for path in paths:
        if not path.is_relative_to(root):
            continue
        for directory in path.parents:
            place = directory / ".claude"
            if place not in known and place not in found and os.path.isdir(place):
                found[place] = Place(place, "project", trusted, root)
            if directory == root:
                break
    return list(found.values())


def markdown_files(place: Place, folder: str) -> Iterator[FoundFile]:
    """Every ``.md`` file below a folder of the place, sorted by path; linked directories are followed once."""
    found = list(_walk(place.directory / folder, "", set(), MAX_DEPTH))
    yield from sorted(found[:MAX_FILES], key=lambda f: f.relative)


def skill_files(place: Place) -> Iterator[FoundFile]:
    """``skills/NAME/SKILL.md``, sorted by name."""
    names = sorted(entry.name for entry in _entries(place.directory / "skills") if entry.name[0] != ".")
    for name in names[:MAX_FILES]:
        path = place.directory / "skills" / name / "SKILL.md"
        stamp = _stamp(path)
        if stamp is not None:
            yield FoundFile(path, name, stamp)


def outside(file: FoundFile, place: Place) -> bool:
    """Whether a link of an untrusted place leads out of the project: its target is not to be read."""
    return not place.trusted and not file.path.resolve().is_relative_to(place.root.resolve())


def _walk(directory: Path, prefix: str, seen: set[tuple[int, int]], depth: int) -> Iterator[FoundFile]:
    for entry in _entries(directory):
        if entry.name.startswith("."):
            continue
        try:
            found = entry.stat()
        except OSError:  # a link to nothing
            continue
        if stat.S_ISDIR(found.st_mode):
            identity = (found.st_dev, found.st_ino)
            if depth and identity not in seen:
                seen.add(identity)
                yield from _walk(Path(entry.path), f"{prefix}{entry.name}/", seen, depth - 1)
        elif entry.name.endswith(".md") and stat.S_ISREG(found.st_mode):
            stamp = (found.st_mtime_ns, found.st_size, found.st_ino)
            yield FoundFile(Path(entry.path), prefix + entry.name, stamp)


def _entries(directory: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(directory) as entries:
            return list(entries)
    except OSError:  # not there, not a directory, not ours to read
        return []


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return (found.st_mtime_ns, found.st_size, found.st_ino) if stat.S_ISREG(found.st_mode) else None
