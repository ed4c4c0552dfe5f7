"""Reads a server's lists: tools, prompts, resources.  What a server says is taken with care."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from agentcli.mcp.limits import INSTRUCTIONS, PAGES, RESULT_CHARACTERS
from agentcli.mcp.values import PromptArgument, ServerPrompt, ServerResource, ServerTool
from agentcli.text import clean, clean_json, plain

if TYPE_CHECKING:
    from mcp import Client

_MAX_RESULT = "anthropic/maxResultSizeChars"


async def list_tools(client: Client) -> tuple[ServerTool, ...]:
    """Every tool that can be understood; one that can't does not take the others with it.  ``MCPError`` where the
    server refuses, ``ValueError`` where its answer is not one."""
    raw = await _pages(lambda cursor: client.list_tools(cursor=cursor, cache_mode="refresh"), "tools")
    return tuple(_tool(t) for t in raw)


async def list_prompts(client: Client) -> tuple[ServerPrompt, ...]:
    found = await _pages(lambda cursor: client.list_prompts(cursor=cursor, cache_mode="refresh"), "prompts")
    return tuple(
        ServerPrompt(
            clean(p.name),
            plain(p.description or ""),
            tuple(PromptArgument(a.name, plain(a.description or ""), bool(a.required)) for a in p.arguments or ()),
        )
        for p in found
    )


async def list_resources(client: Client) -> tuple[ServerResource, ...]:
    found = await _pages(lambda cursor: client.list_resources(cursor=cursor, cache_mode="refresh"), "resources")
    return tuple(
        ServerResource(str(r.uri), clean(r.name), plain(r.description or ""), r.mime_type or "") for r in found
    )


async def list_templates(client: Client) -> tuple[ServerResource, ...]:
    found = await _pages(
        lambda cursor: client.list_resource_templates(cursor=cursor, cache_mode="refresh"), "resource_templates"
    )
    return tuple(
        ServerResource(clean(r.uri_template), clean(r.name), plain(r.description or ""), r.mime_type or "")
        for r in found
    )


async def _pages(read: Callable[[str | None], Awaitable[Any]], name: str) -> list[Any]:
    """All pages of a list; a server whose list has no end, or that repeats a page, is cut off."""
    found: list[Any] = []
    cursor: str | None = None
    seen: set[str] = set()
    for _ in range(PAGES):
        page = await read(cursor)
        found += getattr(page, name)
        cursor = page.next_cursor
        if not cursor or cursor in seen:
            break
        seen.add(cursor)
    return found


def _tool(tool: Any) -> ServerTool:
    hints = tool.annotations
    size = (tool.meta or {}).get(_MAX_RESULT)
    schema = clean_json(tool.input_schema)
    return ServerTool(
        name=tool.name,
        description=plain(tool.description or tool.title or ""),
        input_schema=schema if isinstance(schema, dict) else {},
        read_only=bool(hints and hints.read_only_hint),
        destructive=bool(hints and hints.destructive_hint),
        max_result=min(size, RESULT_CHARACTERS) if isinstance(size, int) and size > 0 else None,
    )


def cut_instructions(text: str) -> str:
    """At most ``INSTRUCTIONS`` characters, with a note where it was cut."""
    text = plain(text).strip()
    if len(text) <= INSTRUCTIONS:
        return text
    note = "\n[… cut here: the server's instructions are too long]"
    return text[: INSTRUCTIONS - len(note)].rstrip() + note
