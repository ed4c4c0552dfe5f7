"""``summarize_tool_results``: that what matters in a result has to be written down while it is there."""

from __future__ import annotations

from agentcli.ports.prompt import PromptSources
from agentcli.prompt.context import PromptContext
from agentcli.prompt.section import SystemPromptSection, system_prompt_section

_WORDS = (
    "Since a result may be gone later, write what you will need from it (names, lines, values, errors) into your "
    "answer when you see it."
)


def section(context: PromptContext, _sources: PromptSources) -> SystemPromptSection:
    return system_prompt_section("summarize_tool_results", lambda: _WORDS if context.tool_result_clearing else None)
