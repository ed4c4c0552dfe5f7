"""Standard output: whole lines in order, written by a thread, so that a slow reader never stops the session.

Clients of the protocol take lines of at most 1 MiB.  A longer one is cut at its longest texts, and says so.
"""

from __future__ import annotations

import asyncio
import json
import os
import select
import threading
from bisect import bisect_right
from collections.abc import Callable, Mapping
from queue import SimpleQueue
from typing import Any

from agentcli.text import clean_json

LONGEST_LINE = 1_000_000
"""Bytes with the line feed; clients give up at 1,048,576."""
SHORTEST_CUT = 2_000
"""Characters that are left of a text that is cut."""
CUT = "… [{dropped:,} characters are left out here: a line of this protocol holds at most 1 MiB]"
_WHOLE = frozenset({"structured_output", "uuid", "session_id", "signature"})
"""Fields that are never cut: without a part of them they would be wrong."""


class Output:
    """Writes to a file descriptor.  ``gone`` once the reader has closed it; ``on_gone`` is told on the event loop."""

    def __init__(self, descriptor: int, *, on_gone: Callable[[], None] | None = None) -> None:
        self.gone = False
        self._descriptor = descriptor
        self._on_gone = on_gone
        self._queue: SimpleQueue[bytes | None] = SimpleQueue()
        self._loop = asyncio.get_running_loop()
        self._done: asyncio.Future[None] = self._loop.create_future()
        self._thread = threading.Thread(target=self._pump, name="output", daemon=True)
        self._thread.start()

    def text(self, text: str) -> None:
        self._queue.put(text.encode("utf-8", "replace"))

    def line(self, value: Mapping[str, Any]) -> None:
        """One JSON object on one line."""
        self._queue.put(encode_line(value))

    def abandon(self) -> None:
        """``close`` waits no longer: the reader takes nothing and the program has to end."""
        if not self._done.done():
            self._done.set_result(None)

    async def close(self) -> None:
        """Until everything is written or the reader is gone."""
        self._queue.put(None)
        await self._done

    def _pump(self) -> None:
        while (data := self._queue.get()) is not None:
            if not self.gone and not _written(self._descriptor, data):
                self.gone = True
                self._tell(self._on_gone)
        self._tell(self.abandon)

    def _tell(self, call: Callable[[], None] | None) -> None:
        if call is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(call)


def encode_line(value: Mapping[str, Any]) -> bytes:
    """The line as UTF-8 with its line feed, at most ``LONGEST_LINE`` bytes where cutting texts can do it."""
    plain = clean_json(dict(value))
    data = _dumps(plain)
    while len(data) > LONGEST_LINE:
        if not _shorten(plain, len(data) - LONGEST_LINE):
            break
        data = _dumps(plain)
    return data


def _dumps(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, default=str).encode("utf-8") + b"\n"


def _shorten(value: object, excess: int) -> bool:
    """Cuts the longest text of the line in place; false when there is none left that could be cut."""
    found = max(_texts(value), key=lambda place: len(place[0][place[1]]), default=None)
    if found is None or len(found[0][found[1]]) <= SHORTEST_CUT:
        return False
    holder, key = found
    text = holder[key]
    if key == "data" and isinstance(holder, dict) and holder.get("type") == "base64":
        holder.update({"type": "text", "media_type": "text/plain", "data": CUT.format(dropped=len(text))})
        return True
    room = len(_dumps(text)) - excess - len(CUT.encode()) - 20
    keep = bisect_right(range(len(text)), room, lo=SHORTEST_CUT, key=lambda size: len(_dumps(text[:size]))) - 1
    holder[key] = text[:keep] + CUT.format(dropped=len(text) - keep)
    return True


def _texts(value: object) -> list[tuple[Any, Any]]:
    """(container, key) of every text that may be cut."""
    places: list[tuple[Any, Any]] = []
    open_values: list[Any] = [value]
    while open_values:
        current = open_values.pop()
        items = current.items() if isinstance(current, dict) else enumerate(current)
        for key, item in items:
            if key in _WHOLE:
                continue
            if isinstance(item, str):
                places.append((current, key))
            elif isinstance(item, dict | list):
                open_values.append(item)
    return places


def _written(descriptor: int, data: bytes) -> bool:
    """Whether all of it could be written."""
    rest = memoryview(data)
    while rest:
        try:
            rest = rest[os.write(descriptor, rest) :]
        except BlockingIOError:  # a descriptor that the parent has made non-blocking
            select.select([], [descriptor], [])
        except OSError:
            return False
    return True
