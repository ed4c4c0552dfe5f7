"""Opening, continuing and forking sessions of one directory."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from agentcli.errors import UserError
from agentcli.files import write_private
from agentcli.messages import Json
from agentcli.paths import private_directory, project_slug
from agentcli.ports.sessions import Clock
from agentcli.sessions.index import SessionInfo, list_sessions
from agentcli.sessions.journal import FileJournal, MemoryJournal
from agentcli.sessions.load import Loaded, load
from agentcli.sessions.lock import Owner, SessionLock, acquire

J = TypeVar("J", FileJournal, MemoryJournal)
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,127}")


class SessionOwned(UserError):
    """The session is open in another process."""

    def __init__(self, session_id: str, owner: Owner) -> None:
        super().__init__(
            f"Session {session_id} is open in {owner}. Close it there, or continue a copy of it with --fork-session."
        )
        self.session_id = session_id
        self.owner = owner


@dataclass(slots=True)
class OpenSession:
    """A session that this process owns.  ``loaded`` is ``None`` for a new one."""

    id: str
    journal: FileJournal | MemoryJournal
    path: Path | None = None
    loaded: Loaded | None = None
    lock: SessionLock | None = None

    @property
    def directory(self) -> Path | None:
        """Where the session's own files go (oversized results, scratch); not made yet."""
        return self.path.with_suffix("") if self.path else None

    @property
    def _spoken(self) -> bool:
        return not isinstance(self.journal, FileJournal) or self.journal.spoken

    def close(self, reason: str = "other") -> None:
        """The last entry, then the file and its lock are let go.  A new session in which nothing was said leaves no
        file.  Safe to call twice."""
        if self.lock is not None or isinstance(self.journal, MemoryJournal):
            self.journal.append("end", {"reason": reason})
        self.journal.close()
        if self.lock is not None and self.loaded is None and self.path and not self._spoken:
            _remove(self.path)
        if self.lock is not None:
            self.lock.release()
            self.lock = None


class SessionStore:
    """``home`` is ``AGENTCLI_HOME`` (``None``: nothing is stored); ``notice`` gets a sentence when storing fails."""

    def __init__(
        self, home: Path | None, cwd: Path, *, clock: Clock, notice: Callable[[str], None] = lambda text: None
    ) -> None:
        self.home = home
        self.cwd = cwd
        self._clock = clock
        self._notice = notice

    @property
    def folder(self) -> Path | None:
        return self.home / "projects" / project_slug(self.cwd) if self.home else None

    def list(self) -> list[SessionInfo]:
        """This directory's sessions, newest first."""
        return list_sessions(self.folder, cwd=self.cwd) if self.folder else []

    def create(self, facts: Json, *, session_id: str | None = None) -> OpenSession:
        """A new session.  ``facts`` go into its first entry (version, model, start date).  ``UserError`` for an id that
        can't be a file name or is there already."""
        id = session_id or str(uuid.uuid4())
        if not _ID.fullmatch(id):
            raise UserError(f"{id!r} can't be a session id: letters, digits, '-' and '_' only, best a UUID.")
        if self.folder is None:
            return OpenSession(id, self._begin(MemoryJournal(), id, facts))
        path = self.folder / f"{id}.jsonl"
        if os.path.lexists(path):  # False, not an error, where the directory is closed to us: then nothing is stored
            raise UserError(f"There is a session {id} already. Continue it with --resume {id}, or choose another id.")
        return self._open(path, id, facts)

    def resume(self, info: SessionInfo, facts: Json) -> OpenSession:
        """Takes an existing session on.  ``SessionOwned`` while another process has it open; ``UserError`` if it can't
        be read."""
        lock = self._lock(info.path, info.id)
        try:
            loaded = load(info.path)
            opened = self._open(info.path, info.id, {**facts, "resumed": True}, lock=lock)
            opened.loaded = loaded
            opened.journal.known_prefix(loaded.prefix)
        except OSError as error:
            lock.release()
            raise UserError(f"The session {info.path} can't be read: {error.strerror or error}.") from error
        except BaseException:
            lock.release()  # else this process would keep others from a session that it does not have
            raise
        return opened

    def fork(self, info: SessionInfo, facts: Json) -> OpenSession:
        """A new session that begins as a copy of another; the other is not touched, open or not."""
        id = str(uuid.uuid4())
        folder = self.folder or info.path.parent
        path = folder / f"{id}.jsonl"
        try:
            private_directory(folder)
            write_private(path, _whole_lines(info.path.read_bytes()))
            loaded = load(path)
        except OSError as error:
            raise UserError(f"The session {info.path} can't be copied: {error.strerror or error}.") from error
        opened = self._open(path, id, {**facts, "forked_from": info.id})
        opened.loaded = loaded
        opened.journal.known_prefix(loaded.prefix)
        return opened

    def _lock(self, path: Path, id: str) -> SessionLock:
        lock = acquire(path, since=self._clock.now().isoformat(timespec="seconds"))
        if isinstance(lock, Owner):
            raise SessionOwned(id, lock)
        return lock

    def _open(self, path: Path, id: str, facts: Json, *, lock: SessionLock | None = None) -> OpenSession:
        held = lock or self._lock(path, id)
        journal = FileJournal(path, clock=self._clock, notice=self._notice)
        try:
            return OpenSession(id, self._begin(journal, id, facts), path, lock=held)
        except BaseException:
            journal.close()
            held.release()
            raise

    def _begin(self, journal: J, id: str, facts: Json) -> J:
        journal.append("start", {"session_id": id, "cwd": os.fspath(self.cwd), **facts})
        return journal


def _whole_lines(data: bytes) -> bytes:
    """Without a last line that its owner is still writing."""
    return data[: data.rfind(b"\n") + 1]


def _remove(path: Path) -> None:
    """A session without a word: its file, and its own directory with what start and end left there."""
    with contextlib.suppress(OSError):
        path.unlink()
        shutil.rmtree(path.with_suffix(""), ignore_errors=True)
