"""Subagents' prompts.  They bypass ``get_system_prompt``: a prompt of their own, then the facts of the place."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from agentcli.conversation import ConversationCache, PromptPart, SystemPrompt
from agentcli.ports.prompt import PromptSources
from agentcli.prompt.context import PromptContext
from agentcli.prompt.dynamic import memory
from agentcli.prompt.dynamic.env_info_simple import model_lines
from agentcli.prompt.environment import environment_lines
from agentcli.prompt.identity import SUBAGENT_IDENTITY, identity_part
from agentcli.prompt.section import Warn, resolve_system_prompt_sections
from agentcli.prompt.words import read_words
from agentcli.text import clean

DEFAULT_AGENT_PROMPT = read_words(Path(__file__).with_name("subagent_default.md"))
"""For a subagent whose caller and definition give no prompt."""

_NOTES = """\
Notes:
- The working directory is reset between shell calls: use absolute paths only.
- Your final report names files by absolute path, and quotes code only where the exact text matters.
- No emoji. No colon before a tool call."""


def enhance_system_prompt_with_env_details(parts: Sequence[PromptPart], context: PromptContext) -> list[PromptPart]:
    """The parts, and behind them the whole environment in an ``<env>`` element and the notes for subagents."""
    facts = [*environment_lines(context.environment), *model_lines(context.model), f"Date: {context.start_date}"]
    inside = [line.replace("</env>", "<\\/env>") for line in facts]  # a directory may be called so
    text = "\n".join(["<env>", *inside, "</env>", "", _NOTES])
    return [*parts, PromptPart("env_details", "dynamic", text, "memoised")]


def subagent_system_prompt(context: PromptContext, prompt: str | None = None) -> SystemPrompt:
    """A subagent's whole prompt.  ``prompt`` is the caller's or the definition's; empty or ``None`` takes the default
    with its identity line."""
    own = clean(prompt) if prompt is not None and prompt.strip() else None
    parts = (
        [identity_part(SUBAGENT_IDENTITY), PromptPart("agent", "agent", DEFAULT_AGENT_PROMPT)]
        if own is None
        else [PromptPart("agent", "agent", own)]
    )
    return SystemPrompt(
        tuple(enhance_system_prompt_with_env_details(parts, context)),
        "agent",
        layout=context.layout,
        global_scope=context.global_scope,
    )


async def subagent_head_text(
    context: PromptContext, sources: PromptSources, cache: ConversationCache, *, warn: Warn | None = None
) -> str | None:
    """What a subagent's first message says in front of its task: the memory files.  ``cache`` is the subagent's own.

    The read-only built-in agents get none, and whoever starts them does not ask.
    """
    (text,) = await resolve_system_prompt_sections([memory.section(context, sources)], cache, warn=warn)
    return text or None
