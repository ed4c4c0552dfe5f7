"""MCP servers that an agent's definition brings along: they run while it works, and no longer."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any, Literal

from agentcli.agent.state import SessionState
from agentcli.agent.subagent import Hire
from agentcli.errors import UserError
from agentcli.events import Notice
from agentcli.extend.agents import AgentDefinition
from agentcli.mcp import Ground, McpRoom, ServerEntry, Wiring, inline_configuration, make_room
from agentcli.ports.permissions import ApprovalRequest, Approver, Decision
from agentcli.ports.toolnames import server_part
from agentcli.ports.tools import ToolCall
from agentcli.runtime.parent import Parent
from agentcli.runtime.site import Site

QUESTION = "McpServer"
"""The name under which the user is asked whether a server may start."""
MISSING = "The MCP server {server} is not there. Do without it, and say so in your report."


class AgentServers:
    """``begin`` before a task and ``end`` after it.  ``room`` holds the servers, none of which runs before."""

    def __init__(self, room: McpRoom, hire: Hire, approver: Approver) -> None:
        self.room = room
        self._hire = hire
        self._approver = approver

    async def begin(self) -> list[str]:
        """Starts what may start, and waits until it is there.  What can't be had, in sentences for the agent."""
        for entry in self.room.waiting():
            if await self._approved(entry):
                self.room.approve(entry.name, approved=True)
        before = list(self.room.manager.connections)
        if before:
            for name in before:
                with contextlib.suppress(UserError):  # it may not any more, as ``complete`` says
                    await self.room.manager.reconnect(name)
        else:
            self.room.start()
        missing = await self.room.complete()
        for text in missing:
            self._hire.emit(Notice("warning", f"{self._hire.order.agent}: MCP server {text}", "mcp"))
        return [MISSING.format(server=text) for text in missing]

    async def end(self) -> None:
        await self.room.close()

    async def _approved(self, entry: ServerEntry) -> bool:
        call = ToolCall(self._hire.id, QUESTION, {"server": entry.name, **entry.raw})
        reason = f"{entry.origin} wants to start it, and it came with the project"
        request = ApprovalRequest(call, f"{entry.name}: {entry.where}", Decision("ask", reason))
        return (await self._approver.ask(request)).allowed


def inline_servers(definition: AgentDefinition) -> dict[str, Any]:
    """The definitions among ``mcpServers``, by name."""
    inline = (entry for entry in definition.mcp_servers if isinstance(entry, Mapping))
    return {str(name): entry for entries in inline for name, entry in entries.items()}


def server_rules(definition: AgentDefinition) -> tuple[str, ...]:
    """Every server that the definition names or brings, as a rule for its tools."""
    named = (entry for entry in definition.mcp_servers if isinstance(entry, str))
    return tuple(f"mcp__{server_part(name)}" for name in (*named, *inline_servers(definition)))


async def named_servers(parent: Parent, definition: AgentDefinition) -> list[str]:
    """Waits for the session's servers that the definition names.  Those that there are not."""
    here = parent.servers
    named = [entry for entry in definition.mcp_servers if isinstance(entry, str)]
    if here is not None and named:
        await here.wait_for(named)
    return [name for name in named if here is None or here.configuration.get(name) is None]


def own_servers(
    parent: Parent, hire: Hire, definition: AgentDefinition, site: Site, state: SessionState, approver: Approver
) -> AgentServers | None:
    """``None`` where the definition brings none, or the command line wants no others than its own."""
    servers, world = inline_servers(definition), parent.world
    if not servers:
        return None
    if (world.options.strict_mcp_config or world.bare) and definition.scope != "session":
        parent.warn(f"agent {definition.name}: its MCP servers are left out, as the command line says")
        return None
    ground = Ground(
        cwd=world.workspace.start,
        settings=world.settings,
        env=world.env,
        trusted=world.options.trust,
        roots=lambda: site.place().roots,
    )
    scope: Literal["project", "flag"] = "project" if definition.scope == "project" else "flag"
    found = inline_configuration(
        ground.cwd,
        ground.settings,
        ground.env,
        servers,
        base=site.start,
        scope=scope,
        origin=f"agent {definition.name} ({definition.path})",
    )
    wiring = Wiring(
        emit=hire.emit,
        cache=state.cache,
        directory=parent.directory,
        interactive=False,
        references=parent.models.takes_references,
        window=lambda: parent.models.info(state.model).window,
    )
    return AgentServers(make_room(ground, parent.means.processes, wiring, inline=found), hire, approver)
