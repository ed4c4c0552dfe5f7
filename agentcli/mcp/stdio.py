"""The transport of a server that runs as a child process: one JSON-RPC message per line.

The process belongs to the process manager, whose supervisor ends it and everything below it however agentcli ends.
What the server writes to standard error, and lines on standard output that are no messages, go to its log.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any

from agentcli.mcp.incoming import Incoming
from agentcli.mcp.serverlog import ServerLog
from agentcli.mcp.values import ServerEntry
from agentcli.processes import ProcessManager, Running, without_keys

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams

POLITE = 0.7
"""Seconds that a server has to go after its standard input was closed …"""
GRACE = 0.7
"""… and after TERM, before it is killed."""
_LAST_WORDS = 0.3
"""Seconds in which output is still read after the process has ended."""
_CHUNK = 64 * 1024


def child_environment(entry: ServerEntry, env: Mapping[str, str]) -> dict[str, str]:
    """What the server's process gets: this session's environment without the keys that agentcli signs in with, where
    it works, and the entry's own variables (which may name a key on purpose)."""
    base = without_keys(env, drop=("MCP_CLIENT_SECRET",))
    return {**base, "CLAUDE_PROJECT_DIR": str(entry.base), "AGENTCLI": "1", **entry.env}


class StdioTransport:
    """An asynchronous context manager as the package's client takes it; enter and leave it in one task.

    ``ended`` is set as soon as the server can't be talked to any more; ``ending`` then says why.
    """

    def __init__(
        self, processes: ProcessManager, entry: ServerEntry, *, env: Mapping[str, str], log: ServerLog
    ) -> None:
        self._processes = processes
        self._entry = entry
        self._env = env
        self._log = log
        self._incoming = Incoming(log)
        self._running: Running | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._why = ""
        """What was seen from outside; how the process ended says more."""
        self._fault = ""
        self.ended = asyncio.Event()

    async def __aenter__(self) -> TransportStreams:
        """Starts the process.  ``OSError`` if it can't be started."""
        import anyio

        entry = self._entry
        running = await self._processes.start(
            (entry.command, *entry.args),
            entry.base,
            env=child_environment(entry, self._env),
            stdin="pipe",
            stdout="pipe",
            stderr="pipe",
        )
        self._running = running
        self._log.note(f"started {entry.where} (process {running.pid})")
        into, incoming = anyio.create_memory_object_stream[Any](0)
        outgoing, out_of = anyio.create_memory_object_stream[Any](0)
        self._streams = (into, incoming, outgoing, out_of)
        reader = asyncio.create_task(self._read(running, into), name=f"mcp read {entry.name}")
        self._tasks = [
            reader,
            asyncio.create_task(self._write(running, out_of), name=f"mcp write {entry.name}"),
            asyncio.create_task(self._keep_errors(running), name=f"mcp errors {entry.name}"),
            asyncio.create_task(self._watch(running, reader), name=f"mcp watch {entry.name}"),
        ]
        return incoming, outgoing

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        running = self._running
        assert running is not None
        try:
            if running.stdin is not None:
                running.stdin.close()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(POLITE):
                    await running.wait()
        finally:
            running.order_end(grace=GRACE)
            try:
                await running.terminate(grace=GRACE)
            finally:
                for task in self._tasks:
                    task.cancel()
                await asyncio.gather(*self._tasks, return_exceptions=True)
                for stream in self._streams:
                    stream.close()
                if running.ended:
                    running.release()
                self._log.note(f"ended: {self.why()}")

    @property
    def started(self) -> bool:
        """Whether there is a process at all."""
        return self._running is not None

    def why(self) -> str:
        """How the server ended, or that it was ended by us."""
        running = self._running
        if running is not None and running.exited:
            finished = running.state()
            how = (
                f"was killed by signal {finished.signal}" if finished.signal else f"exited (code {finished.exit_code})"
            )
            return f"{self._fault}; it {how}" if self._fault else how
        return self._fault or self._why or "was closed"

    async def ending(self) -> str:
        """As ``why``, a moment later: a process that closes its output usually ends right behind it."""
        if self._running is not None:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_LAST_WORDS):
                    await self._running.wait()
        return self.why()

    async def _read(self, running: Running, into: Any) -> None:
        """Hands on every message; what is none is logged and skipped."""
        import anyio
        from mcp.shared.message import SessionMessage

        assert running.stdout is not None
        try:
            while line := await running.stdout.readline():
                for message in self._incoming.line(line):
                    await into.send(SessionMessage(message))
            self._why = self._why or "closed its output"
        except ValueError:
            self._fault = "wrote a line that is longer than 16 MB"
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            await self._drain(running)
        finally:
            self.ended.set()
            into.close()

    async def _drain(self, running: Running) -> None:
        """Nobody listens any more: a server that is still writing must not hang on a full pipe."""
        assert running.stdout is not None
        while await running.stdout.read(_CHUNK):
            pass

    async def _write(self, running: Running, out_of: Any) -> None:
        assert running.stdin is not None
        async for item in out_of:
            self._incoming.sent(item.message)
            line = item.message.model_dump_json(by_alias=True, exclude_unset=True)
            try:
                await running.stdin.write(line.encode("utf-8", "replace") + b"\n")
            except BrokenPipeError:
                self._why = self._why or "no longer reads its input"
                self._streams[0].close()
                self.ended.set()
                return

    async def _keep_errors(self, running: Running) -> None:
        assert running.stderr is not None
        while data := await running.stderr.read(_CHUNK):
            self._log.write(data)

    async def _watch(self, running: Running, reader: asyncio.Task[None]) -> None:
        """The end of the process is the end of the connection, even if a child of it holds the pipe open."""
        await running.wait()
        await asyncio.wait([reader], timeout=_LAST_WORDS)
        self._streams[0].close()
        self.ended.set()
