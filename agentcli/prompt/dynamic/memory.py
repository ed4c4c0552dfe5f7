"""``memory``: instruction files and the agent's own notes, as the memory room renders them."""

from __future__ import annotations

from agentcli.ports.prompt import PromptSources
from agentcli.prompt.context import PromptContext
from agentcli.prompt.section import SystemPromptSection, system_prompt_section


def section(_context: PromptContext, sources: PromptSources) -> SystemPromptSection:
    return system_prompt_section("memory", sources.memory)
