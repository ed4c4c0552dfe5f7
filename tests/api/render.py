"""A request as the model reads it: one chain of blocks, tools -> system -> messages.

The cache is a prefix match over this chain.  Each block has a hash that stands for everything up to it, the key
included: model, betas and effort in front of the tools; speed and server-side search in front of the system prompt;
tool choice, thinking and the presence of images in front of the messages.  So a change loses its own level and those
behind it, and nothing else.

Deferred tools are not rendered; a ``tool_reference`` renders the definition where it stands.  Thinking that the model
can't read, or that it strips, is left out.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from tests.api.models import Model
from tests.api.tokens import count_block, count_json

Json = dict[str, Any]
Level = Literal["tools", "system", "messages"]


@dataclass(frozen=True, slots=True)
class Marker:
    """A breakpoint.  ``ttl`` is seconds."""

    ttl: int
    scope: Literal["org", "global"] = "org"


@dataclass(frozen=True, slots=True)
class ChainBlock:
    path: str
    """Where it stands in the request, such as ``messages.2.content.0``."""
    level: Level
    tokens: int
    digest: str
    """Of the key and all blocks up to this one."""
    own: str
    """Digest of this block alone."""
    marker: Marker | None


@dataclass(frozen=True, slots=True)
class _Raw:
    path: str
    level: Level
    tokens: int
    content: Any
    control: Json | None


def render(
    request: Json, model: Model, betas: Sequence[str], *, dropped: frozenset[str] = frozenset()
) -> list[ChainBlock]:
    """``dropped`` are paths of thinking blocks that this model is not shown."""
    raws = [*_tools(request), *_system(request), *_messages(request, model, dropped)]
    control = request.get("cache_control")
    automatic = next((r.path for r in reversed(raws) if _cacheable(r)), None) if control else None
    chain: list[ChainBlock] = []
    running = _hash("", [model.id, sorted(betas), (request.get("output_config") or {}).get("effort")])
    level: Level = "tools"
    for raw in raws:
        while level != raw.level:
            level, running = _next_level(level, running, request)
        running = _hash(running, raw.content)
        marked = control if raw.path == automatic else raw.control
        chain.append(ChainBlock(raw.path, raw.level, raw.tokens, running, _hash("", raw.content), marker(marked)))
    return chain


def marker(control: Json | None) -> Marker | None:
    if not control:
        return None
    return Marker(3600 if control.get("ttl") == "1h" else 300, "global" if control.get("scope") == "global" else "org")


def without_marks(value: Any) -> Any:
    """The value without any ``cache_control``: marks are no content."""
    if isinstance(value, dict):
        return {k: without_marks(v) for k, v in value.items() if k != "cache_control"}
    if isinstance(value, list):
        return [without_marks(v) for v in value]
    return value


def as_blocks(content: Any) -> list[Json]:
    """A content list, whatever form it came in."""
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)


def _next_level(level: Level, running: str, request: Json) -> tuple[Level, str]:
    if level == "tools":
        types = sorted(str(t.get("type")) for t in request.get("tools", []) if "web_" in str(t.get("type")))
        return "system", _hash(running, ["system", request.get("speed") or "standard", types])
    thinking = (request.get("thinking") or {}).get("type", "default")
    images = any(_has_image(b) for m in request["messages"] for b in as_blocks(m["content"]))
    choice = request.get("tool_choice") or {"type": "auto"}
    return "messages", _hash(running, ["messages", choice, thinking, images])


def _tools(request: Json) -> Iterator[_Raw]:
    for i, tool in enumerate(request.get("tools", [])):
        if not tool.get("defer_loading"):
            content = without_marks(tool)
            yield _Raw(f"tools.{i}", "tools", count_json(content), content, tool.get("cache_control"))


def _system(request: Json) -> Iterator[_Raw]:
    for i, block in enumerate(as_blocks(request.get("system") or [])):
        yield _Raw(f"system.{i}", "system", count_block(block), without_marks(block), block.get("cache_control"))


def _messages(request: Json, model: Model, dropped: frozenset[str]) -> Iterator[_Raw]:
    tools = {t["name"]: without_marks(t) for t in request.get("tools", []) if "name" in t}
    stripped_before = _last_prompt(request) if _strips(request, model) else 0
    for i, message in enumerate(request["messages"]):
        for j, block in enumerate(as_blocks(message["content"])):
            path = f"messages.{i}.content.{j}"
            thinking = block["type"] in ("thinking", "redacted_thinking")
            if path in dropped or (thinking and i < stripped_before):
                continue
            content = [message["role"], without_marks(block)]
            tokens = count_block(block)
            for name in (n for n in references(block) if n in tools):
                content.append(tools[name])
                tokens += count_json(tools[name])
            yield _Raw(path, "messages", tokens, content, block.get("cache_control"))


def references(block: Json) -> Iterator[str]:
    """Names of the deferred tools that a result brings in."""
    if block["type"] == "tool_result" and not isinstance(block.get("content", ""), str):
        yield from (c["tool_name"] for c in block["content"] if c["type"] == "tool_reference")
    if block["type"] == "tool_search_tool_result":
        yield from (r["tool_name"] for r in block["content"].get("tool_references", []))


def _strips(request: Json, model: Model) -> bool:
    edits = (request.get("context_management") or {}).get("edits", [])
    keeps = any(e["type"] == "clear_thinking_20251015" and e.get("keep") in ("all", {"type": "all"}) for e in edits)
    return model.strips_thinking and not keeps


def _last_prompt(request: Json) -> int:
    """Index of the last message that begins a turn: a user message that holds no tool result."""
    starts = [
        i
        for i, m in enumerate(request["messages"])
        if m["role"] == "user" and not any(b["type"] == "tool_result" for b in as_blocks(m["content"]))
    ]
    return starts[-1] if starts else 0


def _cacheable(raw: _Raw) -> bool:
    block = raw.content[1] if raw.level == "messages" else raw.content
    return block.get("type") not in ("thinking", "redacted_thinking")


def _has_image(block: Json) -> bool:
    if block["type"] == "image":
        return True
    inner = block.get("content")
    return block["type"] == "tool_result" and isinstance(inner, list) and any(c["type"] == "image" for c in inner)


def _hash(before: str, content: Any) -> str:
    text = before + json.dumps(content, sort_keys=False, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()
