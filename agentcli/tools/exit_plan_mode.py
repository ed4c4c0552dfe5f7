"""ExitPlanMode: the user agrees to a plan, changes it, or refuses it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from agentcli.errors import ToolError
from agentcli.messages import Json
from agentcli.ports.modes import ModeSwitch
from agentcli.ports.permissions import PermissionMode
from agentcli.ports.tools import Effect, Question, Questioner, ToolContext, ToolResult, text_result
from agentcli.text import clean, one_line
from agentcli.tools.base import BuiltinTool
from agentcli.tools.schema import param

ASK_EDITS = "Yes, and ask before each edit"
ACCEPT_EDITS = "Yes, and make edits without asking"
REFUSE = "No, keep planning"
_OPTIONS = (
    (ASK_EDITS, ""),
    (ACCEPT_EDITS, ""),
    (REFUSE, ""),
)
_MODES: dict[str, PermissionMode] = {ASK_EDITS: "default", ACCEPT_EDITS: "acceptEdits"}
QUESTION = "Go ahead with this plan?"
NOBODY = "Nobody can agree to a plan in this session. Make the plan your final answer, and stop there."


@dataclass(frozen=True, slots=True)
class ExitPlanParams:
    plan: str = param("The whole plan, as Markdown")


class ExitPlanMode(BuiltinTool[ExitPlanParams]):
    """Asks through ``ctx.services["questioner"]``, switches through ``ctx.services["modes"]``.  Any other answer than
    the options is what the user wants changed."""

    name = "ExitPlanMode"
    code = __file__
    key = "plan"
    deferred = True
    kind: ClassVar[Effect] = "write"

    def __init__(self) -> None:
        super().__init__(ExitPlanParams)

    def title(self, input: Json) -> str:
        plan = input.get("plan") if hasattr(input, "get") else None
        lines = clean(plan).strip().splitlines() if isinstance(plan, str) else []
        return one_line(lines[0].lstrip("# ")) if lines else ""

    async def call(self, params: ExitPlanParams, ctx: ToolContext) -> ToolResult:
        plan = clean(params.plan).strip()
        if not plan:
            raise ToolError("`plan` is empty. Give the whole plan: the user sees only that.")
        modes: ModeSwitch | None = ctx.services.get("modes")
        if modes is None or modes.mode != "plan":
            raise ToolError("Plan mode is not on. There is nothing to wait for: do the work.")
        questioner: Questioner | None = ctx.services.get("questioner")
        asked = Question(QUESTION, "Plan", _OPTIONS, about=plan)
        replies = await questioner.ask([asked]) if questioner is not None else None
        if replies is None:
            raise ToolError(NOBODY)
        return self._answered(str(replies.get(QUESTION) or REFUSE), plan, modes)

    def _answered(self, reply: str, plan: str, modes: ModeSwitch) -> ToolResult:
        if (mode := _MODES.get(reply)) is not None:
            modes.set_mode(mode)
            return text_result("The user agreed to the plan. Carry it out.", summary="agreed", detail=plan)
        if reply == REFUSE:
            text = "The user wants to keep planning. Ask what is missing, if they don't say it."
            return text_result(text, summary="not yet", is_error=True)
        text = f"The user wants the plan changed; plan mode stays on. They say:\n{reply}"
        return text_result(text, summary="to be changed", is_error=True)
