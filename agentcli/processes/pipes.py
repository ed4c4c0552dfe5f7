"""The ends of pipes that agentcli holds, as asyncio protocols."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable

STREAM_LIMIT = 16 * 1024 * 1024
"""Longest line, in bytes, that a piped stream can be read by."""


class Drain(asyncio.Protocol):
    """Hands every chunk to ``sink``; ``done`` is called once, when the other end is closed by everybody."""

    def __init__(self, sink: Callable[[bytes], None], done: Callable[[], None]) -> None:
        self._sink = sink
        self._done = done

    def data_received(self, data: bytes) -> None:
        self._sink(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self._done()


class Lines(asyncio.Protocol):
    """Hands every whole line, without its end, to ``sink``."""

    def __init__(self, sink: Callable[[str], None], done: Callable[[], None]) -> None:
        self._sink = sink
        self._done = done
        self._rest = b""

    def data_received(self, data: bytes) -> None:
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            self._sink(line.decode())

    def connection_lost(self, exc: Exception | None) -> None:
        self._done()


class Input(asyncio.BaseProtocol):
    """The writing end of a pipe, with back-pressure."""

    def __init__(self) -> None:
        self._writable = asyncio.Event()
        self._writable.set()
        self._transport: asyncio.WriteTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.WriteTransport)
        self._transport = transport

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self._writable.set()

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    @property
    def closed(self) -> bool:
        """Whether nothing can be written any more."""
        return self._transport is None or self._transport.is_closing()

    def send(self, data: bytes) -> None:
        """Queues without waiting; nothing happens when the reader is gone."""
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(data)

    async def write(self, data: bytes) -> None:
        """Writes, and waits while the reader is slow.  ``BrokenPipeError`` when it is gone."""
        if self.closed:
            raise BrokenPipeError("the process no longer reads")
        self.send(data)
        await self._writable.wait()

    def close(self) -> None:
        """End-of-file for the reader, after what is queued."""
        if self._transport is not None:
            self._transport.close()

    def abort(self) -> None:
        """Closes at once; what is queued is dropped."""
        transport = self._transport
        if transport is not None and (not transport.is_closing() or transport.get_write_buffer_size()):
            transport.abort()


async def read_end(descriptor: int, protocol: asyncio.Protocol) -> asyncio.ReadTransport:
    """Attaches the protocol to a pipe's reading end, which it owns from here on."""
    loop = asyncio.get_running_loop()
    transport, _ = await loop.connect_read_pipe(lambda: protocol, os.fdopen(descriptor, "rb", buffering=0))
    return transport


async def write_end(descriptor: int) -> Input:
    """Attaches to a pipe's writing end, which is owned from here on."""
    loop = asyncio.get_running_loop()
    _, protocol = await loop.connect_write_pipe(Input, os.fdopen(descriptor, "wb", buffering=0))
    return protocol


async def stream(descriptor: int) -> tuple[asyncio.StreamReader, asyncio.ReadTransport]:
    """A pipe's reading end as a stream with back-pressure."""
    reader = asyncio.StreamReader(limit=STREAM_LIMIT)
    return reader, await read_end(descriptor, asyncio.StreamReaderProtocol(reader))
