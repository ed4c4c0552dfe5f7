"""The life of a tool call, stated once.

PreToolUse hook → policy (its deny wins over a hook's allow) → PermissionRequest hook → approver → checkpoint → run →
PostToolUse hook → result.  Whatever happens on the way, and wherever it is cancelled, the call has exactly one result
and one ``ToolFinished``.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path

from agentcli.agent.rooms import Rooms
from agentcli.errors import ToolError, UserError
from agentcli.events import Notice, ToolFinished, ToolStarted
from agentcli.messages import INTERRUPTED, Json, ResultContent, TextBlock, ToolResultBlock, block_to_record
from agentcli.ports.permissions import Answer, ApprovalRequest, Decision, HookEvent, HookVerdict
from agentcli.ports.tools import Checking, Tool, ToolCall, ToolContext, ToolResult, text_result
from agentcli.text import clean, one_line

DECLINED = "The user declined this call. Nothing was run."
NOT_STARTED = "Interrupted by the user before it was started. Nothing was run."
NO_OUTPUT = "(no output)"


@dataclass(slots=True)
class CallOutcome:
    """A finished call: its result, and what the engine has to do about it."""

    block: ToolResultBlock
    touched: tuple[Path, ...] = ()
    notes: list[str] = field(default_factory=list)
    """Hook contexts: go to the model behind the results."""
    interrupt: bool = False
    """The answer to the permission question was to stop here."""
    stop: str | None = None
    """A hook ends the turn, and why."""


@dataclass(slots=True, eq=False)
class _Denied(Exception):
    """The call must not run; ``text`` tells the model why, ``told`` the user, where it was not the user who said so."""

    text: str
    told: str = ""
    interrupt: bool = False


class CallLife:
    """One call on its way.  ``run`` returns the outcome, or raises ``CancelledError`` with the outcome kept."""

    def __init__(self, rooms: Rooms, call: ToolCall, *, fault: str = "") -> None:
        self._rooms = rooms
        self._call = call
        self._fault = fault
        self._tool = rooms.tools.get(call.name)
        self._notes: list[str] = []
        self._stop: str | None = None
        self._started: float | None = None
        self.outcome: CallOutcome | None = None

    @property
    def title(self) -> str:
        return one_line(self._tool.title(self._call.input)) if self._tool else one_line(self._call.name)

    async def run(self) -> CallOutcome:
        """From the model's words to a result."""
        result: ToolResult | None = None
        try:
            tool = self._known()
            context = self._rooms.context(self._call.id)
            await self._permitted(tool, context)
            async with self._checkpoint(tool):
                result = await self._ran(tool, context)
                result = await self._after(result)
            return self.finish(result)
        except _Denied as denied:
            return self.finish(
                text_result(denied.text, summary=one_line(denied.told) or "denied", detail=denied.told, is_error=True),
                denied=True,
                interrupt=denied.interrupt,
            )
        except ToolError as error:
            return self.finish(text_result(str(error), summary=one_line(str(error)), is_error=True))
        except asyncio.CancelledError:
            self.cancelled(result)
            raise
        except Exception as error:  # a tool's bug ends the call, not the turn
            text = (
                f"{self._call.name} failed unexpectedly ({type(error).__name__}: {error}). This is a fault of the tool."
            )
            self._rooms.emit(Notice("error", text, "tool_failed"))
            return self.finish(text_result(text, summary="failed unexpectedly", is_error=True))

    def cancelled(self, result: ToolResult | None = None) -> CallOutcome:
        """The call is interrupted; a result that it already has is kept."""
        if self.outcome is not None:
            return self.outcome
        if result is not None:
            return self.finish(result)
        text = INTERRUPTED if self._started is not None else NOT_STARTED
        return self.finish(text_result(text, summary="interrupted", is_error=True), interrupted=True)

    def finish(
        self, result: ToolResult, *, denied: bool = False, interrupted: bool = False, interrupt: bool = False
    ) -> CallOutcome:
        """Gives the call its one result: written to the journal, then shown."""
        block = ToolResultBlock(self._call.id, _content(result.for_model), result.is_error)
        self.outcome = CallOutcome(block, result.touched, self._notes, interrupt, self._stop)
        self._rooms.journal.append("result", {"block": block_to_record(block)})
        started = self._rooms.clock.monotonic() if self._started is None else self._started
        self._rooms.emit(
            ToolFinished(
                tool_use_id=self._call.id,
                name=self._call.name,
                title=self.title,
                display=result.for_user,
                is_error=result.is_error,
                duration=self._rooms.clock.monotonic() - started,
                denied=denied,
                interrupted=interrupted,
                structured=result.structured,
            )
        )
        return self.outcome

    def _known(self) -> Tool:
        if self._fault:
            raise ToolError(self._fault)
        if self._tool is None:
            names = ", ".join(self._rooms.tools)
            raise ToolError(f"There is no tool called {self._call.name!r}. Available: {names}.")
        return self._tool

    async def _permitted(self, tool: Tool, context: ToolContext) -> None:
        """Hooks, policy and people, in that order.  ``_Denied`` unless the call may run."""
        verdict = await self._fire("PreToolUse")
        if verdict.updated_input is not None:
            self._call = replace(self._call, input=verdict.updated_input)
        if verdict.behavior == "deny" or verdict.stop:
            text = f"A PreToolUse hook denied this call: {verdict.reason or verdict.stop_reason}".rstrip(": ")
            raise _Denied(text, text)
        decision = self._rooms.gate.check(self._call)
        if decision.behavior == "deny":
            raise _Denied(f"Denied: {decision.reason}", decision.reason)
        if verdict.behavior == "ask" and decision.behavior == "allow":
            decision = replace(
                decision, behavior="ask", reason=verdict.reason or "a PreToolUse hook wants you to decide"
            )
        # A hook may spare the user a question, never an ask rule that somebody wrote down.
        spared = verdict.behavior == "allow" and not decision.rule
        if decision.behavior == "ask" and not spared:
            if isinstance(tool, Checking):
                tool.check(self._call.input)
            await self._asked(tool, context, decision)

    async def _asked(self, tool: Tool, context: ToolContext, decision: Decision) -> None:
        verdict = await self._fire("PermissionRequest")
        if verdict.behavior == "deny":
            text = f"A PermissionRequest hook denied this call: {verdict.reason}".rstrip(": ")
            raise _Denied(text, text, interrupt=verdict.interrupt)
        if verdict.behavior == "allow":
            answer = Answer(True, updated_input=verdict.updated_input, updates=verdict.updates, by="hook")
        else:
            preview = tool.preview(self._call.input, context)
            answer = await self._rooms.approver.ask(ApprovalRequest(self._call, self.title, decision, preview))
        if answer.updates:
            self._apply(answer)
        if not answer.allowed:
            told = answer.message if answer.by in ("nobody", "hook", "mode") else ""
            raise _Denied(_declined(answer), told, interrupt=answer.interrupt)
        if answer.updated_input is not None:
            # What was approved is what runs; the rules have the last word on an input that nobody has judged yet.
            self._call = replace(self._call, input=answer.updated_input)
            again = self._rooms.gate.check(self._call)
            if again.behavior == "deny":
                raise _Denied(f"Denied: {again.reason}", again.reason)

    def _apply(self, answer: Answer) -> None:
        try:
            self._rooms.gate.apply(answer.updates)
        except UserError as error:
            self._rooms.emit(Notice("warning", str(error), "permission_not_saved"))

    def _checkpoint(self, tool: Tool) -> AbstractAsyncContextManager[None]:
        """What the call may change is kept, so that it can be rewound: also what its hooks make of the files."""
        checkpoints, workspace = self._rooms.checkpoints, self._rooms.workspace
        if checkpoints is None or workspace is None or tool.effect(self._call.input) != "write":
            return nullcontext()
        named = (self._call.input.get(key) for key in ("file_path", "notebook_path"))
        paths = [workspace.resolve(p) for p in named if isinstance(p, str)]
        return checkpoints.around(self._call, paths, workspace)

    async def _ran(self, tool: Tool, context: ToolContext) -> ToolResult:
        self._started = self._rooms.clock.monotonic()
        self._rooms.emit(ToolStarted(self._call.id, self._call.name, self._call.input, self.title))
        try:
            return await tool.run(self._call.input, context)
        except ToolError as error:
            return text_result(str(error), summary=one_line(str(error)), is_error=True)

    async def _after(self, result: ToolResult) -> ToolResult:
        text = "\n".join(c.text for c in result.for_model if isinstance(c, TextBlock))
        response: Json = result.structured if result.structured is not None else {"content": text}
        name = "PostToolUseFailure" if result.is_error else "PostToolUse"
        extra: dict[str, object] = {"error": text} if result.is_error else {"tool_response": response}
        if self._started is not None:
            extra["duration_ms"] = round((self._rooms.clock.monotonic() - self._started) * 1000)
        try:
            verdict = await self._fire(name, **extra)
        except asyncio.CancelledError:
            self.cancelled(result)
            raise
        if verdict.behavior == "deny" and verdict.reason:
            self._notes.append(f"A {name} hook about {self._call.name}: {verdict.reason}")
        replaced = (verdict.extra or {}).get("updatedToolOutput")
        if replaced is not None and not result.is_error:
            words = replaced if isinstance(replaced, str) else json.dumps(replaced, ensure_ascii=False)
            return replace(result, for_model=(TextBlock(words),))
        return result

    async def _fire(self, name: str, **extra: object) -> HookVerdict:
        fields = {"tool_name": self._call.name, "tool_input": self._call.input, "tool_use_id": self._call.id, **extra}
        verdict = await self._rooms.hooks.fire(HookEvent(name, self._call.name, fields))
        self._notes.extend(verdict.context)
        for message in verdict.messages:
            self._rooms.emit(Notice("info", message, "hook"))
        if verdict.stop:
            self._stop = verdict.stop_reason or f"A {name} hook ended the turn."
        return verdict


def _declined(answer: Answer) -> str:
    match answer.by:
        case "nobody":
            return answer.message or "This call needs a permission and nobody can be asked. Nothing was run."
        case "hook" | "mode":
            return f"Denied: {answer.message}".rstrip(": ")
        case _:
            return f"{DECLINED} The user said: {answer.message}" if answer.message else DECLINED


def _content(content: Sequence[ResultContent]) -> tuple[ResultContent, ...]:
    """Valid Unicode, no empty texts, never nothing."""
    cleaned = (TextBlock(clean(c.text), c.origin) if isinstance(c, TextBlock) else c for c in content)
    kept = tuple(c for c in cleaned if not isinstance(c, TextBlock) or c.text.strip())
    return kept or (TextBlock(NO_OUTPUT),)
