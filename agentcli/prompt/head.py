"""What the first user message says in front of the user's own words.

Where the default prompt is not part of the result, what a person would miss still reaches the model, as one reminder.
What another way delivers is left out here: nothing is sent twice.
"""

from __future__ import annotations

from agentcli.conversation import ConversationCache
from agentcli.ports.prompt import PromptSources
from agentcli.prompt.assemble import default_level
from agentcli.prompt.context import PromptContext
from agentcli.prompt.dynamic import language, mcp_instructions, memory
from agentcli.prompt.effective import Winner
from agentcli.prompt.section import (
    SystemPromptSection,
    Warn,
    resolve_system_prompt_sections,
    system_prompt_section,
)
from agentcli.prompt.words import one_line

_INTRODUCTION = "What you should know in this session. It is background, not a request."


async def head_text(
    winner: Winner | None,
    context: PromptContext,
    sources: PromptSources,
    cache: ConversationCache,
    *,
    warn: Warn | None = None,
) -> str | None:
    """The reminder's text without tags; ``None`` where there is nothing to say.

    With the default prompt it names the scratch directory only.  An override prompt and ``CLAUDE_CODE_SIMPLE`` get
    none: whoever chooses them wants the model to see that text alone.
    """
    if context.simple or (winner is not None and winner.level == "override"):
        return None
    parts: list[str] = []
    if winner is not None and not winner.keeps_default(proactive=default_level(context) == "proactive"):
        found = await resolve_system_prompt_sections(head_sections(context, sources), cache, warn=warn)
        parts += [_place(context), *filter(None, found)]
    if context.scratch_directory:
        parts.append(f"Scratch directory of this session ($AGENTCLI_SCRATCH): {one_line(context.scratch_directory)}")
    if not parts:
        return None
    return "\n\n".join([_INTRODUCTION, *parts] if len(parts) > 1 else parts)


def head_sections(context: PromptContext, sources: PromptSources) -> list[SystemPromptSection]:
    """Sections of the replaced default whose texts go into the head reminder."""
    return [
        memory.section(context, sources),
        language.section(context, sources),
        system_prompt_section("skills", sources.skills),
        system_prompt_section("agents", sources.agents),
        mcp_instructions.section(context, sources),
    ]


def _place(context: PromptContext) -> str:
    place = context.environment
    others = ", ".join(map(one_line, place.additional))
    more = [f"Additional working directories: {others}"] if others else []
    return "\n".join([f"Working directory: {one_line(place.cwd)}", *more, f"Date: {context.start_date}"])
