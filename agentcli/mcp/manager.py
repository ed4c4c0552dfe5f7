"""All servers of a session: started at once in the background, each on its own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable
from pathlib import Path

from agentcli.errors import UserError
from agentcli.mcp.approval import Guard, reason
from agentcli.mcp.client import Host
from agentcli.mcp.config import Configuration
from agentcli.mcp.connection import Connection
from agentcli.mcp.serverlog import ServerLog
from agentcli.mcp.store import ServerStore
from agentcli.mcp.values import ServerEntry, ServerStatus, State

Report = Callable[[str, str], None]
"""``(severity, text)``."""
ONE_CLOSE = 5.0


class Manager:
    """``connections`` are of servers that were started, by name.  Belongs to one event loop."""

    def __init__(
        self, configuration: Configuration, host: Host, *, guard: Guard, store: ServerStore, report: Report
    ) -> None:
        self.configuration = configuration
        self.connections: dict[str, Connection] = {}
        self._host = host
        self._guard = guard
        self._store = store
        self._report = report
        self._off = store.disabled()
        self._started = False

    @property
    def names(self) -> list[str]:
        """Every configured server that could be started."""
        return [s.name for s in self.configuration.servers]

    def start(self, names: Collection[str] | None = None) -> None:
        """Begins to connect everything that may be (or those of ``names``).  Returns at once."""
        self._started = True
        for entry in self.configuration.servers:
            wanted = names is None or entry.name in names
            if wanted and entry.name not in self.connections and self._why_not(entry) is None:
                self._begin(entry)

    def _begin(self, entry: ServerEntry) -> Connection:
        logs: Path | None = self._host.logs
        connection = Connection(self._host, entry, report=self._report, log=ServerLog(logs, entry.name))
        self.connections[entry.name] = connection
        connection.start()
        return connection

    def _why_not(self, entry: ServerEntry) -> str | None:
        """Why a server must not be started; ``None`` if it may."""
        if entry.name in self._off:
            return "switched off"
        verdict = self._guard.verdict(entry)
        return None if verdict == "yes" else reason(verdict)

    def waiting(self) -> tuple[ServerEntry, ...]:
        """Servers of the project about which the user has to be asked."""
        found = (s for s in self.configuration.servers if s.name not in self._off)
        return tuple(s for s in found if self._guard.verdict(s) in ("ask", "changed"))

    def approve(self, name: str, *, approved: bool) -> bool:
        """The user's answer.  False when it holds for this session only.  ``UserError`` for an unknown server."""
        entry = self._entry(name)
        kept = self._guard.answer(entry, approved=approved)
        if approved and self._started:
            self.start()
        return kept

    async def reconnect(self, name: str) -> None:
        """Ends the connection and makes a new one.  ``UserError`` where it must not be started."""
        entry = self._entry(name)
        why = self._why_not(entry)
        if why is not None:
            raise UserError(f"MCP server {name}: {why}.")
        await self._end(name)
        self._begin(entry)

    async def switch(self, name: str, *, on: bool, keep: bool = True) -> None:
        """Enables or disables a server here, now and (with ``keep``) later.  ``UserError`` if that can't be stored."""
        entry = self._entry(name)
        self._off = self._off - {name} if on else self._off | {name}
        if not on:
            await self._end(name)
        elif self._why_not(entry) is None and name not in self.connections:
            self._begin(entry)
        if keep:
            self._store.set_disabled(name, not on)

    async def _end(self, name: str) -> None:
        connection = self.connections.pop(name, None)
        if connection is not None:
            await close_all([connection], ONE_CLOSE)

    def _entry(self, name: str) -> ServerEntry:
        entry = self.configuration.get(name)
        if entry is None:
            known = ", ".join(self.names) or "none"
            raise UserError(f"There is no MCP server {name!r}. Configured: {known}.")
        return entry

    # --- waiting and telling ----------------------------------------------------------------------------------------

    async def wait(self, within: float, names: Iterable[str] | None = None) -> None:
        """Until the servers (all, or those of ``names``) are connected or have shown that they can't be, at most so
        many seconds."""
        wanted = self.connections.values() if names is None else [c for n in names if (c := self.connections.get(n))]
        waits = [asyncio.create_task(c.first()) for c in wanted]
        if waits:
            try:
                await asyncio.wait(waits, timeout=max(within, 0))
            finally:
                for task in waits:
                    task.cancel()

    def tell_late(self) -> None:
        """Names the servers that are not there yet.  Headless there is no ``/mcp`` to ask why."""
        for name, connection in self.connections.items():
            if connection.state == "pending":
                why = connection.reason or "it has not answered yet"
                self._report("warning", f"MCP server {name} is not connected: {why}. The run begins without it.")

    def status(self, name: str) -> ServerStatus:
        entry = self._entry(name)
        connection = self.connections.get(name)
        if connection is None:
            why = self._why_not(entry)
            state: State = "disabled" if why else "pending"
            return ServerStatus(name, state, entry.scope, why or "", entry.transport, entry.where, entry.origin)
        inventory = connection.lists.inventory
        return ServerStatus(
            name,
            connection.state,
            entry.scope,
            connection.reason,
            entry.transport,
            entry.where,
            entry.origin,
            " ".join(connection.identity.values()).strip(),
            tuple(t.name for t in inventory.tools),
            len(inventory.prompts),
            len(inventory.resources),
            str(connection.log.path or ""),
        )

    def statuses(self) -> tuple[ServerStatus, ...]:
        """Every server, the broken entries too, sorted by name."""
        found = [self.status(n) for n in self.names]
        found += [
            ServerStatus(b.name, "failed", b.scope, f"its entry can't be used: {b.error}", where="", origin=b.origin)
            for b in self.configuration.broken
        ]
        return tuple(sorted(found, key=lambda s: s.name))

    async def close(self, within: float) -> None:
        await close_all(list(self.connections.values()), within)


async def close_all(connections: list[Connection], within: float) -> None:
    """Closes all of them at once and stops waiting after ``within`` seconds: what is left then is ended by the
    processes' supervisors."""
    closing = [asyncio.create_task(c.close()) for c in connections]
    if not closing:
        return
    try:
        _, late = await asyncio.wait(closing, timeout=within)
    finally:
        for connection, task in zip(connections, closing, strict=True):
            if not task.done():
                connection.abandon()
    if late:
        await asyncio.wait(late, timeout=0.5)
