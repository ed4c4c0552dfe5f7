"""Agent: a task for a subagent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from agentcli.errors import ToolError
from agentcli.messages import Json
from agentcli.ports.agents import AgentOrder, AgentTask, Delegation
from agentcli.ports.tools import AgentReport, Effect, ToolContext, ToolResult, text_result
from agentcli.text import one_line, plural
from agentcli.tools.base import BuiltinTool
from agentcli.tools.schema import param

DEFAULT_AGENT = "general-purpose"


@dataclass(frozen=True, slots=True)
class AgentParams:
    description: str = param("3 to 5 words")
    prompt: str = param()
    subagent_type: str = param(default=DEFAULT_AGENT)
    model: str | None = param(default=None)
    run_in_background: bool = param(default=False)
    isolation: Literal["worktree"] | None = param(default=None)


class Agent(BuiltinTool[AgentParams]):
    name = "Agent"
    code = __file__
    key = "description"
    kind: ClassVar[Effect] = "agent"

    def __init__(self) -> None:
        super().__init__(AgentParams)

    def title(self, input: Json) -> str:
        said = super().title(input)
        kind = input.get("subagent_type") if hasattr(input, "get") else None
        return one_line(f"{kind}: {said}") if isinstance(kind, str) and kind else said

    async def call(self, params: AgentParams, ctx: ToolContext) -> ToolResult:
        if not params.prompt.strip():
            raise ToolError("`prompt` is empty. Say what the agent has to do, and all that it needs to know for it.")
        delegation = delegation_of(ctx)
        order = AgentOrder(
            agent=params.subagent_type or DEFAULT_AGENT,
            prompt=params.prompt,
            description=params.description,
            model=params.model or None,
            isolation=params.isolation,
        )
        if params.run_in_background or delegation.in_background(order.agent):
            return started_result(await delegation.start(order))
        return report_result(await delegation.run(order))


def delegation_of(ctx: ToolContext) -> Delegation:
    """The subagents of the calling agent.  ``ToolError`` where there can be none."""
    found: Delegation | None = ctx.services.get("spawner")
    if found is None:
        raise ToolError("There are no subagents in this session. Do the work yourself.")
    return found


def started_result(task: AgentTask) -> ToolResult:
    """What the caller gets at once of an agent in the background."""
    text = f"{task.id} has started; its report comes by itself. SendMessage reaches it, TaskStop ends it."
    return text_result(text, summary=f"{task.id} started")


def report_result(report: AgentReport) -> ToolResult:
    """A report as the caller gets it, with the id by which the agent can be reached again."""
    who = f"[{report.id}, {plural(report.steps, 'step')}; SendMessage goes on with it]"
    text = f"{report.text}\n\n{who}" if report.id else report.text
    return text_result(text, summary=plural(report.steps, "step"), detail=report.text, is_error=report.is_error)
