"""The default prompt: which parts, in which order."""

from __future__ import annotations

from collections.abc import Sequence

from agentcli.conversation import ConversationCache, PromptLevel, PromptPart
from agentcli.ports.prompt import PromptSources
from agentcli.prompt.boundary import boundary_part
from agentcli.prompt.context import ProactiveWords, PromptContext
from agentcli.prompt.dynamic import (
    env_info_simple,
    function_result_clearing,
    language,
    mcp_instructions,
    memory,
    output_style,
    scratchpad,
    session_guidance,
    summarize_tool_results,
    token_budget,
)
from agentcli.prompt.identity import MAIN_IDENTITY, identity_part
from agentcli.prompt.section import SystemPromptSection, Warn, resolve_system_prompt_sections
from agentcli.prompt.static import static_part, static_region
from agentcli.prompt.words import one_line

_REGISTRY = (
    session_guidance.section,
    memory.section,
    env_info_simple.section,
    language.section,
    output_style.section,
    mcp_instructions.section,
    scratchpad.section,
    function_result_clearing.section,
    summarize_tool_results.section,
    token_budget.section,
)
_PROACTIVE_REGISTRY = (
    memory.section,
    env_info_simple.section,
    language.section,
    mcp_instructions.section,
    scratchpad.section,
)


def default_level(context: PromptContext) -> PromptLevel:
    """Which of its three paths ``get_system_prompt`` takes."""
    if context.simple:
        return "simple"
    return "proactive" if context.proactive is not None else "default"


def dynamic_sections(context: PromptContext, sources: PromptSources) -> list[SystemPromptSection]:
    """The registry of the path that is taken, in order."""
    match default_level(context):
        case "simple":
            return []
        case "proactive":
            return [section(context, sources) for section in _PROACTIVE_REGISTRY]
        case _:
            return [section(context, sources) for section in _REGISTRY]


async def get_system_prompt(
    context: PromptContext, sources: PromptSources, cache: ConversationCache, *, warn: Warn | None = None
) -> list[PromptPart]:
    """The default prompt's parts: the ``CLAUDE_CODE_SIMPLE`` stub, the proactive list, or the standard list."""
    if context.simple:
        return [_stub(context)]
    dynamic = await _resolved(dynamic_sections(context, sources), cache, warn)
    if context.proactive is not None:
        return _proactive(context.proactive, dynamic)
    style = context.output_style
    # Chosen once per conversation: another style must not change the bytes in front of the boundary in its middle.
    coding = cache.latch("coding_instructions", style is None or style.keep_coding_instructions)
    boundary = [boundary_part()] if context.global_scope or context.layout == "split" else []
    return [identity_part(), *static_region(coding_instructions=coding), *boundary, *dynamic]


async def _resolved(
    sections: Sequence[SystemPromptSection], cache: ConversationCache, warn: Warn | None
) -> list[PromptPart]:
    texts = await resolve_system_prompt_sections(sections, cache, warn=warn)
    return [
        PromptPart(section.name, "dynamic", text, section.policy, section.reason)
        for section, text in zip(sections, texts, strict=True)
        if text is not None and text.strip()
    ]


def _stub(context: PromptContext) -> PromptPart:
    """Three lines for looking at the bare model: no instructions, no memory, no guidance."""
    cwd = one_line(context.environment.cwd)
    text = f"{MAIN_IDENTITY}\nWorking directory: {cwd}\nDate: {context.start_date}"
    return PromptPart("simple", "dynamic", text, "memoised")


def _proactive(words: ProactiveWords, dynamic: list[PromptPart]) -> list[PromptPart]:
    closing = PromptPart("proactive", "dynamic", words.section, "memoised")
    return [PromptPart("identity", "identity", words.identity), static_part("system"), *dynamic, closing]
