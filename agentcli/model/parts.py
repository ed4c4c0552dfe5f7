"""The parts of a request in front of its messages, and the optional features that they use."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from agentcli.conversation import CacheScope, SystemPrompt
from agentcli.messages import Message
from agentcli.model.betas import BY_NAME
from agentcli.model.cache import caching_disabled, get_cache_control, latched_ttl
from agentcli.model.catalog import Provider, default_max_tokens
from agentcli.model.fingerprint import Fingerprint, MessagePiece, Piece
from agentcli.model.thinking import effort_for, thinking_field
from agentcli.ports.model import ModelInfo, ModelRequest, Splitter, ToolSpec

_STRIPS_THINKING = ("claude-sonnet-4-5", "claude-haiku-4-5")
"""Models that leave the thinking of earlier turns out unless told otherwise (context-editing page)."""


@dataclass(frozen=True, slots=True)
class Rules:
    """What holds for every request of a connection.  ``off`` are features that are refused or switched off, ``betas``
    the user's own beta headers, ``extra_body`` goes into the request's top level (``CLAUDE_CODE_EXTRA_BODY``)."""

    provider: Provider
    split: Splitter
    env: Mapping[str, str] = field(default_factory=dict)
    off: frozenset[str] = frozenset()
    betas: tuple[str, ...] = ()
    extra_body: Mapping[str, Any] | None = None
    hour: bool = False

    @property
    def first_party(self) -> bool:
        return self.provider == "first_party"


@dataclass(slots=True)
class MessageForm:
    """A message's API form and what is derived from it; made once per message object."""

    message: Message
    blocks: list[dict[str, Any]]
    digests: list[str]
    sizes: list[int]
    images: bool


class RequestParts:
    """The request's parts in front of the messages, and the features that they use."""

    def __init__(self, request: ModelRequest, rules: Rules, info: ModelInfo) -> None:
        self._request = request
        self._rules = rules
        self.info = info
        self.features: set[str] = set()
        self.caching = "caching" not in rules.off and not caching_disabled(request.model, rules.env)
        ttl = latched_ttl(request.conversation, request.query_source, hour=rules.hour and "ttl" not in rules.off)
        self.ttl = ttl if "ttl" not in rules.off else "5m"
        self._front_tools()
        self._system_blocks()
        self._thinking_and_output()
        if self.caching:
            self.features.add("caching")
            if self.ttl == "1h":
                self.features.add("ttl")
        if rules.first_party and self.caching and "diagnosis" not in rules.off:
            self.features.add("diagnosis")

    def control(self, scope: CacheScope | None) -> dict[str, str]:
        return get_cache_control(scope, self._request.query_source, hour=self.ttl == "1h")

    def _front_tools(self) -> None:
        tools = self._request.tools
        defer = self.defers = self._rules.first_party and "deferral" not in self._rules.off
        refused = self._rules.first_party and not defer
        front = [t for t in tools if not t.deferred or refused]
        ordered = [t for t in front if not t.mcp] + sorted((t for t in front if t.mcp), key=lambda t: t.name)
        self.mcp_in_front = any(t.mcp for t in ordered)
        self.front = [tool_to_api(replace(t, deferred=False)) for t in ordered]
        self.tool_pieces = tuple(Piece(t.name, dumps(api)) for t, api in zip(ordered, self.front, strict=True))
        self.deferred: list[dict[str, Any]] = []
        late = [t for t in tools if t.deferred] if defer else []
        if late:
            self.features.add("deferral")
            builtin, mcp = [t for t in late if not t.mcp], [t for t in late if t.mcp]
            self.deferred = [tool_to_api(t) for t in (*builtin, *sorted(mcp, key=lambda t: t.name))]

    def _system_blocks(self) -> None:
        prompt: SystemPrompt = self._request.system
        if prompt.global_scope and ("scope" in self._rules.off or not self._rules.first_party or not self.caching):
            prompt = replace(prompt, global_scope=False)
        self.global_scope = prompt.global_scope
        blocks = self._rules.split(prompt, skip_global_cache_for_system_prompt=self.mcp_in_front)
        self.system = [b for b in blocks if b.text.strip()]
        if any(b.scope == "global" for b in self.system):
            self.features.add("scope")

    def _thinking_and_output(self) -> None:
        request, rules, info = self._request, self._rules, self.info
        effort = effort_for(info, request.effort) if "effort" not in rules.off else None
        usual = default_max_tokens(info, effort, env=rules.env)
        wanted = request.max_tokens or usual
        self.max_tokens = min(wanted, info.max_output) if info.known else wanted
        display = "display" not in rules.off
        self.thinking = thinking_field(info, request.thinking, self.max_tokens, env=rules.env, display=display)
        self.output: dict[str, Any] = {}
        if effort is not None:
            self.output["effort"] = effort
            self.features.add("effort")
        if request.output_schema is not None:
            self.output["format"] = {"type": "json_schema", "schema": sorted_keys(request.output_schema)}
        if self.thinking and "display" in self.thinking:
            self.features.add("display")
        if self.thinking and self.thinking["type"] == "enabled":
            if "interleaved" not in rules.off:
                self.features.add("interleaved")
            strips = any(name in request.model for name in _STRIPS_THINKING)
            if strips and rules.first_party and "keep_thinking" not in rules.off:
                self.features.add("keep_thinking")

    def leave_out_thinking(self) -> None:
        self.thinking = None
        self.features -= {"display", "interleaved", "keep_thinking"}

    def beta_headers(self) -> tuple[str, ...]:
        """Headers of the features in use, then the user's; latched: once sent they go on being sent."""
        conversation, off = self._request.conversation, self._rules.off
        named = [f.header for f in BY_NAME.values() if f.name in self.features and f.header]
        refused = {f.header for f in BY_NAME.values() if f.name in off} | off
        for header in [h for h in conversation.beta_headers if h in refused]:
            conversation.beta_headers.remove(header)
        return conversation.latch_betas([h for h in (*named, *self._rules.betas) if h not in refused])

    def fingerprint(
        self, request: ModelRequest, betas: tuple[str, ...], forms: Sequence[MessageForm], *, images: bool, marks: int
    ) -> Fingerprint:
        by_name = {p.name: p.text for p in request.system.parts}
        names = [name for block in self.system for name in block.parts]
        sections = tuple(Piece(n, by_name.get(n, "")) for n in names)
        if not names:
            sections = tuple(Piece(f"block {i + 1}", b.text) for i, b in enumerate(self.system))
        return Fingerprint(
            model=request.model,
            betas=betas,
            ttl=self.ttl,
            tool_choice=request.tool_choice,
            thinking=str(self.thinking["type"]) if self.thinking else "off",
            effort=str(self.output.get("effort", "")),
            images=images,
            tools=self.tool_pieces,
            system=sections,
            blocks=tuple(max(len(b.parts), 1) for b in self.system),
            layout=" + ".join(f"{b.scope or 'none'}:{len(b.parts)}" for b in self.system),
            messages=tuple(
                MessagePiece(number, own, size)
                for number, form in enumerate(forms, 1)
                for own, size in zip(form.digests, form.sizes, strict=True)
            ),
            marks=marks,
        )


def tool_to_api(tool: ToolSpec) -> dict[str, Any]:
    """The tool's definition with sorted schema keys; a server tool goes as it is."""
    if tool.raw is not None:
        return dict(tool.raw)
    api: dict[str, Any] = {
        "name": tool.name,
        "description": tool.description,
        "input_schema": sorted_keys(tool.input_schema),
    }
    if tool.deferred:
        api["defer_loading"] = True
    return api


def sorted_keys(value: Any) -> Any:
    """The JSON value with the keys of every object sorted."""
    if isinstance(value, Mapping):
        return {k: sorted_keys(value[k]) for k in sorted(value)}
    if isinstance(value, list | tuple):
        return [sorted_keys(v) for v in value]
    return value


def dumps(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
