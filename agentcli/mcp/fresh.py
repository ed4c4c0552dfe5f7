"""A server's lists, kept as they are now: read anew when it says that they changed, many notices at once as one."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import replace
from typing import TYPE_CHECKING

from agentcli.mcp.client import Link
from agentcli.mcp.listing import list_prompts, list_resources, list_templates, list_tools
from agentcli.mcp.serverlog import ServerLog
from agentcli.mcp.values import Inventory, ServerTool

if TYPE_CHECKING:
    from mcp import Client

SETTLE = 0.05
"""Seconds in which several notices count as one."""
_LIMIT = 10.0
_ORDER = ("tools", "resources", "prompts", "templates")
"""Templates come last: many a server never answers when it is asked for them."""
_KINDS = {"ToolsListChanged": "tools", "PromptsListChanged": "prompts", "ResourcesListChanged": "resources"}


class Lists:
    """``inventory`` is what was last listed; it outlives a connection, so that what was known stays known."""

    def __init__(self, log: ServerLog) -> None:
        self.inventory = Inventory()
        self._log = log
        self._link: Link | None = None

    def begin(self, client: Client, link: Link, tools: tuple[ServerTool, ...]) -> None:
        """A new connection, with its first list of tools."""
        self._link = link
        self.inventory = replace(self.inventory, tools=tools)
        capabilities = client.server_capabilities
        for name, there in (("prompts", capabilities.prompts), ("resources", capabilities.resources)):
            if there is not None:
                link.note_changed(name)
        if capabilities.resources is not None:
            link.note_changed("templates")

    async def keep(self, client: Client) -> None:
        """Runs as long as the connection."""
        link = self._link
        assert link is not None
        while True:
            await link.stale.wait()
            await asyncio.sleep(SETTLE)
            what, link.changed = link.changed, set()
            for name in (n for n in _ORDER if n in what):
                await self._refresh(client, name)
            link.refreshed()

    @property
    def settled(self) -> bool:
        """Whether nothing is being read anew."""
        return self._link is None or self._link.fresh.is_set()

    async def quiet(self, within: float) -> None:
        """Until a list that is being read anew has come, at most ``within`` seconds."""
        if self._link is not None:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(within):
                    await self._link.fresh.wait()

    async def listen(self, client: Client) -> None:
        """The newest protocol sends notices of changed lists only to those who ask for them."""
        from mcp import MCPError
        from mcp.client.subscriptions import SubscriptionLost

        link = self._link
        assert link is not None
        try:
            async with client.listen(
                tools_list_changed=True, prompts_list_changed=True, resources_list_changed=True
            ) as events:
                async for event in events:
                    link.note_changed(_KINDS.get(type(event).__name__, "resources"))
        except (MCPError, SubscriptionLost, ValueError) as error:
            self._log.note(f"it does not tell when its lists change: {error}")

    async def _refresh(self, client: Client, what: str) -> None:
        """Reads one list anew; where that fails the old one stays."""
        from mcp import MCPError

        try:
            async with asyncio.timeout(_LIMIT):
                match what:
                    case "tools":
                        self.inventory = replace(self.inventory, tools=await list_tools(client))
                    case "prompts":
                        self.inventory = replace(self.inventory, prompts=await list_prompts(client))
                    case "templates":
                        self.inventory = replace(self.inventory, templates=await list_templates(client))
                    case _:
                        self.inventory = replace(self.inventory, resources=await list_resources(client))
        except (MCPError, ValueError, TimeoutError) as error:
            self._log.note(f"its list of {what} could not be read: {error or type(error).__name__}")
