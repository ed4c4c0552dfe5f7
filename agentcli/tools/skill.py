"""Skill: the instructions of a skill, when a task needs them."""

from __future__ import annotations

from dataclasses import dataclass

from agentcli.errors import ToolError, UserError
from agentcli.ports.agents import AgentOrder, Delegation
from agentcli.ports.skills import InvokedSkill, Skills
from agentcli.ports.tools import ToolContext, ToolResult, text_result
from agentcli.text import plural
from agentcli.tools.agent import started_result
from agentcli.tools.base import BuiltinTool
from agentcli.tools.schema import param

FORK_AGENT = "general-purpose"


@dataclass(frozen=True, slots=True)
class SkillParams:
    skill: str = param()
    args: str = param(default="")


class Skill(BuiltinTool[SkillParams]):
    """The skills are ``ctx.services["skills"]`` (``ports.skills.Skills``); one with ``context: fork`` runs in a
    subagent of ``ctx.services["spawner"]`` (``ports.agents.Delegation``)."""

    name = "Skill"
    code = __file__
    key = "skill"
    kind = "write"  # commands inside the text may change files

    def __init__(self) -> None:
        super().__init__(SkillParams)

    async def call(self, params: SkillParams, ctx: ToolContext) -> ToolResult:
        skills: Skills | None = ctx.services.get("skills")
        if skills is None:
            raise ToolError("There are no skills in this session.")
        try:
            found = await skills.invoke(params.skill, params.args)
        except UserError as error:
            raise ToolError(f"{error}") from error
        if found.fork:
            return await _forked(found, ctx)
        return text_result(found.text, summary=plural(found.text.count("\n") + 1, "line"))


async def _forked(found: InvokedSkill, ctx: ToolContext) -> ToolResult:
    delegation: Delegation | None = ctx.services.get("spawner")
    if delegation is None:
        raise ToolError(f"The skill {found.name} runs in a subagent, and this session has none. Do its work yourself.")
    order = AgentOrder(
        agent=found.agent or FORK_AGENT,
        prompt=found.text,
        description=found.name,
        model=found.model,
        effort=found.effort,
    )
    if found.background or delegation.in_background(order.agent):
        return started_result(await delegation.start(order))
    report = await delegation.run(order)
    return text_result(report.text, summary=plural(report.steps, "step"), is_error=report.is_error)
