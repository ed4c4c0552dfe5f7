"""Shapes of the lines of ``stream-json``, field for field those of the documented protocol.

Every line has ``type``, ``uuid`` and ``session_id``.  Lines that stand for a message of the conversation are built from
whole messages only, so that a text of an attempt that failed is never part of one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from agentcli.events import (
    AssistantMessage,
    Compacted,
    JobChanged,
    Notice,
    RetryScheduled,
    ToolFinished,
)
from agentcli.messages import Block, Json, TextBlock, ToolResultBlock, block_to_api
from agentcli.ports.display import CommandDisplay, DiffDisplay, Display, TextDisplay, TodoDisplay
from agentcli.ui.headless.result import usage_to_json

Line = dict[str, Any]
PROTOCOL_LEVEL = "2.1.265"
"""``claude_code_version`` of the init line: the level of the protocol that is spoken, which clients compare with what
they need.  It is no claim to be that product; our own version stands beside it."""
TASK_STATES = {"finished": "completed", "timed_out": "failed", "killed": "stopped"}


def new_uuid() -> str:
    return str(uuid4())


def utc_now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


@dataclass(frozen=True, slots=True)
class Lines:
    """Makes lines of one session; ``session`` gives its present id (it changes with ``/clear``)."""

    session: Callable[[], str]
    uuid: Callable[[], str] = new_uuid
    now: Callable[[], str] = utc_now

    def stamped(self, line: Line) -> Line:
        return {**line, "uuid": self.uuid(), "session_id": self.session()}

    def system(self, subtype: str, fields: Mapping[str, Any]) -> Line:
        return self.stamped({"type": "system", "subtype": subtype, **fields})

    def assistant(self, event: AssistantMessage, blocks: Sequence[Block], *, parent: str | None = None) -> Line:
        line: Line = {
            "type": "assistant",
            "message": {
                "id": event.message_id or f"msg_{uuid4().hex}",
                "type": "message",
                "role": "assistant",
                "model": event.model,
                "content": [block_to_api(b) for b in blocks],
                "stop_reason": event.stop_reason,
                "stop_sequence": None,
                "usage": usage_to_json(event.usage),
            },
            "parent_tool_use_id": parent,
            "timestamp": self.now(),
        }
        if event.partial:
            line["aborted"] = True
        return self.stamped(line)

    def tool_result(self, block: ToolResultBlock, finished: ToolFinished | None, *, parent: str | None = None) -> Line:
        """One result of a call, as the user message that carries it."""
        return self.stamped(
            {
                "type": "user",
                "message": {"role": "user", "content": [block_to_api(block)]},
                "parent_tool_use_id": parent,
                "timestamp": self.now(),
                "tool_use_result": _result_value(block, finished),
            }
        )

    def user(self, text: str) -> Line:
        """Words that the program itself said to the model."""
        return self.stamped(
            {
                "type": "user",
                "message": {"role": "user", "content": [{"type": "text", "text": text}]},
                "parent_tool_use_id": None,
                "timestamp": self.now(),
                "isSynthetic": True,
            }
        )

    def replay(self, raw: Json, uuid: str) -> Line:
        """The echo of a user line that was taken on."""
        line = {**raw, "parent_tool_use_id": None, "isReplay": True}
        return {**line, "uuid": uuid, "session_id": self.session()}

    def stream_event(self, raw: Json) -> Line:
        return self.stamped({"type": "stream_event", "event": dict(raw), "parent_tool_use_id": None})

    def discarded(self, reason: str) -> Line:
        """The stream events since the last ``message_start`` are void; the answer begins anew."""
        return self.system("stream_discarded", {"reason": reason})

    def retry(self, event: RetryScheduled) -> Line:
        return self.system(
            "api_retry",
            {
                "attempt": event.attempt,
                "max_retries": event.max_attempts,
                "retry_delay_ms": round(event.delay * 1000),
                "error_status": event.status,
                "error": event.error,
                "error_message": event.message,
            },
        )

    def compacted(self, event: Compacted) -> Line:
        sizes = {"pre_tokens": event.before_tokens, "post_tokens": event.after_tokens}
        return self.system("compact_boundary", {"compact_metadata": {"trigger": event.trigger, **sizes}})

    def denied(self, event: ToolFinished, input: Json, message: str) -> Line:
        fields = {"tool_name": event.name, "tool_use_id": event.tool_use_id, "tool_input": dict(input)}
        return self.system("permission_denied", {**fields, "message": message})

    def notice(self, event: Notice) -> Line:
        return self.system("informational", {"level": event.severity, "content": event.text, "code": event.code})

    def task(self, event: JobChanged) -> Line:
        """A background command or agent began or ended."""
        if event.state == "running":
            kind = "local_agent" if event.agent else "local_bash"
            fields = {"task_id": event.job_id, "description": event.command, "task_type": kind}
            return self.system("task_started", fields)
        code = "" if event.exit_code is None or event.agent else f" with exit code {event.exit_code}"
        failed = event.state == "finished" and event.exit_code not in (0, None)
        status = "failed" if failed else TASK_STATES[event.state]
        state = status if event.agent else event.state.replace("_", " ")
        summary = f"{event.command}: {state}{code}"
        fields = {"task_id": event.job_id, "status": status, "output_file": "", "summary": summary}
        return self.system("task_notification", fields)


def result_text(block: ToolResultBlock) -> str:
    return "\n".join(c.text for c in block.content if isinstance(c, TextBlock))


def _result_value(block: ToolResultBlock, finished: ToolFinished | None) -> Any:
    """``tool_use_result``: the result as data; a sentence for an error."""
    if block.is_error or finished is None:
        text = result_text(block)
        return f"Error: {text}" if block.is_error else text
    if finished.structured is None:
        return _display_value(finished.display)
    # A command's own data says how it ended, not what it printed.
    shown = _display_value(finished.display) if isinstance(finished.display, CommandDisplay) else {}
    return {**shown, **finished.structured}


def _display_value(display: Display) -> Line:
    match display:
        case DiffDisplay(path=path, before=before, summary=summary):
            return {"type": "create" if before is None else "update", "filePath": path, "summary": summary}
        case CommandDisplay(output=output, exit_code=code):
            return {"stdout": output, "exit_code": code}
        case TodoDisplay(todos=todos):
            return {"todos": [{"content": t.content, "status": t.status, "activeForm": t.active_form} for t in todos]}
        case TextDisplay(summary=summary, detail=detail):
            return {"summary": summary, "detail": detail} if detail else {"summary": summary}
