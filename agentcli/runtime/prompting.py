"""From the world to the prompt room: context, sources, levels."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from agentcli import __version__
from agentcli.agent.sources import DirectoriesSource
from agentcli.conversation import ConversationCache
from agentcli.env import truthy
from agentcli.errors import UserError
from agentcli.extend.room import Extensions
from agentcli.mcp import McpRoom
from agentcli.memory import MemoryRoom
from agentcli.modes.agent import MainThreadAgent
from agentcli.modes.select import active_proactive_words, coordinator_level
from agentcli.ports.prompt import PromptSources
from agentcli.ports.sessions import PrefixRecord
from agentcli.prompt.boundary import should_use_global_cache_scope
from agentcli.prompt.context import OutputStyle, PromptContext, PromptModel
from agentcli.prompt.effective import PromptLevels, given
from agentcli.prompt.environment import collect_environment, other_directories
from agentcli.prompt.source import PromptSource
from agentcli.runtime.looping import loop_words
from agentcli.runtime.models import Models
from agentcli.runtime.world import World, instructions_by_reminder

CUSTOM_AGENT_HEADING = "# Custom Agent Instructions\n\n"
"""What stands in front of an agent's text where it is added to the default prompt."""


async def silent() -> str | None:
    """A source that has nothing to say."""
    return None


def prompt_context(
    world: World,
    models: Models,
    *,
    model: str,
    start_date: str,
    tools: frozenset[str],
    scratch: Path | None,
    style: OutputStyle | None = None,
) -> PromptContext:
    """Everything that the prompt depends on, as it stands now."""
    settings = world.settings
    return PromptContext(
        environment=collect_environment(world.workspace.start, world.workspace.extra_roots, env=world.env),
        model=PromptModel.of(models.info(model)),
        start_date=start_date,
        tools=tools,
        interactive=world.options.interactive,
        language=settings.text("language") or "",
        output_style=style,
        scratch_directory=str(scratch) if scratch else "",
        tool_result_clearing=settings.flag("toolResultClearing"),
        mcp_instructions_delta=instructions_by_reminder(world),
        simple=truthy("CLAUDE_CODE_SIMPLE", world.env),
        proactive=active_proactive_words(world.features, active=world.options.proactive),
        layout="documented" if settings.get("promptCacheLayout") == "documented" else "split",
        attribution=__version__ if truthy("CLAUDE_CODE_ATTRIBUTION_HEADER", world.env) else "",
    )


def output_style(extensions: Extensions, warn: Callable[[str], None]) -> OutputStyle | None:
    """The style of the setting ``outputStyle``; one that there is not is a warning, and the default is used."""
    try:
        style = extensions.output_style()
    except UserError as error:
        warn(str(error))
        return None
    return OutputStyle(style.name, style.text, style.keep_coding_instructions) if style else None


def prompt_levels(world: World, agent: MainThreadAgent | None, resumed: PrefixRecord | None) -> PromptLevels:
    """The texts of the levels.  A resumed session keeps those it began with, where the command line gives no others:
    the same bytes are sent again."""
    options = world.options
    replaced = bool(options.system_prompt.strip()) or agent is not None
    kept = None if replaced else resumed
    return PromptLevels(
        override=given(options.override_system_prompt or loop_words(world) or _recorded(kept, "override")),
        agent=agent.level() if agent else given(_recorded(kept, "agent")),
        custom=given(options.system_prompt or _recorded(kept, "custom")),
        append=given(options.append_system_prompt or _recorded(resumed, "append")),
    )


def prompt_sources(
    world: World, memory: MemoryRoom | None, extensions: Extensions | None, servers: McpRoom | None
) -> PromptSources:
    """What the rooms give to the dynamic sections."""
    return PromptSources(
        memory=memory.section if memory else silent,
        skills=extensions.skills_section if extensions else silent,
        agents=extensions.agents_section if extensions else silent,
        mcp_instructions=servers.instructions if servers else silent,
        coordinator=coordinator_level(world.features, world.env),
    )


def make_prompt_source(
    world: World,
    models: Models,
    context: PromptContext,
    *,
    cache: ConversationCache,
    sources: PromptSources,
    levels: PromptLevels,
    warn: Callable[[str], None],
) -> PromptSource:
    def global_scope() -> bool:
        refused = "scope" in models.refused
        return should_use_global_cache_scope(first_party=models.first_party, refused=refused, env=world.env)

    return PromptSource(
        context,
        cache=cache,
        sources=sources,
        describe_model=models.info,
        levels=levels,
        global_scope=global_scope,
        warn=warn,
    )


def directories_source(world: World, prompt: PromptSource, cache: ConversationCache) -> DirectoriesSource:
    """Tells of working directories that are added while the session runs."""
    place = world.workspace
    return DirectoriesSource(
        lambda: other_directories(place.start, place.extra_roots), lambda: prompt.context.environment.additional, cache
    )


def _recorded(record: PrefixRecord | None, kind: str) -> str:
    """The text of a replacing or appended part of the prompt that a resumed session had."""
    parts: list[Any] = list(record.system.get("parts", ())) if record else []
    text = next((str(p["text"]) for p in parts if p.get("kind") == kind), "")
    return text.removeprefix(CUSTOM_AGENT_HEADING) if kind == "agent" else text
