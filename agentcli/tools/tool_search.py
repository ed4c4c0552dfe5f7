"""Brings deferred tools into the conversation, by name or by keyword."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from agentcli.messages import ResultContent, TextBlock, ToolReferenceBlock
from agentcli.ports.display import TextDisplay
from agentcli.ports.model import ToolSpec
from agentcli.ports.tools import Effect, ToolContext, ToolDirectory, ToolResult, text_result
from agentcli.text import plural
from agentcli.tools.base import BuiltinTool
from agentcli.tools.mcp_call import NAME as DISPATCHER
from agentcli.tools.schema import param

_LISTED = 40


@dataclass(frozen=True, slots=True)
class ToolSearchParams:
    query: str
    max_results: int = param("5 by default", default=5, minimum=1)


class ToolSearch(BuiltinTool[ToolSearchParams]):
    name = "ToolSearch"
    code = __file__
    key = "query"
    kind: ClassVar[Effect] = "read"

    def __init__(self, directory: ToolDirectory) -> None:
        super().__init__(ToolSearchParams)
        self._directory = directory

    async def call(self, params: ToolSearchParams, ctx: ToolContext) -> ToolResult:
        directory = self._directory
        found = directory.search(params.query, params.max_results)
        missing: tuple[str, ...] = ()
        if not found:
            missing = await directory.complete()
            found = directory.search(params.query, params.max_results)
        if not found:
            return _nothing(params.query, directory.names(), missing)
        names = [spec.name for spec in found]
        directory.give(names)
        shown = TextDisplay(plural(len(found), "tool"), "\n".join(names))
        if directory.references:
            return ToolResult(tuple(ToolReferenceBlock(name) for name in names), shown)
        return ToolResult(_definitions(found), shown)


def _definitions(found: Sequence[ToolSpec]) -> tuple[ResultContent, ...]:
    """For servers that don't know tool references: the definitions as text."""
    lines = [
        json.dumps(
            {"name": s.name, "description": s.description, "input_schema": s.input_schema},
            ensure_ascii=False,
            separators=(",", ":"),
        )
        for s in found
    ]
    head = f"Call these with {DISPATCHER}: the name as `tool`, the input as `arguments`."
    return (TextBlock("\n".join([head, *lines])),)


def _nothing(query: str, names: Sequence[str], missing: Sequence[str]) -> ToolResult:
    parts = [f"No deferred tool fits {query!r}."]
    if names:
        more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
        parts.append(f"There are: {', '.join(names[:_LISTED])}{more}.")
    else:
        parts.append("There are none in this session.")
    if missing:
        parts.append(f"Servers that are not connected: {'; '.join(missing)}.")
    return text_result(" ".join(parts), summary="no tool found", is_error=True)
