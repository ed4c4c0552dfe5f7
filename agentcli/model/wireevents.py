"""Events as they come in on the wire: what each must look like, and how long the next may take."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from agentcli.model.failures import broken_stream, from_event
from agentcli.model.sse import ServerEvent


@dataclass(slots=True)
class StallWatch:
    """The stall watchdog: content is progress; bytes that carry none (pings) are for at most twice the time."""

    stall: float
    _progress: float = field(default_factory=lambda: asyncio.get_running_loop().time())
    _bytes: float = field(default_factory=lambda: asyncio.get_running_loop().time())

    def progress(self) -> None:
        self._progress = self._bytes = asyncio.get_running_loop().time()

    def bytes_came(self) -> None:
        self._bytes = asyncio.get_running_loop().time()

    def left(self) -> float:
        now = asyncio.get_running_loop().time()
        return max(0.0, min(self._bytes + self.stall, self._progress + 2 * self.stall) - now)

    def idle(self) -> float:
        return asyncio.get_running_loop().time() - self._progress


_SHAPES: Mapping[str, str] = {
    "message_start": "message",
    "content_block_start": "content_block",
    "content_block_delta": "delta",
}
"""The object that each event carries."""
_PLACED = frozenset({"content_block_start", "content_block_delta", "content_block_stop"})


def read_event(event: ServerEvent, request_id: str | None) -> Any:
    """The event's JSON; ``None`` for a ping.  ``Failure`` for an error event or what can't be read."""
    try:
        value = json.loads(event.data)
    except (ValueError, RecursionError) as error:
        raise broken_stream(
            f"the stream could not be understood (event {event.name or '?'!r} is not JSON)", request_id=request_id
        ) from error
    kind = value.get("type") if isinstance(value, dict) else None
    if not isinstance(kind, str):
        raise broken_stream(
            f"the stream could not be understood (event {event.name or '?'!r} has no type)", request_id=request_id
        )
    if kind == "error":
        raise from_event(value, request_id=request_id)
    if (part := _misshapen(kind, value)) is not None:
        raise broken_stream(
            f"the stream could not be understood (event {kind!r} has no usable {part!r})", request_id=request_id
        )
    return None if kind == "ping" else value


def _misshapen(kind: str, value: Mapping[str, Any]) -> str | None:
    """The field without which a known event says nothing.  Events of kinds that we don't know may look as they like."""
    if kind in _PLACED and not isinstance(value.get("index"), int):
        return "index"
    part = _SHAPES.get(kind)
    return part if part and not isinstance(value.get(part), Mapping) else None
