"""MCP servers that live in the client (``ports.client_servers``): ``mcp_message`` in both directions."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable

from agentcli.errors import UsageError, UserError
from agentcli.messages import Json
from agentcli.ports.client_servers import ClientRefused
from agentcli.ui.headless.requests import Requests

SHORTEST = 1000
"""Milliseconds: a shorter timeout for calls counts as none (the protocol's rule for ``sdkMcpServerConfigs``)."""


class PipeServers:
    """Also the place where messages arrive that a server sends of its own accord (``hear``)."""

    def __init__(self, requests: Requests) -> None:
        self._requests = requests
        self._listeners: dict[str, Callable[[Json], None]] = {}

    @property
    def ended(self) -> asyncio.Event:
        return self._requests.ended

    async def exchange(self, server: str, message: Json) -> object:
        answer = await self._requests.ask({"subtype": "mcp_message", "server_name": server, "message": dict(message)})
        if answer.error is not None:
            raise ClientRefused(answer.error)
        return answer.body.get("mcp_response")

    def listen(self, server: str, hear: Callable[[Json], None]) -> Callable[[], None]:
        self._listeners[server] = hear

        def deaf() -> None:
            if self._listeners.get(server) is hear:
                del self._listeners[server]

        return deaf

    def hear(self, body: Json) -> None:
        """An ``mcp_message`` of the client.  ``UsageError`` where it is none, ``UserError`` where nobody listens."""
        server, message = body.get("server_name"), body.get("message")
        if not isinstance(server, str) or not isinstance(message, dict):
            raise UsageError("mcp_message needs server_name and message, a JSON-RPC object")
        listener = self._listeners.get(server)
        if listener is None:
            raise UserError(f"mcp_message: the server {server!r} is not connected")
        listener(message)


def entries(names: object, configs: object) -> tuple[str, ...]:
    """``sdkMcpServers`` of ``initialize`` (with their ``sdkMcpServerConfigs``) as a value of ``--mcp-config``."""
    if names is None:
        return ()
    if not isinstance(names, list) or not all(isinstance(n, str) for n in names):
        raise UsageError("initialize: sdkMcpServers is not a list of names")
    more = configs if isinstance(configs, dict) else {}
    servers = {n: {**_options(more.get(n)), "type": "sdk", "name": n} for n in names}
    return (json.dumps({"mcpServers": servers}),) if servers else ()


def _options(given: object) -> Json:
    """Values that are not of their kind count as absent, as the protocol has it."""
    timeout = given.get("timeout") if isinstance(given, dict) else None
    usable = isinstance(timeout, int | float) and not isinstance(timeout, bool) and timeout >= SHORTEST
    return {"timeout": timeout} if usable else {}
