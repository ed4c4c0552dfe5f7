"""Gives files back what they were, one by one, each atomically."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterable
from pathlib import Path

from agentcli.checkpoints.log import Log
from agentcli.checkpoints.objects import Objects
from agentcli.checkpoints.plan import Target
from agentcli.checkpoints.state import Change, FileState, read_state
from agentcli.files import create_file, replace_file
from agentcli.ports.checkpoints import FileStep, Rewound


def restore(targets: Iterable[Target], log: Log, objects: Objects, root: Path) -> Rewound:
    """What is there now is kept first, so that this can be taken back.  A file that fails does not stop the others."""
    done: list[FileStep] = []
    failed: list[tuple[Path, str]] = []
    for target in sorted(targets, key=_order):
        path = target.step.path
        try:
            _one(target, log, objects)
        except OSError as error:
            failed.append((path, error.strerror or str(error)))
            continue
        done.append(target.step)
        if target.wanted is None:
            _remove_empty(path.parent, root)
    return Rewound(tuple(sorted(done, key=lambda s: s.path)), tuple(failed))


def _order(target: Target) -> tuple[bool, int]:
    """Removals first, the deepest before all: a directory may stand where a file has to be."""
    depth = len(target.step.path.parts)
    return (target.wanted is not None, depth if target.wanted is not None else -depth)


def _one(target: Target, log: Log, objects: Objects) -> None:
    path, wanted = target.step.path, target.wanted
    if path.parent.resolve() != path.parent:
        raise OSError("a directory above it is a link now")
    present, data = read_state(path)
    if present != target.present:
        raise OSError("somebody else changed it meanwhile")
    content = objects.read(wanted.content) if wanted is not None else b""
    if data is not None:
        objects.write(data)
    log.before(path, present)
    try:
        _put(path, present, wanted, content)
    finally:
        log.after(Change(path, present, read_state(path)[0]))


def _put(path: Path, present: FileState | None, wanted: FileState | None, content: bytes) -> None:
    if wanted is None:
        path.unlink()
        return
    if present is None and os.path.isdir(path):
        path.rmdir()  # empty by now, or it stays
    if wanted.kind == "link":
        _link(path, content)
        return
    if present is not None and present.kind == "file":
        if present.content != wanted.content:
            replace_file(path, content)
    else:
        if present is not None:
            path.unlink()
        create_file(path, content)
    if (read_state(path)[0] or wanted).mode != wanted.mode:
        path.chmod(wanted.mode)


def _link(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.parent / f".agentcli-{secrets.token_hex(8)}.tmp"
    os.symlink(os.fsdecode(content), temporary)
    try:
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _remove_empty(directory: Path, root: Path) -> None:
    """Directories that are empty now, inside the project: git would not have kept them either."""
    with contextlib.suppress(OSError):
        while directory != root and directory.is_relative_to(root):
            directory.rmdir()
            directory = directory.parent
