"""Breakpoints: how many, where, in which order; and the fields of ``context_management``."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from tests.api.errors import bad
from tests.api.options import Options
from tests.api.render import as_blocks
from tests.api.validate.shape import Field, Shape, check, may, need

Json = dict[str, Any]
SCOPE = "prompt-caching-scope-2026-01-05"
EDITING = "context-management-2025-06-27"
COMPACT = "compact-2026-01-12"
CONTROL: Shape = {
    "type": need("string", "ephemeral"),
    "ttl": Field("string", choices=("5m", "1h")),
    "scope": Field("string", choices=("global", "org"), betas=(SCOPE,)),
}
MAX_MARKS = 4
EDITS: Mapping[str, tuple[str, Shape]] = {
    "clear_tool_uses_20250919": (
        EDITING,
        {
            "type": need(),
            "trigger": Field("object"),
            "keep": Field("object"),
            "clear_at_least": may("object"),
            "clear_tool_inputs": may("boolean|list"),
            "exclude_tools": may("list"),
        },
    ),
    "clear_thinking_20251015": (EDITING, {"type": need(), "keep": Field("string|object")}),
    "compact_20260112": (
        COMPACT,
        {
            "type": need(),
            "trigger": may("object"),
            "instructions": may(),
            "pause_after_compaction": Field("boolean"),
        },
    ),
}


def check_marks(body: Json, betas: Collection[str], options: Options) -> None:
    """Every ``cache_control`` of the request, in the order tools, system, messages."""
    marks = list(_marks(body))
    for path, control in marks:
        if options.refuse_scope and "scope" in control:
            raise bad(f"{path}.cache_control.ephemeral.scope", "Extra inputs are not permitted")
        check(f"{path}.cache_control.ephemeral" if path else "cache_control.ephemeral", control, CONTROL, betas)
    if len(marks) > MAX_MARKS:
        raise bad("", f"A maximum of 4 blocks with cache_control may be provided. Found {len(marks)}.")
    short = ""
    for path, control in marks:
        if control.get("ttl", "5m") == "5m":
            short = short or path or "cache_control"
        elif short:
            raise bad(
                f"{path}.cache_control.ttl" if path else "cache_control.ttl",
                "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. Note that blocks "
                "are processed in the following order: `tools`, `system`, `messages`.",
            )


def check_context_management(body: Json, betas: Collection[str]) -> None:
    management = body.get("context_management")
    if management is None:
        return
    check("context_management", management, {"edits": Field("list")}, betas)
    kinds: list[str] = []
    for i, edit in enumerate(management.get("edits", [])):
        path = f"context_management.edits.{i}"
        kind = edit.get("type") if isinstance(edit, dict) else None
        beta, shape = EDITS.get(str(kind), ("", {}))
        if not beta or beta not in betas:
            raise bad(path, f"Input tag '{kind}' found using 'type' does not match any of the expected tags")
        check(path, edit, shape, betas)
        kinds.append(str(kind))
    if "clear_thinking_20251015" in kinds[1:]:
        raise bad("context_management.edits", "`clear_thinking_20251015` must be the first edit")


def _marks(body: Json) -> Iterator[tuple[str, Json]]:
    places = [(f"tools.{i}", t) for i, t in enumerate(body.get("tools", []))]
    places += [(f"system.{i}", b) for i, b in enumerate(as_blocks(body.get("system") or []))]
    for i, message in enumerate(body["messages"]):
        for j, block in enumerate(as_blocks(message["content"])):
            path = f"messages.{i}.content.{j}"
            places += [
                (f"{path}.content.{k}", inner)
                for k, inner in enumerate(
                    as_blocks(block.get("content") or []) if block["type"] == "tool_result" else []
                )
            ]
            places.append((path, block))
    for path, value in places:
        if value.get("cache_control") is not None:
            yield path, value["cache_control"]
    if body.get("cache_control") is not None:
        yield "", body["cache_control"]
