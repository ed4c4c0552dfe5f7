"""One server from start to end, owned by one task: connect, watch, connect again, close.

The package's client must be entered and left in the same task; calls come from any other.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any

from agentcli.mcp.client import CLOSED, TIMED_OUT, Host, Link, Progress, load_sdk, telling
from agentcli.mcp.fresh import Lists
from agentcli.mcp.limits import STEADY, TRIES
from agentcli.mcp.listing import cut_instructions, list_tools
from agentcli.mcp.serverlog import ServerLog
from agentcli.mcp.values import (
    ClientOver,
    Hopeless,
    NeedsLogin,
    ServerEntry,
    ServerError,
    ServerGone,
    ServerTool,
    State,
)
from agentcli.text import clean, plural

if TYPE_CHECKING:
    from mcp import Client

Report = Callable[[str, str], None]
"""``(severity, text)``: something the user should know."""
_SESSION_OVER = "session terminated"


class Connection:
    """``state`` and ``reason`` say how things stand; ``lists.inventory`` what the server offers, as last listed."""

    def __init__(self, host: Host, entry: ServerEntry, *, report: Report, log: ServerLog) -> None:
        self.entry = entry
        self.log = log
        self.state: State = "pending"
        self.reason = ""
        self.lists = Lists(log)
        self.instructions = ""
        self.identity: Mapping[str, str] = {"name": "", "version": ""}
        """What the server calls itself."""
        self._host = host
        self._report = report
        self._task: asyncio.Task[None] | None = None
        self._stop = asyncio.Event()
        self._wake = asyncio.Event()
        self._edge = asyncio.Event()
        self._failures = 0
        self._live: Client | None = None
        self._link = Link(host, entry, log)
        self._lost: asyncio.Future[str] | None = None
        self._check: asyncio.Task[None] | None = None
        self.calls = 0
        """Calls that have ended."""

    # --- life -------------------------------------------------------------------------------------------------------

    def start(self) -> None:
        self._task = asyncio.create_task(self._own(), name=f"mcp {self.entry.name}")

    async def first(self) -> None:
        """Until it is connected, or has shown that it will not be soon: it failed, or twice in a row."""
        while self.state == "pending" and self._failures < 2:
            await self._edge.wait()

    async def close(self) -> None:
        """Ends the session and the process.  Safe to call twice."""
        self._stop.set()
        if self._task is not None:
            if self._live is None:  # nothing orderly to end: it is connecting, or waiting to
                self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        self._set("disabled" if self.state == "disabled" else "failed", "closed")
        self.log.close()

    def abandon(self) -> None:
        """Stops waiting for an orderly end."""
        if self._task is not None:
            self._task.cancel()

    async def _own(self) -> None:
        try:
            await load_sdk()
            while not self._stop.is_set():
                began = time.monotonic()
                error = await self._once()
                if self._stop.is_set() or error is None:
                    return
                if time.monotonic() - began > STEADY:
                    self._failures = 0
                if not await self._again(error):
                    return
        except ServerError as error:
            self._set("failed", str(error))

    async def _once(self) -> ServerError | None:
        """One connection from start to end; why it ended, ``None`` if we wanted it."""
        link = self._link = Link(self._host, self.entry, self.log)
        self._lost = asyncio.get_running_loop().create_future()
        connected = False
        try:
            async with AsyncExitStack() as stack:
                async with asyncio.timeout(self._host.start):
                    client = await link.open(stack)
                    tools = await list_tools(client) if client.server_capabilities.tools is not None else ()
                connected = True
                self._connected(client, link, tools)
                try:
                    return await self._serve(client, link)
                finally:
                    self._live = None
                    if not self._stop.is_set():
                        self._set("pending", "the connection was lost")
        except TimeoutError:
            return Hopeless(f"no answer within {self._host.start:g} s")
        except Exception as error:  # whatever it was, it is the server's end and gets its words
            if self._stop.is_set():
                return None
            why = await link.explain(error)
            return ServerGone(f"lost: {why}") if connected and not isinstance(why, NeedsLogin) else why

    def _connected(self, client: Client, link: Link, tools: tuple[ServerTool, ...]) -> None:
        info = client.server_info
        self.identity = {"name": clean(info.name), "version": clean(info.version)} if info else self.identity
        self.instructions = cut_instructions(client.instructions or "")
        self.lists.begin(client, link, tools)
        self._live = client
        self._set("connected", "")

    async def _serve(self, client: Client, link: Link) -> ServerError | None:
        """Until the end: keeps the lists fresh meanwhile."""
        assert self._lost is not None
        ended = link.process.ended if link.process else asyncio.Event()
        waits: list[asyncio.Future[Any]] = [
            asyncio.ensure_future(self._stop.wait()),
            asyncio.ensure_future(ended.wait()),
            self._lost,
        ]
        helpers = [asyncio.create_task(self.lists.keep(client), name=f"mcp lists {self.entry.name}")]
        if client.protocol_version >= "2026":
            helpers.append(asyncio.create_task(self.lists.listen(client), name=f"mcp listen {self.entry.name}"))
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (*helpers, *waits[:2]):
                task.cancel()
        if self._stop.is_set():
            return None
        if self._lost.done() and not ended.is_set():
            return ServerGone(self._lost.result())
        return await link.end()

    async def _again(self, error: ServerError) -> bool:
        """Waits before the next attempt; False when there will be none."""
        if isinstance(error, NeedsLogin):
            self._set("needs-auth", f"{error}: log in with `agentcli mcp login {self.entry.name}`")
            return False
        if isinstance(error, ClientOver):
            self._set("failed", str(error))
            return False
        if isinstance(error, Hopeless) or self._failures >= TRIES:
            tried = f" ({plural(self._failures, 'new attempt')} failed)" if self._failures else ""
            self._set("failed", f"{error}{tried}")
            self._report("warning", f"MCP server {self.entry.name}: {error}{tried}.")
            return False
        if self._failures == 0 and isinstance(error, ServerGone):
            self._report("warning", f"MCP server {self.entry.name} was lost: {error}. It is being connected again.")
        self._failures += 1
        self._wake.clear()
        self._set("pending", f"{error} (attempt {self._failures} of {TRIES} to connect again)")
        backoff = self._host.backoff
        delay = backoff[min(self._failures, len(backoff)) - 1]
        stop, wake = asyncio.ensure_future(self._stop.wait()), asyncio.ensure_future(self._wake.wait())
        try:
            await asyncio.wait((stop, wake), timeout=delay, return_when=asyncio.FIRST_COMPLETED)
        finally:
            stop.cancel()
            wake.cancel()
        return not self._stop.is_set()

    def _set(self, state: State, reason: str) -> None:
        self.state, self.reason = state, reason
        edge, self._edge = self._edge, asyncio.Event()
        edge.set()

    # --- use --------------------------------------------------------------------------------------------------------

    async def call(self, tool: str, arguments: Mapping[str, Any], *, progress: Progress) -> Any:
        """The server's result.  ``ServerGone`` without a connection, ``ServerError`` for what the server refused.

        Cancelled, it tells the server and returns at once.
        """
        limit = self.entry.timeout or self._host.call

        told = telling(progress)

        client = await self._usable()
        try:
            result = await self._asked(
                client.call_tool(tool, dict(arguments), read_timeout_seconds=limit, progress_callback=told), limit
            )
            self._failures = 0
            return result
        except asyncio.CancelledError:
            self._suspect(client)
            raise
        finally:
            self.calls += 1

    async def ask(self, request: Callable[[Client], Any]) -> Any:
        """Any other request (a resource, a prompt), errors as in ``call``."""
        client = await self._usable()
        return await self._asked(request(client), self._host.call)

    async def _asked(self, request: Any, limit: float | None) -> Any:
        from mcp import MCPError

        client, link = self._live, self._link
        try:
            return await request
        except MCPError as error:
            if error.code == CLOSED or (link.process is not None and link.process.ended.is_set()):
                gone = await link.end()
                self._lose(str(gone))
                raise gone from error
            if error.code == TIMED_OUT:
                if client is not None:
                    self._suspect(client)
                raise ServerError(f"timed out after {limit:g} s" if limit else "timed out") from error
            if link.notes.refused == 401:
                self._lose("wants a login")
                raise NeedsLogin(f"wants a login: run `agentcli mcp login {self.entry.name}`") from error
            if error.message.lower() == _SESSION_OVER:
                self._lose("its session is over")
            data = f" ({error.data})" if error.data is not None else ""
            raise ServerError(f"error {error.code}: {clean(error.message)}{clean(data)[:2000]}") from error
        except ServerError:
            raise
        except Exception as error:
            why = await link.explain(error)
            raise why from error

    async def _usable(self) -> Client:
        """The client, after waiting for a connection that is being made; ``ServerGone`` when none comes."""
        if self._check is not None and not self._check.done():
            await asyncio.wait([self._check])
        until = time.monotonic() + self._host.start
        before = self._failures
        while self._live is None:
            if self.state in ("failed", "needs-auth", "disabled") or self._failures > before + 1:
                raise ServerGone(self.reason)
            edge = self._edge
            self._wake.set()
            try:
                async with asyncio.timeout(until - time.monotonic()):
                    await edge.wait()
            except TimeoutError:
                raise ServerGone(self.reason or "it is still being connected") from None
        return self._live

    def _lose(self, why: str) -> None:
        if self._lost is not None and not self._lost.done():
            self._lost.set_result(why)
            self._live = None

    def _suspect(self, client: Client) -> None:
        """A call was given up: a server that does not answer a ping after that hangs, and is started anew."""
        if self.entry.transport == "stdio" and (self._check is None or self._check.done()):
            self._check = asyncio.create_task(self._alive(client), name=f"mcp ping {self.entry.name}")

    async def _alive(self, client: Client) -> None:
        from mcp import MCPError
        from mcp.types import EmptyResult, PingRequest

        limit = self._host.alive
        try:
            await client.session.send_request(PingRequest(), EmptyResult, limit)
        except MCPError as error:
            if error.code == TIMED_OUT and client is self._live:
                self._lose(f"did not answer within {limit:g} s after a call was given up")
        except (ValueError, RuntimeError) as error:
            self.log.note(f"odd answer to a ping: {error}")
