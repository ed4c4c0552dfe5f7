"""``mcp_status``, ``mcp_toggle`` and ``mcp_reconnect``: the session's MCP servers, in the shapes that clients take."""

from __future__ import annotations

from typing import Any

from agentcli.errors import UsageError, UserError
from agentcli.mcp import McpRoom, ServerEntry, ServerStatus
from agentcli.messages import Json

WAIT = 30.0
"""Seconds that a request to connect waits for the outcome; its own limit ends the attempt before, unless raised."""


def statuses(room: McpRoom | None) -> list[dict[str, Any]]:
    """Every server, configured or broken."""
    if room is None:
        return []
    return [_described(room, status) for status in room.statuses()]


async def toggle(room: McpRoom | None, body: Json) -> None:
    """Switches a server on or off for this session.  ``UserError`` where there is none, or it can't be connected."""
    on = body.get("enabled")
    if not isinstance(on, bool):
        raise UsageError("mcp_toggle: enabled is true or false")
    found, name = _server(room, body)
    await found.manager.switch(name, on=on, keep=False)
    if on:
        await _connected(found, name)


async def reconnect(room: McpRoom | None, body: Json) -> None:
    """Ends a connection and makes a new one.  Errors as in ``toggle``."""
    found, name = _server(room, body)
    await found.manager.reconnect(name)
    await _connected(found, name)


def _server(room: McpRoom | None, body: Json) -> tuple[McpRoom, str]:
    name = body.get("serverName")
    if not isinstance(name, str) or not name:
        raise UsageError("serverName is missing")
    if room is None:
        raise UserError(f"there is no MCP server {name!r} in this session")
    return room, name


async def _connected(room: McpRoom, name: str) -> None:
    await room.manager.wait(WAIT, [name])
    status = room.manager.status(name)
    if status.state != "connected":
        raise UserError(f"MCP server {name}: {status.state}{': ' + status.reason if status.reason else ''}")


def _described(room: McpRoom, status: ServerStatus) -> dict[str, Any]:
    entry = room.configuration.get(status.name)
    found: dict[str, Any] = {"name": status.name, "status": status.state, "scope": status.scope}
    if entry is not None:
        found["config"] = _config(entry)
    if status.state == "connected":
        connection = room.manager.connections[status.name]
        found["serverInfo"] = connection.identity
        found["tools"] = [
            {"name": t.name, "description": t.description, "annotations": _hints(t.read_only, t.destructive)}
            for t in connection.lists.inventory.tools
        ]
    elif status.reason:
        found["error"] = status.reason
    return found


def _hints(read_only: bool, destructive: bool) -> dict[str, bool]:
    return {**({"readOnly": True} if read_only else {}), **({"destructive": True} if destructive else {})}


def _config(entry: ServerEntry) -> dict[str, Any]:
    """As it was written, without what may hold secrets."""
    match entry.transport:
        case "sdk":
            return {"type": "sdk", "name": entry.name}
        case "stdio":
            command, args = entry.raw.get("command", ""), entry.raw.get("args", ())
            return {"type": "stdio", "command": str(command), "args": list(args)}
        case "http" | "sse":
            return {"type": entry.transport, "url": str(entry.raw.get("url", ""))}
