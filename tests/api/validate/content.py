"""Content blocks: their fields, and who may say them."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from tests.api.errors import bad
from tests.api.validate.media import check_document, check_image
from tests.api.validate.shape import CONTROL, Field, Shape, check, may, need
from tests.api.validate.tools import check_reference
from tests.api.validate.web import check_citations, check_found

Json = dict[str, Any]
ID = re.compile(r"[a-zA-Z0-9_-]+")
SERVER_ID = re.compile(r"srvtoolu_[a-zA-Z0-9_]+")
MCP_CLIENT = ("mcp-client-2025-04-04", "mcp-client-2025-11-20", "mcp-client-2026-09-15")
COMPACT = ("compact-2026-01-12", "compact-2026-09-04")
RESULT: Shape = {
    "type": need(),
    "tool_use_id": need(),
    "content": Field("object|list", required=True),
    "cache_control": CONTROL,
    "caller": may("object"),
}
BLOCKS: Mapping[str, Shape] = {
    "text": {"type": need(), "text": need(), "cache_control": CONTROL, "citations": may("list")},
    "image": {
        "type": need(),
        "source": need("object"),
        "cache_control": CONTROL,
        "transformations": may("object"),
    },
    "document": {
        "type": need(),
        "source": need("object"),
        "cache_control": CONTROL,
        "citations": may("object"),
        "context": may(),
        "title": may(),
    },
    "search_result": {
        "type": need(),
        "content": need("list"),
        "source": need(),
        "title": need(),
        "cache_control": CONTROL,
        "citations": Field("object"),
    },
    "thinking": {"type": need(), "thinking": need(), "signature": need()},
    "redacted_thinking": {"type": need(), "data": need()},
    "tool_use": {
        "type": need(),
        "id": need(),
        "name": need(),
        "input": need("object"),
        "cache_control": CONTROL,
        "caller": may("object"),
        "toolset_name": may(),
    },
    "tool_result": {
        "type": need(),
        "tool_use_id": need(),
        "content": Field("string|list"),
        "is_error": Field("boolean"),
        "cache_control": CONTROL,
        "toolset_name": may(),
    },
    "tool_reference": {"type": need(), "tool_name": need(), "cache_control": CONTROL},
    "server_tool_use": {
        "type": need(),
        "id": need(),
        "name": need(),
        "input": need("object"),
        "cache_control": CONTROL,
        "caller": may("object"),
    },
    "web_search_tool_result": RESULT,
    "web_fetch_tool_result": RESULT,
    "code_execution_tool_result": RESULT,
    "bash_code_execution_tool_result": RESULT,
    "text_editor_code_execution_tool_result": RESULT,
    "tool_search_tool_result": RESULT,
    "mcp_tool_use": {
        "type": need(),
        "id": need(),
        "name": need(),
        "input": need("object"),
        "server_name": need(),
        "cache_control": CONTROL,
    },
    "mcp_tool_result": {
        "type": need(),
        "tool_use_id": need(),
        "content": Field("string|list"),
        "is_error": Field("boolean"),
        "cache_control": CONTROL,
    },
    "compaction": {
        "type": need(),
        "content": may(),
        "encrypted_content": may(),
        "signature": may(),
        "tool_changes": may("list"),
        "cache_control": CONTROL,
    },
    "container_upload": {"type": need(), "file_id": need(), "cache_control": CONTROL},
}
SERVER_CALLS = (
    "web_search",
    "web_fetch",
    "code_execution",
    "bash_code_execution",
    "text_editor_code_execution",
    "tool_search_tool_regex",
    "tool_search_tool_bm25",
)
BETA_BLOCKS: Mapping[str, tuple[str, ...]] = {
    "compaction": COMPACT,
    "mcp_tool_use": MCP_CLIENT,
    "mcp_tool_result": MCP_CLIENT,
}
USER = frozenset({"text", "image", "document", "search_result", "tool_result", "container_upload"})
ASSISTANT = frozenset(BLOCKS) - frozenset({"image", "document", "search_result", "tool_result", "container_upload"})
ASSISTANT_BLOCKS = ASSISTANT - frozenset({"tool_reference"})
IN_RESULT = frozenset({"text", "image", "document", "search_result", "tool_reference"})


@dataclass(frozen=True, slots=True)
class Context:
    betas: Collection[str]
    version: str
    tools: list[Json]


def check_block(path: str, block: Any, role: str, ctx: Context) -> None:
    """One block of a message."""
    kind = _known(path, block, ctx)
    allowed = {"user": USER, "assistant": ASSISTANT_BLOCKS, "system": frozenset({"text"})}[role]
    if kind not in allowed:
        raise bad(path, f"`{kind}` blocks are not permitted in `{role}` messages")
    match kind:
        case "text":
            check_text(f"{path}.text", block, role, ctx)
        case "image":
            check_image(path, block, ctx.betas)
        case "document":
            check_document(path, block, ctx.betas)
        case "tool_use":
            _check_id(f"{path}.tool_use.id", block["id"], ID)
            if not block["name"]:
                raise bad(f"{path}.tool_use.name", "String should have at least 1 character")
        case "server_tool_use":
            _check_id(f"{path}.server_tool_use.id", block["id"], SERVER_ID)
            if block["name"] not in SERVER_CALLS:
                raise bad(f"{path}.server_tool_use.name", f"Input should be {' or '.join(map(repr, SERVER_CALLS))}")
        case "tool_result":
            _check_result(path, block, ctx)
        case "web_search_tool_result":
            check_found(f"{path}.{kind}", block["content"])
        case "tool_search_tool_result" if isinstance(block["content"], dict):
            for reference in block["content"].get("tool_references", []):
                check_reference(path, reference["tool_name"], ctx.tools)


def check_text(path: str, block: Json, role: str, ctx: Context) -> None:
    if not block["text"]:
        raise bad("messages" if role != "system prompt" else "system", "text content blocks must be non-empty")
    if not block["text"].strip():
        where = "messages" if role != "system prompt" else "system"
        raise bad(where, "text content blocks must contain non-whitespace text")
    if role == "user" and block.get("citations") and ctx.version == "2026-10-21":
        raise bad(f"{path}.citations", "non-empty citations are not permitted in user messages")
    check_citations(path, block.get("citations") or [])


def check_system(system: Any, ctx: Context) -> None:
    """The system prompt: a text, or a list of text blocks."""
    if isinstance(system, str):
        check_text("system", {"text": system}, "system prompt", ctx)
        return
    for i, block in enumerate(system):
        path = f"system.{i}"
        if _known(path, block, ctx) != "text":
            raise bad(f"{path}.type", "Input should be 'text'")
        check_text(path, block, "system prompt", ctx)


def _check_result(path: str, block: Json, ctx: Context) -> None:
    _check_id(f"{path}.tool_result.tool_use_id", block["tool_use_id"], ID)
    content = block.get("content", "")
    if isinstance(content, str):
        return
    for k, inner in enumerate(content):
        at = f"{path}.tool_result.content.{k}"
        kind = _known(at, inner, ctx)
        if kind not in IN_RESULT:
            raise bad(at, f"`{kind}` blocks are not permitted in `tool_result` blocks")
        if kind == "text" and not inner["text"]:
            raise bad("messages", "text content blocks must be non-empty")
        if kind == "image":
            check_image(at, inner, ctx.betas)
        if kind == "document":
            check_document(at, inner, ctx.betas)
        if kind == "tool_reference":
            check_reference(at, inner["tool_name"], ctx.tools)
        if block.get("is_error") and kind != "text":
            raise bad(f"{path}.tool_result", "all content must be type `text` if `is_error` is true")


def _known(path: str, block: Any, ctx: Context) -> str:
    """The block's kind, its fields checked."""
    if not isinstance(block, dict):
        raise bad(path, "Input should be a valid dictionary")
    kind = str(block.get("type"))
    needed = BETA_BLOCKS.get(kind, ())
    if kind not in BLOCKS or (needed and not set(needed) & set(ctx.betas)):
        raise bad(path, f"Input tag '{kind}' found using 'type' does not match any of the expected tags")
    check(f"{path}.{kind}", block, BLOCKS[kind], ctx.betas)
    return kind


def _check_id(path: str, value: str, pattern: re.Pattern[str]) -> None:
    if not pattern.fullmatch(value):
        raise bad(path, f"String should match pattern '^{pattern.pattern}$'")
