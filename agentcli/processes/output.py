"""Collecting what a process writes, with bounded memory: head and tail here, the whole in a private file."""

from __future__ import annotations

import os
import tempfile
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Limits:
    """In bytes.  ``memory``: up to here the output is kept whole in memory; above, half of it from each end, and the
    whole in a file of at most ``file``.  A process that writes more than ``kill`` is ended."""

    memory: int = 2 * MIB
    file: int = 64 * MIB
    kill: int = 5_000_000_000


@dataclass(frozen=True, slots=True)
class Output:
    """What was collected.  ``tail`` is empty while ``head`` holds everything.

    ``file`` holds the first ``file_bytes`` of the ``total``; ``None`` if all is in ``head`` or no file could be
    written (``file_error`` says why).
    """

    head: bytes = b""
    tail: bytes = b""
    total: int = 0
    file: Path | None = None
    file_bytes: int = 0
    file_error: str = ""

    @property
    def dropped(self) -> int:
        """Bytes between ``head`` and ``tail``."""
        return self.total - len(self.head) - len(self.tail)

    @property
    def text(self) -> str:
        """Head and tail as text, invalid UTF-8 replaced; a line between them says what is missing."""
        if not self.dropped:
            return (self.head + self.tail).decode("utf-8", "replace")
        gap = f"\n[… {self.dropped:,} bytes left out …]\n"
        return self.head.decode("utf-8", "replace") + gap + self.tail.decode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class Page:
    """A part of the output from some offset on; ``skipped`` bytes before ``data`` are no longer kept anywhere."""

    data: bytes
    next_offset: int
    skipped: int


class Collector:
    """Takes the bytes of one stream.  ``directory`` is asked for when a file is needed."""

    def __init__(
        self,
        limits: Limits,
        directory: Callable[[], Path],
        *,
        on_data: Callable[[bytes], None] | None = None,
        on_flood: Callable[[], None] | None = None,
    ) -> None:
        self._limits = limits
        self._directory = directory
        self._on_data = on_data
        self._on_flood = on_flood
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._tail_bytes = 0
        self._descriptor: int | None = None
        self._file: Path | None = None
        self._file_bytes = 0
        self._file_error = ""
        self._closed = False
        self.total = 0

    def feed(self, data: bytes) -> None:
        """Takes a chunk.  Never raises for what the file system says; after ``close`` it does nothing."""
        if self._closed:
            return
        before = self.total
        self.total += len(data)
        if before <= self._limits.memory:
            self._head += data
            if self.total > self._limits.memory:
                self._overflow()
        else:
            self._write(data)
            self._keep_tail(data)
        if self._on_data:
            self._on_data(data)
        if before <= self._limits.kill < self.total and self._on_flood:
            self._on_flood()

    def output(self) -> Output:
        """Everything so far."""
        return Output(
            bytes(self._head), b"".join(self._tail), self.total, self._file, self._file_bytes, self._file_error
        )

    def read(self, offset: int, size: int) -> Page:
        """At most ``size`` bytes from ``offset`` on, from memory or from the file."""
        if offset < len(self._head):
            data = bytes(self._head[offset : offset + size])
            return Page(data, offset + len(data), 0)
        if self._file is not None and offset < self._file_bytes:
            try:
                with self._file.open("rb") as file:
                    file.seek(offset)
                    data = file.read(min(size, self._file_bytes - offset))
                return Page(data, offset + len(data), 0)
            except OSError as error:
                self._file_error = error.strerror or str(error)
        start = max(offset, self.total - self._tail_bytes)
        kept = b"".join(self._tail)
        data = kept[start - (self.total - self._tail_bytes) :][:size]
        return Page(data, start + len(data), start - offset)

    def close(self) -> None:
        """Nothing more is collected; what was stays."""
        self._closed = True
        self._close_file()

    def discard(self) -> None:
        """Closes, forgets everything and removes the file."""
        self.close()
        self._head.clear()
        self._tail.clear()
        self._tail_bytes = 0
        if self._file is not None:
            self._file.unlink(missing_ok=True)
            self._file = None

    def _overflow(self) -> None:
        """The output is more than memory should hold: all of it goes to the file from here on."""
        try:
            self._descriptor, name = tempfile.mkstemp(prefix="output-", suffix=".txt", dir=self._directory())
            self._file = Path(name)
        except OSError as error:
            self._file_error = error.strerror or str(error)
        whole = bytes(self._head)
        self._write(whole)
        del self._head[self._limits.memory // 2 :]
        self._keep_tail(whole[len(self._head) :])

    def _write(self, data: bytes) -> None:
        if self._descriptor is None:
            return
        rest = memoryview(data)[: self._limits.file - self._file_bytes]
        try:
            while rest:
                written = os.write(self._descriptor, rest)
                self._file_bytes += written
                rest = rest[written:]
        except OSError as error:
            self._file_error = error.strerror or str(error)
            self._close_file()
        if self._file_bytes >= self._limits.file:
            self._close_file()

    def _keep_tail(self, data: bytes) -> None:
        room = self._limits.memory // 2
        self._tail.append(data)
        self._tail_bytes += len(data)
        while self._tail and self._tail_bytes - len(self._tail[0]) >= room:
            self._tail_bytes -= len(self._tail.popleft())
        if self._tail_bytes > room:
            first = self._tail[0][self._tail_bytes - room :]
            self._tail[0] = first
            self._tail_bytes = room

    def _close_file(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
