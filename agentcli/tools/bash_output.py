"""Shows what a background job has written."""

from __future__ import annotations

from dataclasses import dataclass

from agentcli.messages import TextBlock
from agentcli.ports.display import CommandDisplay
from agentcli.ports.jobs import Jobs
from agentcli.ports.tools import ToolContext, ToolResult
from agentcli.tools.base import BuiltinTool
from agentcli.tools.jobs import describe_state
from agentcli.tools.schema import param


@dataclass(frozen=True, slots=True)
class BashOutputParams:
    bash_id: str
    filter: str = param("Regex: only matching lines; others are skipped", default="")


class BashOutput(BuiltinTool[BashOutputParams]):
    name = "BashOutput"
    code = __file__
    key = "bash_id"
    deferred = True

    def __init__(self, jobs: Jobs) -> None:
        super().__init__(BashOutputParams)
        self._jobs = jobs

    async def call(self, params: BashOutputParams, ctx: ToolContext) -> ToolResult:
        page = await self._jobs.output(params.bash_id, pattern=params.filter)
        notes = [describe_state(page.job)]
        if page.skipped:
            notes.append(f"{page.skipped:,} bytes before this were too much to be kept")
        if page.more:
            notes.append(f"{page.more:,} bytes more: call again")
        text = page.text or ("(no new line matches)" if params.filter else "(no new output)")
        body = text + "\n\n" + "\n".join(f"[{note}]" for note in notes)
        return ToolResult((TextBlock(body),), CommandDisplay(page.job.command, page.text, page.job.exit_code, notes[0]))
