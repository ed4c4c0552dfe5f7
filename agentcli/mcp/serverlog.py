"""What a server writes beside the protocol: in a private file per server, never on the screen, never without end."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import time
from collections import deque
from pathlib import Path

from agentcli.files import open_private_append
from agentcli.paths import private_directory
from agentcli.text import one_line, strip_ansi

LIMIT = 2 * 1024 * 1024
"""Bytes of one file; then it becomes ``NAME.log.old`` and a new one begins."""
KEPT_LINES = 60
_LINE = 500


class ServerLog:
    """``directory`` is ``AGENTCLI_HOME/logs/mcp``; ``None`` where nothing is stored.  Never raises: a log that can't be
    written is kept in memory only."""

    def __init__(self, directory: Path | None, name: str) -> None:
        plain = re.sub(r"[^A-Za-z0-9_-]", "_", name)[:60]
        if plain != name:
            plain += "-" + hashlib.sha256(name.encode()).hexdigest()[:8]
        self.path = directory / f"{plain}.log" if directory else None
        self._descriptor: int | None = None
        self._size = 0
        self._lines: deque[str] = deque(maxlen=KEPT_LINES)
        self._rest = ""

    @property
    def tail(self) -> tuple[str, ...]:
        """The last lines, without control characters."""
        return (*self._lines, *((one_line(strip_ansi(self._rest), _LINE),) if self._rest.strip() else ()))

    def note(self, text: str) -> None:
        """A line of our own."""
        self.write(f"[agentcli {time.strftime('%Y-%m-%d %H:%M:%S')}] {one_line(text, 2_000)}\n".encode())

    def write(self, data: bytes) -> None:
        self._remember(data)
        try:
            self._store(data)
        except OSError:
            self.close()
            self.path = None

    def close(self) -> None:
        if self._descriptor is not None:
            with contextlib.suppress(OSError):
                os.close(self._descriptor)
            self._descriptor = None

    def _remember(self, data: bytes) -> None:
        text = self._rest + data[-64 * 1024 :].decode("utf-8", "replace")
        *lines, rest = text.split("\n")
        self._rest = rest[-4 * _LINE :]
        self._lines.extend(one_line(strip_ansi(line), _LINE) for line in lines if line.strip())

    def _store(self, data: bytes) -> None:
        if self.path is None:
            return
        if self._descriptor is None:
            private_directory(self.path.parent)
            self._descriptor = open_private_append(self.path)
            self._size = os.fstat(self._descriptor).st_size
        if self._size + len(data) > LIMIT and self._size:
            self.close()
            self.path.replace(self.path.with_name(self.path.name + ".old"))
            self._descriptor = open_private_append(self.path)
            self._size = 0
        os.write(self._descriptor, data[-LIMIT:])
        self._size += len(data)
