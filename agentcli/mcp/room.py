"""The room as a session holds it: servers, their tools, and what the model is told of them."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

from agentcli.errors import UserError
from agentcli.events import Notice
from agentcli.mcp.announce import Announcer, Presence
from agentcli.mcp.approval import Guard
from agentcli.mcp.client import Host
from agentcli.mcp.config import Configuration
from agentcli.mcp.connection import Connection
from agentcli.mcp.deferral import Deferral, wish
from agentcli.mcp.known import Known
from agentcli.mcp.limits import CLOSE, GRACE_INTERACTIVE, headless_grace, result_tokens
from agentcli.mcp.manager import Manager
from agentcli.mcp.offers import (
    Mention,
    PromptCommand,
    get_prompt,
    late_server,
    mentioned,
    mentions,
    names_server,
    prompt_commands,
    read_resource,
)
from agentcli.mcp.results import Desk
from agentcli.mcp.search import find
from agentcli.mcp.store import ServerStore
from agentcli.mcp.tools import definition
from agentcli.mcp.values import ServerEntry, ServerStatus
from agentcli.mcp.wiring import Wiring
from agentcli.messages import Block
from agentcli.ports.model import ToolSpec
from agentcli.ports.prompt import Moment, Remaining, Reminder

REMINDER = "mcp"
LISTS = 1.0
"""Seconds that a step waits for a list which its server has just said to have changed."""
AFTER_CALL = 0.05
"""… and for that notice, when a call has ended: it often comes right behind the result."""


class McpRoom:
    """Made with the session, on its event loop; ``start`` connects, ``close`` ends everything.

    It is a ``ReminderSource`` (what came and went), a ``ToolDirectory`` (for ToolSearch), and its ``tools`` are a live
    mapping of every server's tools for the engine.
    """

    def __init__(
        self, configuration: Configuration, host: Host, wiring: Wiring, *, guard: Guard, store: ServerStore
    ) -> None:
        self.configuration = configuration
        self.manager = Manager(configuration, host, guard=guard, store=store, report=self._report)
        self._host = host
        self._wiring = wiring
        self._desk = Desk(wiring.directory, result_tokens(host.env))
        self._deferral = Deferral(wiring.cache, wish(host.env), wiring.references, wiring.window)
        self._always = {s.name for s in configuration.servers if s.always_load}
        self._of_client = {s.name for s in configuration.servers if s.transport == "sdk"}
        self.tools = Known(
            self.manager.names,
            desk=self._desk,
            connection=self.manager.connections.get,
            in_front=self._in_front,
            warn=lambda text: self._report("warning", text),
        )
        self._announcer = Announcer(wiring.cache, self._gone)
        self._waited = False
        self._calls = 0

    @property
    def configured(self) -> bool:
        """Whether there is any server to speak of."""
        return bool(self.configuration.servers)

    @property
    def searchable(self) -> bool:
        """Whether ToolSearch has anything to find in this conversation: not where all tools stand in front."""
        return self.configured and self._deferral.wish.place != "front"

    @property
    def dispatches(self) -> bool:
        """Whether the tool ``McpCall`` is needed: definitions can't be given by reference."""
        return self.searchable and self._deferral.way == "dispatcher"

    # --- life -------------------------------------------------------------------------------------------------------

    def start(self, sent: Sequence[ToolSpec] = ()) -> None:
        """Begins to connect; returns at once.  ``sent`` is the tool array of a resumed conversation."""
        self.tools.restore(sent)
        for text in self.configuration.warnings:
            self._report("warning", text)
        for broken in self.configuration.broken:
            self._report("warning", f"MCP server {broken.name} ({broken.origin}): {broken.error}")
        self.manager.start()

    @property
    def grace(self) -> float:
        """Seconds that the first request waits for servers: short where a late one costs nothing."""
        if self._wiring.interactive:
            return min(GRACE_INTERACTIVE, self._host.start)
        if self._deferral.place == "front":
            return self._host.start
        return min(headless_grace(self._host.env), self._host.start)

    async def wait_first(self, grace: float | None = None) -> None:
        """Once per session: waits until every server is connected or has failed, at most ``grace`` seconds; for those
        that the first request needs, and for the client's own, which it has just named, up to the start timeout."""
        if not self._waited:
            self._waited = True
            await self.manager.wait(self.grace if grace is None else grace)
            needed = [n for n in self._always | self._of_client if n in self.manager.connections]
            if needed and not self._wiring.interactive:
                await self.manager.wait(self._host.start, needed)
            if not self._wiring.interactive:
                self.manager.tell_late()

    async def wait_named(self, prompt: str) -> None:
        """Waits for servers that the prompt names (``@server:``, ``mcp__server``, or the name as a word)."""
        named = [n for n in self.manager.connections if names_server(prompt, n)]
        if named:
            await self.manager.wait(self._host.start, named)

    async def wait_for(self, names: Collection[str]) -> None:
        """Waits for these servers, and takes over what they offer."""
        await self.manager.wait(self._host.start, names)
        self._adopt()

    async def between_steps(self) -> None:
        """Takes over what servers have changed since the last step; never called while a request is running."""
        connections = list(self.manager.connections.values())
        calls = sum(c.calls for c in connections)
        if calls != self._calls:
            self._calls = calls
            await asyncio.sleep(AFTER_CALL)
        if connections:
            await asyncio.gather(*(c.lists.quiet(LISTS) for c in connections))
        self._adopt()

    def _adopt(self) -> None:
        for name, connection in sorted(self.manager.connections.items()):
            if connection.state == "connected":
                self.tools.adopt(name, connection.lists.inventory.tools)

    async def close(self, within: float = CLOSE) -> None:
        """Ends every connection and process.  Safe to call twice."""
        await self.manager.close(within)

    # --- the conversation -------------------------------------------------------------------------------------------

    async def collect(self, moment: Moment, *, paths: Sequence[Path] = ()) -> list[Reminder]:
        """``ReminderSource``: what the model has not been told.  This is also the moment between two steps at which
        changed lists are taken over."""
        if moment == "file_touched":
            return []
        if moment in ("first_message", "after_compaction"):
            self._announcer.begin_anew()
        if moment == "first_message":
            self._deferral.begin_anew()
            self.tools.forget_given()
        await self.wait_first()
        await self.between_steps()
        self._decide()
        text = self._announcer.news(self._present())
        return [Reminder(REMINDER, text)] if text else []

    def rewound(self, remaining: Remaining) -> None:
        """``ports.prompt.Rewindable``."""
        self._announcer.rewound(remaining)

    def _decide(self) -> None:
        """Where tools are rendered is decided with the first message of a conversation."""
        complete = all(c.state != "pending" for c in self.manager.connections.values())
        self._deferral.decide(self.tools.specs(), complete=complete)
        for name in self.tools:
            tool = self.tools[name]
            tool.deferred = not self._in_front(tool.server)

    def _in_front(self, server: str) -> bool:
        return server in self._always or self._deferral.place == "front"

    def _present(self) -> list[Presence]:
        found = []
        for name, connection in sorted(self.manager.connections.items()):
            if connection.state != "connected":
                continue
            names = () if self._in_front(name) else self.tools.names_of(name)
            words = connection.instructions if self._wiring.delta else ""
            found.append(Presence(name, names, words, tuple(self._redefined(name))))
        return found

    def _redefined(self, server: str) -> list[str]:
        """Definitions that the model was given and that are others now."""
        lines = []
        for name in self.tools.names_of(server):
            given, now = self.tools.given(name), self.tools[name].spec
            if given is not None and given.deferred and given != replace(now, deferred=True):
                lines.append(definition(now))
        return lines

    def _gone(self, server: str) -> str | None:
        connection = self.manager.connections.get(server)
        if connection is None:
            known = self.configuration.get(server)
            return "it is switched off" if known else "it is not configured any more"
        return None if connection.state in ("pending", "connected") else connection.reason or connection.state

    def late_tools(self) -> tuple[ToolSpec, ...]:
        """Definitions for the next request beside the session's own tools; see ``Known.late``."""
        return self.tools.late()

    async def instructions(self) -> str | None:
        """For the prompt section ``mcp_instructions``, where reminders don't deliver them."""
        told = [
            f"## {name}\n\n{c.instructions}"
            for name, c in sorted(self.manager.connections.items())
            if c.state == "connected" and c.instructions
        ]
        return "\n\n".join(told) or None

    # --- ToolDirectory ----------------------------------------------------------------------------------------------

    def search(self, query: str, limit: int = 5) -> list[ToolSpec]:
        self._adopt()
        return find((s for s in self.tools.specs() if s.deferred), query, limit)

    def names(self) -> tuple[str, ...]:
        return tuple(s.name for s in self.tools.specs() if s.deferred)

    @property
    def references(self) -> bool:
        return self._deferral.way == "references"

    def give(self, names: Sequence[str]) -> None:
        self.tools.give(names)

    async def complete(self) -> tuple[str, ...]:
        await self.manager.wait(self._host.start)
        self._adopt()
        others = (s for s in self.statuses() if s.state != "connected")
        return tuple(f"{s.name} ({s.reason or s.state})" for s in others)

    # --- for people -------------------------------------------------------------------------------------------------

    def statuses(self) -> tuple[ServerStatus, ...]:
        return self.manager.statuses()

    def waiting(self) -> tuple[ServerEntry, ...]:
        """Servers of the project that the user has to approve before they start."""
        return self.manager.waiting()

    def approve(self, name: str, *, approved: bool) -> bool:
        return self.manager.approve(name, approved=approved)

    def mentions(self) -> tuple[Mention, ...]:
        """Resources for completion, as they are typed."""
        return mentions(self.manager.connections)

    def mentioned(self, text: str) -> tuple[str, ...]:
        """The ``@server:uri`` of a prompt that name a configured server, each once, without what follows them."""
        return tuple(f"@{server}:{uri}" for server, uri in mentioned(text, self.manager.connections))

    async def attached(self, text: str) -> tuple[Block, ...]:
        """The resources that a prompt mentions, as blocks.  ``UserError`` if one can't be had."""
        found: list[Block] = []
        for server, uri in mentioned(text, self.manager.connections):
            found += await read_resource(self.manager.connections[server], uri, self._desk)
        return tuple(found)

    def prompts(self) -> tuple[PromptCommand, ...]:
        """Prompts as slash commands."""
        return prompt_commands(self.manager.connections)

    def late_server(self, name: str) -> str | None:
        """The configured server of which ``/name`` may be a prompt that is not listed yet."""
        return late_server(name, [s.name for s in self.statuses()], self.manager.connections)

    async def prompt(self, name: str, arguments: str) -> tuple[Block, ...]:
        """What ``/name arguments`` sends.  ``UserError`` for an unknown prompt, wrong arguments, a refusal."""
        found = next((p for p in self.prompts() if p.name == name), None)
        if found is None:
            raise UserError(f"There is no prompt /{name}: its server is not connected or has none of this name.")
        connection: Connection = self.manager.connections[found.server]
        return await get_prompt(connection, found.prompt, arguments, self._desk)

    def log_tail(self, name: str) -> tuple[str, ...]:
        connection = self.manager.connections.get(name)
        return connection.log.tail if connection else ()

    def _report(self, severity: str, text: str) -> None:
        self._wiring.emit(Notice("error" if severity == "error" else "warning", text, "mcp"))
