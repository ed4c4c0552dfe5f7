"""SendMessage: goes on with a subagent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from agentcli.errors import ToolError
from agentcli.ports.tools import Effect, ToolContext, ToolResult, text_result
from agentcli.tools.agent import delegation_of, report_result
from agentcli.tools.base import BuiltinTool
from agentcli.tools.schema import param


@dataclass(frozen=True, slots=True)
class SendMessageParams:
    to: str = param()
    message: str = param()
    run_in_background: bool = param(default=False)


class SendMessage(BuiltinTool[SendMessageParams]):
    name = "SendMessage"
    code = __file__
    key = "to"
    deferred = True
    kind: ClassVar[Effect] = "agent"

    def __init__(self) -> None:
        super().__init__(SendMessageParams)

    async def call(self, params: SendMessageParams, ctx: ToolContext) -> ToolResult:
        if not params.message.strip():
            raise ToolError("`message` is empty. Say what the agent has to do next.")
        delegation = delegation_of(ctx)
        if params.run_in_background:
            task = await delegation.go_on_in_background(params.to, params.message)
            return text_result(f"{task.id} is at work; its report comes by itself.", summary=f"{task.id} at work")
        report = await delegation.go_on(params.to, params.message)
        if report is None:
            text = f"{params.to} is at work and gets the message between two steps. Its report comes as before."
            return text_result(text, summary="delivered")
        return report_result(report)
