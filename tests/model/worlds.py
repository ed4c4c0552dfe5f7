"""Requests and clients for the tests of the model room."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from agentcli.conversation import ConversationCache, PromptPart, SystemPrompt
from agentcli.messages import Message, TextBlock, ThinkingBlock, ToolResultBlock, ToolUseBlock, assistant, user
from agentcli.model.parts import Rules
from agentcli.model.request import RequestBuilder, WireRequest
from agentcli.ports.model import CacheReport, ModelEvent, ModelRequest, ToolSpec
from agentcli.prompt.split import split_sys_prompt_prefix

MODEL = "claude-sonnet-5-5"
STATIC = "You help with code. " * 150
MEMORY = "The project uses tabs. " * 120
READ = ToolSpec(
    "Read", "Reads a file.", {"type": "object", "required": ["path"], "properties": {"path": {"type": "string"}}}
)
BASH = ToolSpec("Bash", "Runs a command.", {"properties": {"command": {"type": "string"}}, "type": "object"})
MCP_B = ToolSpec("mcp__b__x", "B.", {"type": "object"}, mcp=True)
MCP_A = ToolSpec("mcp__a__x", "A.", {"type": "object"}, mcp=True)
LATE = ToolSpec("WebFetch", "Fetches.", {"type": "object"}, deferred=True)
LATE_MCP = replace(MCP_A, name="mcp__a__late", deferred=True)


def prompt(*, memory: str = MEMORY, env: str = "cwd: /p", static: str = STATIC, scope: bool = False) -> SystemPrompt:
    return SystemPrompt(
        (
            PromptPart("identity", "identity", "You are agentcli."),
            PromptPart("intro", "static", static),
            PromptPart("boundary", "boundary", "__SYSTEM_PROMPT_DYNAMIC_BOUNDARY__"),
            PromptPart("memory", "dynamic", memory, "memoised"),
            PromptPart("env_info_simple", "dynamic", env, "memoised"),
        ),
        "default",
        global_scope=scope,
    )


def ask(*messages: Message, conversation: ConversationCache | None = None, **more: Any) -> ModelRequest:
    base = ModelRequest(
        system=prompt(),
        tools=(READ, BASH),
        messages=messages or (user("hi"),),
        model=MODEL,
        conversation=conversation or ConversationCache(),
    )
    return replace(base, **more)


def reminder(text: str) -> TextBlock:
    return TextBlock(f"<system-reminder>\n{text}\n</system-reminder>", "reminder")


def build(request: ModelRequest, *, provider: Any = "first_party", **rules: Any) -> WireRequest:
    return RequestBuilder().build(request, Rules(provider=provider, split=split_sys_prompt_prefix, **rules))


async def collect(stream: Any) -> list[ModelEvent]:
    return [event async for event in stream]


def report(events: list[ModelEvent]) -> CacheReport:
    assert isinstance(events[-1], CacheReport)
    return events[-1]


def sample() -> ModelRequest:
    """A request with something of everything."""
    schema = {"type": "object", "properties": {k: {"type": "string", "enum": ["x", "y"]} for k in ("zeta", "alpha")}}
    return ask(
        user(reminder("r"), "hi"),
        assistant(ThinkingBlock("hm", "s"), ToolUseBlock("t1", "Read", {"z": 1, "a": [1, {"y": 2, "b": 3}]})),
        user(ToolResultBlock("t1", (TextBlock("ü\u2028x"),), is_error=True)),
        tools=(READ, MCP_B, BASH, replace(MCP_A, input_schema=schema), LATE_MCP, LATE),
        output_schema={"type": "object", "b": 1, "a": 2},
    )
