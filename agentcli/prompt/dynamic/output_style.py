"""``output_style``: the chosen style's name and text."""

from __future__ import annotations

from agentcli.ports.prompt import PromptSources
from agentcli.prompt.context import PromptContext
from agentcli.prompt.section import SystemPromptSection, system_prompt_section
from agentcli.prompt.words import one_line


def section(context: PromptContext, _sources: PromptSources) -> SystemPromptSection:
    def compute() -> str | None:
        style = context.output_style
        if style is None or not style.text.strip():
            return None
        return f"# Output Style: {one_line(style.name)}\n\n{style.text.strip()}"

    return system_prompt_section("output_style", compute)
