"""``function_result_clearing``: that old tool results may go."""

from __future__ import annotations

from agentcli.ports.prompt import PromptSources
from agentcli.prompt.context import PromptContext
from agentcli.prompt.section import SystemPromptSection, system_prompt_section

_WORDS = (
    "# Old tool results\n\nOld tool results may be replaced by a note of what they were; the newest always stay. Call "
    "again where you need one back."
)


def section(context: PromptContext, _sources: PromptSources) -> SystemPromptSection:
    return system_prompt_section("function_result_clearing", lambda: _WORDS if context.tool_result_clearing else None)
