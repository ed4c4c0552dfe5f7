"""One owner per session file: two terminals never append to the same one.

The lock is the kernel's (``flock`` on ``<id>.lock`` beside the session file), so that it ends with the process that
holds it, however that ends; the text inside only says who it is.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path

from agentcli.paths import private_directory

if sys.platform != "win32":
    import fcntl


@dataclass(frozen=True, slots=True)
class Owner:
    """Who has the session open: process id and local time (ISO 8601) since when, as far as they could be read."""

    pid: int | None
    since: str

    def __str__(self) -> str:
        who = f"process {self.pid}" if self.pid else "another process"
        return f"{who} since {self.since[:16].replace('T', ' ')}" if self.since else who


class SessionLock:
    """Held until ``release``.  Where the file system knows no locks, it is not exclusive: ``exclusive`` says so."""

    def __init__(self, path: Path, descriptor: int | None) -> None:
        self.path = path
        self._descriptor = descriptor

    @property
    def exclusive(self) -> bool:
        return self._descriptor is not None

    def release(self) -> None:
        """Safe to call twice."""
        if self._descriptor is None:
            return
        self.path.unlink(missing_ok=True)
        os.close(self._descriptor)
        self._descriptor = None


def lock_path(session: Path) -> Path:
    return session.with_suffix(".lock")


def acquire(session: Path, *, since: str) -> SessionLock | Owner:
    """The lock, or who holds it.  A lock of a dead process is no obstacle."""
    path = lock_path(session)
    while True:
        try:
            private_directory(path.parent)
            flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
            descriptor = os.open(path, flags, 0o600)
        except OSError:
            return SessionLock(path, None)  # nothing can be stored here; the journal says so
        state = _try_lock(descriptor)
        if state == "taken":
            os.close(descriptor)
            return _read_owner(path)
        if state == "unsupported":
            os.close(descriptor)
            return SessionLock(path, None)
        if _same_file(path, descriptor):
            _write_owner(descriptor, since)
            return SessionLock(path, descriptor)
        os.close(descriptor)  # its owner removed it between open and lock: take the new one


def owner(session: Path) -> Owner | None:
    """Who has the session open; ``None`` when nobody has."""
    path = lock_path(session)
    try:
        descriptor = os.open(path, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
    except OSError:
        return None
    try:
        return _read_owner(path) if _try_lock(descriptor) == "taken" else None
    finally:
        os.close(descriptor)


def _try_lock(descriptor: int) -> str:
    if sys.platform == "win32":
        return "unsupported"
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return "taken"
    except OSError:
        return "unsupported"
    return "held"


def _same_file(path: Path, descriptor: int) -> bool:
    try:
        found = path.stat()
    except FileNotFoundError:
        return False
    ours = os.fstat(descriptor)
    return (found.st_dev, found.st_ino) == (ours.st_dev, ours.st_ino)


def _write_owner(descriptor: int, since: str) -> None:
    data = json.dumps({"pid": os.getpid(), "since": since}).encode()
    try:
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, data, 0)
    except OSError:
        return  # a full disk: the lock holds all the same, only the text is missing


def _read_owner(path: Path) -> Owner:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        return Owner(int(found["pid"]), str(found["since"]))
    except (OSError, ValueError, KeyError, TypeError):
        return Owner(None, "")
