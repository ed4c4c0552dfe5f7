"""Tool definitions, ``tool_choice`` and what refers to tools."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

from tests.api.errors import bad
from tests.api.models import Model
from tests.api.validate.shape import CONTROL, Field, Shape, check, may, need

NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
DOMAIN = re.compile(r"[^\s:/*]+(/[^\s]*)?")
CLIENT_SIDE = ("bash_", "text_editor_", "memory_")
"""Tools of the API's own that the client runs."""
PROPERTY = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
COMMON: Shape = {
    "name": need(),
    "cache_control": CONTROL,
    "defer_loading": Field("boolean"),
    "strict": Field("boolean"),
    "allowed_callers": Field("list"),
}
CUSTOM: Shape = {
    **COMMON,
    "type": may("string", "custom"),
    "description": Field("string"),
    "input_schema": need("object"),
    "eager_input_streaming": may("boolean"),
    "input_examples": Field("list"),
}
SEARCH: Shape = {
    "max_uses": may("integer"),
    "allowed_domains": may("list"),
    "blocked_domains": may("list"),
}
INCLUSION: Shape = {"response_inclusion": Field("string", choices=("full", "excluded"))}
CACHED: Shape = {"use_cache": Field("boolean")}
LOCATION: Shape = {
    "type": need("string", "approximate"),
    "city": may(),
    "country": may(),
    "region": may(),
    "timezone": may(),
}
CALLERS = ("direct", "code_execution_20250825", "code_execution_20260120", "code_execution_20260521")
FETCH: Shape = {
    **SEARCH,
    "citations": may("object"),
    "max_content_tokens": may("integer"),
    "url_sources": may("object"),
}
EXAMPLES: Shape = {"input_examples": Field("list")}
SERVER_TOOLS: Mapping[str, tuple[str, Shape]] = {
    **{f"web_search_{v}": ("web_search", {**SEARCH, "user_location": may("object"), **more})
       for v, more in (("20250305", {}), ("20260209", {}), ("20260318", INCLUSION))},
    **{f"web_fetch_{v}": ("web_fetch", {**FETCH, **more})
       for v, more in (("20250910", {}), ("20260209", {}), ("20260309", CACHED), ("20260318", CACHED | INCLUSION))},
    **{f"code_execution_{v}": ("code_execution", {}) for v in ("20250522", "20250825", "20260120", "20260521")},
    **{f"tool_search_tool_{kind}{v}": (f"tool_search_tool_{kind}", {})
       for kind in ("bm25", "regex") for v in ("", "_20251119")},
    "bash_20250124": ("bash", EXAMPLES),
    "text_editor_20250728": ("str_replace_based_edit_tool", {**EXAMPLES, "max_characters": may("integer")}),
    "memory_20250818": ("memory", EXAMPLES),
}  # fmt: skip
"""Types of the API's own tools: the name that each must have, and its fields beside the common ones."""
PARALLEL: Shape = {"disable_parallel_tool_use": Field("boolean")}
CHOICES: Mapping[str, Shape] = {
    "auto": {"type": need(), **PARALLEL},
    "any": {"type": need(), **PARALLEL},
    "tool": {"type": need(), "name": need(), **PARALLEL},
    "none": {"type": need()},
}


def check_tools(tools: list[Any], betas: Collection[str], *, server_tools: bool = True) -> None:
    names: set[str] = set()
    for i, tool in enumerate(tools):
        path = f"tools.{i}"
        kind = tool.get("type") if isinstance(tool, dict) else None
        if kind in (None, "custom"):
            check(f"{path}.custom" if kind else path, tool, CUSTOM, betas)
            _check_schema(f"{path}.custom.input_schema", tool["input_schema"])
        elif kind in SERVER_TOOLS and (server_tools or kind.startswith(CLIENT_SIDE)):
            name, extra = SERVER_TOOLS[kind]
            check(path, tool, {**COMMON, "type": need(), **extra}, betas)
            if tool["name"] != name:
                raise bad(f"{path}.{kind}.name", f"Input should be '{name}'")
            _check_server_tool(f"{path}.{kind}", tool)
        else:
            raise bad(path, f"Input tag '{kind}' found using 'type' does not match any of the expected tags")
        if not NAME.fullmatch(tool["name"]):
            raise bad(f"{path}.custom.name", "String should match pattern '^[a-zA-Z0-9_-]{1,64}$'")
        if tool["name"] in names:
            raise bad("tools", "Tool names must be unique.")
        names.add(tool["name"])
        if tool.get("defer_loading") and tool.get("cache_control"):
            raise bad(path, f"Tool '{tool['name']}' cannot have both defer_loading=true and cache_control set.")
    if tools and all(t.get("defer_loading") for t in tools):
        raise bad("tools", "At least one tool must have defer_loading=false.")


def _check_server_tool(path: str, tool: dict[str, Any]) -> None:
    """What a search or fetch may be bounded by."""
    if tool.get("allowed_domains") is not None and tool.get("blocked_domains") is not None:
        raise bad(path, "Only one of `allowed_domains` and `blocked_domains` may be specified.")
    for name in ("allowed_domains", "blocked_domains"):
        for i, domain in enumerate(tool.get(name) or []):
            if not isinstance(domain, str):
                raise bad(f"{path}.{name}.{i}", "Input should be a valid string")
            if not DOMAIN.fullmatch(domain):
                raise bad(f"{path}.{name}.{i}", f"'{domain}' is not a valid domain: give it without scheme")
    uses = tool.get("max_uses")
    if uses is not None and uses <= 0:
        raise bad(f"{path}.max_uses", "Input should be greater than 0")
    if tool.get("user_location") is not None:
        check(f"{path}.user_location", tool["user_location"], LOCATION, ())
    for i, caller in enumerate(tool.get("allowed_callers") or []):
        if caller not in CALLERS:
            raise bad(f"{path}.allowed_callers.{i}", f"Input should be one of {', '.join(CALLERS)}")


def check_choice(body: dict[str, Any], model: Model, betas: Collection[str]) -> None:
    choice = body.get("tool_choice")
    if choice is None:
        return
    kind = choice.get("type")
    if kind not in CHOICES:
        raise bad("tool_choice", f"Input tag '{kind}' found using 'type' does not match any of the expected tags")
    check("tool_choice", choice, CHOICES[kind], betas)
    tools = body.get("tools", [])
    if not tools:
        raise bad("tool_choice", "tool_choice may only be specified while providing tools.")
    if kind == "tool" and choice["name"] not in {t["name"] for t in tools}:
        raise bad("tool_choice", f"Tool '{choice['name']}' not found in provided tools")
    if kind in ("any", "tool"):
        if not model.forced_tool_choice:
            raise bad("tool_choice", f'"{kind}" is not supported by {model.id}')
        if body.get("thinking", {}).get("type") in ("adaptive", "enabled"):
            raise bad("", "Thinking may not be enabled when tool_choice forces tool use.")


def check_reference(path: str, name: str, tools: list[dict[str, Any]]) -> None:
    """A ``tool_reference`` names a tool that is defined and deferred."""
    tool = next((t for t in tools if t["name"] == name), None)
    if tool is None:
        raise bad(path, f"Tool reference '{name}' not found in available tools")
    if not tool.get("defer_loading"):
        raise bad(path, f"Tool reference '{name}' must name a tool with defer_loading=true")


def _check_schema(path: str, schema: dict[str, Any]) -> None:
    if schema.get("type") != "object":
        raise bad(f"{path}.type", "Input should be 'object'" if "type" in schema else "Field required")
    if any(word in schema for word in ("oneOf", "allOf", "anyOf")):
        raise bad(path, "input_schema does not support oneOf, allOf, or anyOf at the top level")
    properties = schema.get("properties", {})
    if not isinstance(properties, dict):
        raise bad(f"{path}.properties", "Input should be a valid dictionary")
    for name, value in properties.items():
        if not PROPERTY.fullmatch(name):
            raise bad(f"{path}.properties", "Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'")
        if not isinstance(value, dict | bool):
            raise bad(path, "JSON schema is invalid. It must match JSON Schema draft 2020-12")
    required = schema.get("required", [])
    if not isinstance(required, list) or not all(isinstance(r, str) for r in required):
        raise bad(path, "JSON schema is invalid. It must match JSON Schema draft 2020-12")
