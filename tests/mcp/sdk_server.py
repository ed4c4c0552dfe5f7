"""A server on the official package, over HTTP: ``sdk_server.py http|sse PORT [TOKEN]``.  With a token it wants it."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import uvicorn
from mcp.server import MCPServer
from mcp.server.mcpserver import Context, Elicit, Resolve
from pydantic import BaseModel

server = MCPServer("sdk", version="0.1", instructions="Use add for sums.")


class Choice(BaseModel):
    ok: bool


@server.tool()
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


async def ask(ctx: Context) -> Elicit[Choice]:
    return Elicit("Really?", Choice)


@server.tool()
async def danger(ok: Annotated[Choice, Resolve(ask)]) -> str:
    """Asks first."""
    return f"ok={ok.ok}"


@server.tool()
async def grow(ctx: Context) -> str:
    """Adds a tool."""
    server.add_tool(lambda x: x, name="late", description="Came late.")
    await ctx.notify_tools_changed()
    return "grown"


@server.resource("note://one")
def note() -> str:
    return "the first note"


@server.prompt()
def review(what: str) -> str:
    """Reviews something."""
    return f"Please review {what}."


class Guarded:
    def __init__(self, app: Any, token: str) -> None:
        self._app = app
        self._token = token

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        headers = dict(scope.get("headers") or ())
        if scope["type"] == "http" and headers.get(b"authorization") != f"Bearer {self._token}".encode():
            await send({"type": "http.response.start", "status": 401, "headers": [(b"www-authenticate", b"Bearer")]})
            await send({"type": "http.response.body", "body": b""})
            return
        await self._app(scope, receive, send)


if __name__ == "__main__":
    kind, port, *token = sys.argv[1:]
    app = server.sse_app() if kind == "sse" else server.streamable_http_app()
    if token:
        app = Guarded(app, token[0])  # type: ignore[assignment]  # an ASGI application too
    uvicorn.run(app, host="127.0.0.1", port=int(port), log_level="error")
