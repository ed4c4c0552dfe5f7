"""``session_guidance``: what depends on this session's tools, skills, agents and interactivity."""

from __future__ import annotations

from agentcli.ports.prompt import PromptSources
from agentcli.prompt.context import PromptContext
from agentcli.prompt.section import SystemPromptSection, system_prompt_section

_ATTENDED = (
    "To have the user run something that needs their hands, such as a login, ask them to type `! COMMAND` here: "
    "it runs in this session and you see its output."
)
_UNATTENDED = (
    "Nobody can answer in this session. Decide by yourself, say what you assumed, and leave out a call that is refused."
)
_ASK = "Ask with AskUserQuestion only what you can't find out and what changes the work."
_DELEGATE = (
    "Hand wide searches and self-contained work to subagents (Agent), independent ones in one answer, and don't do it "
    "yourself meanwhile. What a few calls can find, find yourself."
)
_DEFERRED = "More tools exist than are listed: look with ToolSearch before you say that something can't be done."
_SKILL = "When a skill below fits the task, call Skill before anything else; `/NAME` from the user means the skill."
_BY_TOOL = (("AskUserQuestion", _ASK), ("Agent", _DELEGATE), ("ToolSearch", _DEFERRED), ("Skill", _SKILL))


def section(context: PromptContext, sources: PromptSources) -> SystemPromptSection:
    async def compute() -> str:
        skills, agents = await sources.skills(), await sources.agents()
        lines = guidance(context, skills=bool(skills))
        return "\n\n".join(["\n".join(["# This session", "", *lines]), *filter(None, (skills, agents))])

    return system_prompt_section("session_guidance", compute)


def guidance(context: PromptContext, *, skills: bool) -> list[str]:
    """The bullet lines, in declared order: the same tools give the same lines."""
    useless = {"AskUserQuestion"} if not context.interactive else set()
    useless |= {"Skill"} if not skills else set()
    lines = [words for tool, words in _BY_TOOL if tool in context.tools - useless]
    return [f"- {line}" for line in (_ATTENDED if context.interactive else _UNATTENDED, *lines)]
