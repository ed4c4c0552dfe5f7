"""HTTP/1.1 on asyncio streams, as much of it as an API server needs."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

MAX_HEAD = 65536
READ_LIMIT = 64 * 1024 * 1024
"""Bytes of a body that are read at all; the API's own limit is lower and answered with 413."""


class BadRequest(Exception):
    """The bytes are no HTTP request."""


class Disconnected(Exception):
    """The client left."""


@dataclass(frozen=True, slots=True)
class HttpRequest:
    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    body: bytes


async def read_request(reader: asyncio.StreamReader, ahead: bytes = b"") -> HttpRequest | None:
    """The next request of the connection; ``None`` when the client has closed it.  ``ahead`` is what was read of it
    already."""
    try:
        head = ahead + await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError as end:
        if ahead or end.partial:
            raise BadRequest("the head is incomplete") from end
        return None
    lines = head.decode("latin-1").split("\r\n")
    try:
        method, target, _ = lines[0].split(" ")
    except ValueError as error:
        raise BadRequest(f"no request line: {lines[0]!r}") from error
    headers: dict[str, str] = {}
    for line in lines[1:]:
        if line:
            name, _, value = line.partition(":")
            name = name.strip().lower()
            headers[name] = f"{headers[name]}, {value.strip()}" if name in headers else value.strip()
    path, _, query = target.partition("?")
    return HttpRequest(method, path, query, headers, await _body(reader, headers))


async def _body(reader: asyncio.StreamReader, headers: Mapping[str, str]) -> bytes:
    if headers.get("transfer-encoding", "").lower() == "chunked":
        parts: list[bytes] = []
        while size := int((await reader.readline()).split(b";")[0], 16):
            parts.append(await reader.readexactly(size))
            await reader.readexactly(2)
        while await reader.readline() not in (b"\r\n", b""):
            pass
        return b"".join(parts)
    length = int(headers.get("content-length", "0"))
    if length > READ_LIMIT:
        raise BadRequest(f"a body of {length} bytes")
    return await reader.readexactly(length) if length else b""


class Response:
    """Writes one answer: ``send`` a whole one, or ``start`` a chunked one and ``chunk`` it."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, torn: int | None = None) -> None:
        self._reader = reader
        self._writer = writer
        self._torn = torn
        self.ahead = b""
        """What was read of the connection's next request."""
        self.started = False
        self.dead = False
        """The connection can't be used for another request."""

    async def send(self, status: int, body: bytes, headers: Mapping[str, str]) -> None:
        await self._write(self._head(status, {**headers, "content-length": str(len(body))}) + body)

    async def start(self, status: int, headers: Mapping[str, str]) -> None:
        await self._write(self._head(status, {**headers, "transfer-encoding": "chunked"}))

    async def chunk(self, data: bytes) -> None:
        size = self._torn or len(data)
        for start in range(0, len(data), size):
            piece = data[start : start + size]
            await self._write(b"%x\r\n%b\r\n" % (len(piece), piece))
            if self._torn:
                await asyncio.sleep(0)

    async def end(self) -> None:
        await self._write(b"0\r\n\r\n")

    def reset(self) -> None:
        """Ends the connection with a TCP reset: what is still unsent is lost."""
        self.dead = True
        sock = self._writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._writer.transport.abort()

    async def cut(self) -> None:
        """Ends the connection in order, wherever the body stands."""
        self.dead = True
        await self._writer.drain()
        self._writer.close()

    async def gone(self) -> None:
        """Returns when the client has left.  The first byte of a next request, which may come before this is cancelled,
        is kept in ``ahead``."""
        try:
            self.ahead = await self._reader.read(1)
        except ConnectionError:
            return
        if self.ahead:
            await asyncio.Event().wait()

    def _head(self, status: int, headers: Mapping[str, str]) -> bytes:
        self.started = True
        try:
            phrase = HTTPStatus(status).phrase
        except ValueError:
            phrase = "Error"
        lines = [f"HTTP/1.1 {status} {phrase}", *(f"{k}: {v}" for k, v in headers.items())]
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")

    async def _write(self, data: bytes) -> None:
        if self._writer.transport.is_closing():
            self.dead = True
            raise Disconnected
        try:
            self._writer.write(data)
            await self._writer.drain()
        except ConnectionError as error:
            self.dead = True
            raise Disconnected from error


def encode(value: Any) -> bytes:
    """JSON as UTF-8; lone surrogates, which UTF-8 can't carry, as escapes."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8")
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":")).encode("ascii")


def sse(name: str, data: Any) -> bytes:
    return b"event: " + name.encode() + b"\ndata: " + encode(data) + b"\n\n"
