"""Sleep: waiting without asking the model."""

from __future__ import annotations

from dataclasses import dataclass

from agentcli.errors import ToolError
from agentcli.ports.rest import Rest
from agentcli.ports.tools import ToolContext, ToolResult, text_result
from agentcli.tools.base import BuiltinTool
from agentcli.tools.schema import param

LONGEST = 86_400
WORDS = {"time": "The time is over.", "user": "The user wrote something.", "report": "A background task ended."}


@dataclass(frozen=True, slots=True)
class SleepParams:
    seconds: float = param(minimum=1)


class Sleep(BuiltinTool[SleepParams]):
    """Only in proactive mode, where ``ctx.services["rest"]`` (``ports.rest.Rest``) is there."""

    name = "Sleep"
    code = __file__
    key = "seconds"

    def __init__(self) -> None:
        super().__init__(SleepParams)

    async def call(self, params: SleepParams, ctx: ToolContext) -> ToolResult:
        rest: Rest | None = ctx.services.get("rest")
        if rest is None:
            raise ToolError("There is nothing to wait for in this session. End your answer instead.")
        woken = await rest.sleep(min(params.seconds, LONGEST))
        return text_result(WORDS[woken], summary=WORDS[woken].rstrip("."))
