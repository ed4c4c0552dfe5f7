"""``language``: the setting of that name."""

from __future__ import annotations

from agentcli.ports.prompt import PromptSources
from agentcli.prompt.context import PromptContext
from agentcli.prompt.section import SystemPromptSection, system_prompt_section
from agentcli.prompt.words import one_line


def section(context: PromptContext, _sources: PromptSources) -> SystemPromptSection:
    return system_prompt_section("language", lambda: _text(one_line(context.language.strip())))


def _text(language: str) -> str | None:
    if not language:
        return None
    return (
        f"# Language\n\nAlways answer in {language}. Technical terms, identifiers, commands and quoted text stay as "
        "they are, and what goes into files keeps the language it has there."
    )
