"""A server's tool as one of ours (``ports.tools.Tool``)."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from agentcli.errors import ToolError
from agentcli.mcp.connection import Connection
from agentcli.mcp.limits import DESCRIPTION
from agentcli.mcp.results import Desk, tool_result
from agentcli.mcp.schema import Repaired
from agentcli.mcp.values import ServerError, ServerGone, ServerTool
from agentcli.messages import Json
from agentcli.ports.display import Display, TextDisplay
from agentcli.ports.model import ToolSpec
from agentcli.ports.tools import Effect, ToolContext, ToolResult
from agentcli.text import clean, one_line

_SHOWN = 20_000


@dataclass(slots=True)
class McpTool:
    """``connection`` is asked at each call: a server may have been connected anew, or be gone."""

    name: str
    server: str
    tool: ServerTool
    repaired: Repaired
    connection: Callable[[], Connection | None]
    desk: Desk
    deferred: bool = True
    gone: str = ""
    """Why it can't be called any more; its definition stays where it was sent."""

    @property
    def spec(self) -> ToolSpec:
        return ToolSpec(self.name, described(self.tool), self.repaired.schema, deferred=self.deferred, mcp=True)

    def effect(self, input: Json) -> Effect:
        """Calls that only read, by the server's own word, may run beside each other; nothing else hangs on it."""
        return "read" if self.tool.read_only else "write"

    def title(self, input: Json) -> str:
        if not isinstance(input, dict) or not input:
            return ""
        first = next((v for v in input.values() if isinstance(v, str) and v.strip()), None)
        text = first if first is not None and len(input) == 1 else json.dumps(input, ensure_ascii=False, default=str)
        return one_line(clean(text))

    def preview(self, input: Json, ctx: ToolContext) -> Display | None:
        hint = ""
        if self.tool.destructive:
            hint = " (the server says: may destroy)"
        elif self.tool.read_only:
            hint = " (the server says: only reads)"
        arguments = json.dumps(dict(input), ensure_ascii=False, indent=2, default=str)
        return TextDisplay(f"{self.tool.name} of the MCP server {self.server}{hint}", clean(arguments)[:_SHOWN])

    async def run(self, input: Json, ctx: ToolContext) -> ToolResult:
        connection = self.connection()
        if connection is None or self.gone:
            raise ToolError(self.gone or f"The MCP server {self.server} is not part of this session any more.")

        def progress(done: float, total: float | None, message: str | None) -> None:
            ctx.output(_progress(done, total, message))

        try:
            answer = await connection.call(self.tool.name, self.repaired.arguments(input), progress=progress)
        except ServerGone as error:
            raise ToolError(
                f"The MCP server {self.server} is not connected: {error}. Do without it, or tell the user."
            ) from error
        except ServerError as error:
            raise ToolError(f"The MCP server {self.server}: {error}.") from error
        return await tool_result(answer, desk=self.desk, spill=ctx.spill, characters=self.tool.max_result)


def described(tool: ServerTool) -> str:
    """The server's words, cut where they are far too long."""
    text = tool.description.strip() or f"{tool.name} (the server gives no description)"
    return text if len(text) <= DESCRIPTION else text[: DESCRIPTION - 2].rstrip() + " …"


def _progress(done: float, total: float | None, message: str | None) -> str:
    share = f"{done:g} of {total:g}" if total else f"{done:g}"
    return f"{share}{': ' + one_line(clean(message), 300) if message else ''}\n"


def definition(spec: ToolSpec) -> str:
    """The tool as a line of JSON, for places that take only text."""
    value: dict[str, Any] = {"name": spec.name, "description": spec.description, "input_schema": spec.input_schema}
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
