"""TaskStop: ends a background task of either kind."""

from __future__ import annotations

from dataclasses import dataclass

from agentcli.ports.agents import Delegation
from agentcli.ports.jobs import Jobs
from agentcli.ports.tools import ToolContext, ToolResult, text_result
from agentcli.tools.agent import delegation_of
from agentcli.tools.base import BuiltinTool
from agentcli.tools.jobs import describe_state
from agentcli.tools.schema import param


@dataclass(frozen=True, slots=True)
class TaskStopParams:
    task_id: str = param()


class TaskStop(BuiltinTool[TaskStopParams]):
    """Jobs are ``ctx.services["jobs"]`` (``ports.jobs.Jobs``)."""

    name = "TaskStop"
    code = __file__
    key = "task_id"
    deferred = True

    def __init__(self) -> None:
        super().__init__(TaskStopParams)

    async def call(self, params: TaskStopParams, ctx: ToolContext) -> ToolResult:
        jobs: Jobs | None = ctx.services.get("jobs")
        if jobs is not None and jobs.get(params.task_id) is not None:
            job = await jobs.kill(params.task_id, told=True)
            return text_result(f"{describe_state(job)}.", summary=job.state)
        delegation: Delegation = delegation_of(ctx)
        before = {task.id: task.state for task in delegation.list()}
        task = await delegation.stop(params.task_id)
        if before.get(task.id) != "running":
            return text_result(f"{task.id} had ended before ({task.state}).", summary=task.state)
        return text_result(f"{task.id} is stopped.", summary="stopped")
