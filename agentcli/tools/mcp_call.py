"""Calls a deferred tool by name, where the model's server can't be given definitions in the middle of a conversation.

Its definition is the same in every session, so that no server changes the cached prefix.  The engine puts the real
call in its place before hooks, permissions and display see it; what runs here is only a call that could not be
understood.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cached_property
from typing import Any

from agentcli.errors import ToolInputError
from agentcli.messages import Json
from agentcli.ports.display import Display
from agentcli.ports.model import ToolSpec
from agentcli.ports.tools import Effect, ToolCall, ToolContext, ToolResult
from agentcli.text import one_line
from agentcli.tools.base import words

NAME = "McpCall"


def resolve(call: ToolCall, known: Callable[[str], bool]) -> ToolCall:
    """The real call behind one of the dispatcher; any other call, and one that names nothing known, as it is."""
    if call.name != NAME:
        return call
    tool, arguments = call.input.get("tool"), _object(call.input.get("arguments"))
    if not isinstance(tool, str) or arguments is None or not known(tool):
        return call
    return ToolCall(call.id, tool, arguments)


class McpCall:
    """``names`` gives the tools that can be called, for the error."""

    def __init__(self, names: Callable[[], tuple[str, ...]]) -> None:
        self._names = names

    @cached_property
    def spec(self) -> ToolSpec:
        schema = {
            "type": "object",
            "properties": {"tool": {"type": "string"}, "arguments": {"type": "object"}},
            "required": ["tool", "arguments"],
        }
        return ToolSpec(NAME, words(__file__), schema)

    def effect(self, input: Json) -> Effect:
        return "read"

    def title(self, input: Json) -> str:
        return one_line(str(input.get("tool", "")))

    def preview(self, input: Json, ctx: ToolContext) -> Display | None:
        return None

    async def run(self, input: Json, ctx: ToolContext) -> ToolResult:
        """Only reached with a call that names nothing."""
        tool = input.get("tool")
        if isinstance(tool, str) and tool in self._names():
            raise ToolInputError("`arguments` must be an object with the tool's input.")
        raise ToolInputError(f"There is no tool {tool!r} to call. Find its name and definition with ToolSearch first.")


def _object(value: Any) -> Json | None:
    if value is None:
        return {}
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            return None
    return value if isinstance(value, dict) else None
