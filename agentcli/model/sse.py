"""Server-sent events from raw bytes.

Lines end at ``\\n``, ``\\r\\n`` or ``\\r`` only (WHATWG HTML, section 9.2).  Line readers that split like
``str.splitlines`` also cut at U+2028, U+0085 and others, which may stand unescaped inside a JSON string.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_LINE_END = re.compile(rb"\r\n|\n|\r")
MAX_EVENT = 64 * 1024 * 1024
"""Bytes of one event; more is a server that does not speak the protocol."""


class SseError(ValueError):
    """The bytes are not a stream of server-sent events."""


@dataclass(frozen=True, slots=True)
class ServerEvent:
    name: str
    data: str


@dataclass(slots=True)
class SseParser:
    """``feed`` it chunks as they come; it returns the events that are complete."""

    _buffer: bytes = b""
    _name: str = ""
    _data: list[str] = field(default_factory=list)
    _size: int = 0
    _carriage: bool = False
    """The last byte was a carriage return: it ended its line, whatever comes."""

    def feed(self, chunk: bytes) -> list[ServerEvent]:
        """``SseError`` on bytes that are not UTF-8, or an event over ``MAX_EVENT``."""
        if self._carriage and chunk.startswith(b"\n"):
            chunk = chunk[1:]  # the second half of a "\r\n" of which the first ended a line already
            self._carriage = False
        if not chunk:
            return []
        self._carriage = chunk.endswith(b"\r")
        lines = _LINE_END.split(self._buffer + chunk)
        self._buffer = lines.pop()
        self._size += len(chunk)
        if self._size > MAX_EVENT:
            raise SseError(f"one event has more than {MAX_EVENT:,} bytes")
        return [event for event in map(self._line, lines) if event is not None]

    def _line(self, line: bytes) -> ServerEvent | None:
        if not line:
            return self._dispatch()
        try:
            text = line.decode("utf-8")
        except UnicodeDecodeError as error:
            raise SseError(f"not UTF-8: {error.reason} in {line[:40]!r}") from error
        name, _, value = text.partition(":")
        value = value.removeprefix(" ")
        if name == "event":
            self._name = value
        elif name == "data":
            self._data.append(value)
        return None

    def _dispatch(self) -> ServerEvent | None:
        event = ServerEvent(self._name, "\n".join(self._data)) if self._data else None
        self._name, self._data, self._size = "", [], 0
        return event
