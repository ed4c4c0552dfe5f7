"""One bad item never costs the list: what of a server's answer can't be read is made readable, or left out."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from agentcli.text import clean, one_line

_SHOWN = 2_000
"""Characters of a part of a kind that nobody knows."""


def mend(result: dict[str, Any]) -> list[str]:
    """Makes a server's result readable, in place; returns what was done."""
    return [*_mend_tools(result), *_mend_content(result)]


def _mend_tools(result: dict[str, Any]) -> list[str]:
    """Takes out of a list of tools what would make the whole list unreadable; returns what was done."""
    tools = result.get("tools")
    if not isinstance(tools, list):
        return []
    faults: list[str] = []
    kept: list[Any] = []
    for tool in tools:
        if not isinstance(tool, dict) or not isinstance(tool.get("name"), str) or not tool["name"]:
            faults.append("a tool without a name is left out")
            continue
        schema = tool.get("inputSchema")
        if not isinstance(schema, dict) or schema.get("type") != "object":
            faults.append(f"tool {tool['name']}: its inputSchema is no object schema")
            tool["inputSchema"] = {**(schema if isinstance(schema, dict) else {}), "type": "object"}
        if not isinstance(tool.get("description", ""), str):
            tool.pop("description")
        output = tool.get("outputSchema", {"type": "object"})
        if not isinstance(output, dict) or output.get("type") != "object":
            tool.pop("outputSchema")
        for key, kind in (("annotations", dict), ("_meta", dict), ("icons", list), ("title", str)):
            if key in tool and not isinstance(tool[key], kind):
                tool.pop(key)
        kept.append(tool)
    result["tools"] = kept
    return faults


def _mend_content(result: dict[str, Any]) -> list[str]:
    """Puts a text in the place of each part of a tool's result that the protocol does not know, so that the others are
    not lost with it; returns what was done."""
    content = result.get("content")
    if not isinstance(content, list):
        return []
    faults: list[str] = []
    for index, part in enumerate(content):
        if _readable(part):
            continue
        kind = part.get("type") if isinstance(part, dict) else None
        words = f"a part of the kind {one_line(str(kind), 60)!r} that can't be read"
        faults.append(words)
        raw = clean(json.dumps(part, ensure_ascii=False))
        shown = raw if len(raw) <= _SHOWN else f"{raw[:_SHOWN]}… ({len(raw):,} characters)"
        content[index] = {"type": "text", "text": f"[{words}] {shown}"}
    return faults


def _readable(part: Any) -> bool:
    try:
        _parts().validate_python(part, by_name=False)
    except ValueError:
        return False
    return True


@lru_cache(maxsize=1)
def _parts() -> Any:
    from mcp.types import ContentBlock
    from pydantic import TypeAdapter

    return TypeAdapter(ContentBlock)
