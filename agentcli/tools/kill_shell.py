"""Ends a background job."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from agentcli.ports.jobs import Jobs
from agentcli.ports.tools import Effect, ToolContext, ToolResult, text_result
from agentcli.tools.base import BuiltinTool
from agentcli.tools.jobs import describe_state


@dataclass(frozen=True, slots=True)
class KillShellParams:
    shell_id: str


class KillShell(BuiltinTool[KillShellParams]):
    name = "KillShell"
    code = __file__
    key = "shell_id"
    deferred = True
    kind: ClassVar[Effect] = "write"

    def __init__(self, jobs: Jobs) -> None:
        super().__init__(KillShellParams)
        self._jobs = jobs

    async def call(self, params: KillShellParams, ctx: ToolContext) -> ToolResult:
        before = self._jobs.get(params.shell_id)
        job = await self._jobs.kill(params.shell_id, told=True)
        state = describe_state(job)
        if before is not None and before.state != "running":
            return text_result(f"Nothing to end: {state}.", summary=state)
        return text_result(f"Ended: {state}.", summary=state)
