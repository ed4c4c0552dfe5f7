"""``env_info_simple``: where the session runs, with which model, since when."""

from __future__ import annotations

from agentcli.ports.prompt import PromptSources
from agentcli.prompt.context import PromptContext, PromptModel
from agentcli.prompt.environment import environment_lines
from agentcli.prompt.section import SystemPromptSection, system_prompt_section
from agentcli.prompt.words import one_line

NAME = "env_info_simple"


def section(context: PromptContext, _sources: PromptSources) -> SystemPromptSection:
    return system_prompt_section(NAME, lambda: environment_text(context))


def environment_text(context: PromptContext) -> str:
    lines = [*environment_lines(context.environment), *model_lines(context.model), f"Date: {context.start_date}"]
    return "\n".join(["# Environment", "", *(f"- {line}" for line in lines)])


def model_lines(model: PromptModel) -> list[str]:
    name, exact = one_line(model.name), one_line(model.id)
    lines = [f"Model: {exact}" if name in ("", exact) else f"Model: {name} ({exact})"]
    if model.knowledge_cutoff:
        lines.append(f"Knowledge cutoff: {one_line(model.knowledge_cutoff)}")
    return lines
