"""From the session's events to lines of ``stream-json``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from agentcli.events import (
    AssistantMessage,
    AttemptDiscarded,
    Compacted,
    ConversationCleared,
    Event,
    FallbackUsed,
    FromSubagent,
    JobChanged,
    ModeChanged,
    ModelChanged,
    ModelStream,
    Notice,
    PermissionAsked,
    PermissionResolved,
    RetryScheduled,
    ToolFinished,
    ToolResultsAppended,
    TurnStarted,
)
from agentcli.messages import Json, RedactedThinkingBlock, TextBlock, ThinkingBlock
from agentcli.ui.headless.lines import Line, Lines, result_text
from agentcli.ui.headless.options import HeadlessOptions
from agentcli.ui.headless.remarks import fallback_words


@dataclass(slots=True)
class Reporter:
    """A listener.  ``partial``: the API's own stream events too; ``subagent_text``: what subagents say, not only what
    they do; ``states``: lines about who has to act next."""

    lines: Lines
    write: Callable[[Line], None]
    call_input: Callable[[str], Json]
    partial: bool = False
    subagent_text: bool = False
    states: bool = False
    _finished: dict[str, ToolFinished] = field(default_factory=dict)
    _asked: set[str] = field(default_factory=set)
    _state: str = "idle"

    def hear(self, event: Event) -> None:
        self._tell(event, None)

    def idle(self) -> None:
        """No prompt is left to do."""
        self._change("idle")

    def _tell(self, event: Event, parent: str | None) -> None:
        lines = self.lines
        match event:
            case AssistantMessage():
                self._assistant(event, parent)
            case ToolFinished():
                self._finished[event.tool_use_id] = event
            case ToolResultsAppended():
                self._results(event, parent)
            case FromSubagent(tool_use_id=call, event=inner):
                self._tell(inner, call)
            case _ if parent is not None:
                return
            case ModelStream(raw=raw) if self.partial:
                self.write(lines.stream_event(raw))
            case AttemptDiscarded(reason=reason) if self.partial:
                self.write(lines.discarded(reason))
            case RetryScheduled():
                self.write(lines.retry(event))
            case Compacted():
                self.write(lines.compacted(event))
            case JobChanged():
                self.write(lines.task(event))
            case Notice():
                self.write(lines.notice(event))
            case _:
                self._settings(event)

    def _settings(self, event: Event) -> None:
        match event:
            case ModeChanged(mode=mode):
                self.write(self.lines.system("status", {"status": None, "permissionMode": mode}))
            case ModelChanged(model=model):
                self.write(self.lines.system("status", {"status": None, "model": model}))
            case FallbackUsed():
                self.write(self.lines.notice(Notice("warning", fallback_words(event), "fallback")))
            case ConversationCleared(session_id=session):
                self.write(self.lines.stamped({"type": "conversation_reset", "new_conversation_id": session}))
            case TurnStarted():
                self._change("running")
            case PermissionAsked(request_id=request):
                self._asked.add(request)
                self._change("requires_action")
            case PermissionResolved(request_id=request):
                self._asked.discard(request)
                if not self._asked:
                    self._change("running")
            case _:
                pass

    def _assistant(self, event: AssistantMessage, parent: str | None) -> None:
        blocks = event.message.content
        if parent is not None and not self.subagent_text:
            silent = (TextBlock, ThinkingBlock, RedactedThinkingBlock)
            blocks = tuple(b for b in blocks if not isinstance(b, silent))
        if blocks:
            self.write(self.lines.assistant(event, blocks, parent=parent))

    def _results(self, event: ToolResultsAppended, parent: str | None) -> None:
        """One line a result, in the order of the calls."""
        for block in event.message.tool_results():
            finished = self._finished.pop(block.tool_use_id, None)
            if finished is not None and finished.denied and parent is None:
                given = self.call_input(block.tool_use_id)
                self.write(self.lines.denied(finished, given, result_text(block)))
            self.write(self.lines.tool_result(block, finished, parent=parent))

    def _change(self, state: str) -> None:
        if self.states and state != self._state:
            self._state = state
            self.write(self.lines.system("session_state_changed", {"state": state, "sdk_host_only": True}))


def reporter_for(
    how: HeadlessOptions,
    lines: Lines,
    write: Callable[[Line], None],
    call_input: Callable[[str], Json],
    *,
    subagent_text: bool,
) -> Reporter | None:
    """The listener that the options ask for; ``None`` where no lines are wanted."""
    if how.output_format != "stream-json":
        return None
    return Reporter(lines, write, call_input, partial=how.partial, subagent_text=subagent_text, states=how.states)
