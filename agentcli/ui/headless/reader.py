"""Standard input as lines, read by a thread: every kind of descriptor works, and nothing waits for a silent client."""

from __future__ import annotations

import asyncio
import os
import threading
from collections import deque

LONGEST_INPUT = 10_000_000
"""Bytes of one line (the field's documented limit for standard input)."""
_CHUNK = 65_536


HEAD = 1_000


class Overlong(bytes):
    """The first ``HEAD`` bytes of a line that was longer than ``LONGEST_INPUT``; the rest is gone."""


class LineReader:
    """``next`` gives line after line, ``None`` at the end.  A descriptor that can't be read is an end too."""

    def __init__(self, descriptor: int | None) -> None:
        self._descriptor = descriptor
        self._lines: deque[bytes] = deque()
        self._parts: list[bytes] = []
        self._head = b""
        self._size = 0
        self._ended = descriptor is None
        self._news = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        if descriptor is not None:
            threading.Thread(target=self._pump, args=(descriptor,), name="input", daemon=True).start()

    async def next(self) -> bytes | None:
        while not self._lines:
            if self._ended:
                return None
            self._news.clear()
            await self._news.wait()
        return self._lines.popleft()

    def _pump(self, descriptor: int) -> None:
        data = b"x"
        while data:
            try:
                data = os.read(descriptor, _CHUNK)
            except OSError:
                data = b""
            try:
                self._loop.call_soon_threadsafe(self._feed, data)
            except RuntimeError:  # the loop is closed: nobody listens any more
                return

    def _feed(self, data: bytes) -> None:
        *whole, rest = data.split(b"\n")
        for piece in whole:
            self._add(piece)
            self._finish()
        self._add(rest)
        if not data:
            self._finish()
            self._ended = True
        self._news.set()

    def _add(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size <= LONGEST_INPUT:
            self._parts.append(piece)
        elif self._parts:
            self._head = b"".join(self._parts)[:HEAD]
            self._parts.clear()

    def _finish(self) -> None:
        line = b"".join(self._parts).strip()
        if self._size > LONGEST_INPUT:
            self._lines.append(Overlong(self._head))
        elif line:
            self._lines.append(line)
        self._parts.clear()
        self._size = 0
