"""MCP servers that live in the client of a headless session and are reached over its control channel."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol

from agentcli.errors import AgentcliError
from agentcli.messages import Json


class ClientRefused(AgentcliError):
    """The client did not take a message to one of its servers, or can't any more.  ``str`` says why."""


class ClientServers(Protocol):
    """The way to them.  ``ended`` is set as soon as the client can't answer any more."""

    @property
    def ended(self) -> asyncio.Event: ...

    async def exchange(self, server: str, message: Json) -> object:
        """Delivers a JSON-RPC message; what the client gives back for it, as it came: for a request the server's
        answer, for anything else nothing of use.  It is written before anything is waited for, so that messages keep
        the order of their tasks.  Cancelled, it is withdrawn.  ``ClientRefused``."""
        ...

    def listen(self, server: str, hear: Callable[[Json], None]) -> Callable[[], None]:
        """``hear`` gets what the server says of its own accord, until the returned function is called."""
        ...
