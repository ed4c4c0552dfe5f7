"""The closed union of events.  Times are seconds, costs are US dollars, token counts are the API's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from agentcli.messages import Json, Message, Usage, message_to_record
from agentcli.ports.display import Display, Todo

Outcome = Literal[
    "completed",
    "interrupted",
    "max_turns",
    "budget",
    "refusal",
    "api_error",
    "error",
    "output_limit",
    "hook_stopped",
]
Severity = Literal["info", "warning", "error"]


@dataclass(frozen=True, slots=True)
class TurnStarted:
    """A user prompt was taken on.  First event of a turn."""

    turn: int
    prompt: str


@dataclass(frozen=True, slots=True)
class PromptAccepted:
    """A user message (prompt, steering, reminders and all) became part of the conversation.  Before the step that
    sends it; also in the middle of a turn, when queued messages are delivered between steps."""

    message: Message
    steering: bool = False


@dataclass(frozen=True, slots=True)
class StepStarted:
    """A request is about to be sent.  Once per step, before anything of its answer."""

    step: int
    model: str
    waiting_for: str = "model"


@dataclass(frozen=True, slots=True)
class ModelStream:
    """A raw event of the API's stream, untouched.  Within a step, in front of the event that is derived from it."""

    raw: Json


@dataclass(frozen=True, slots=True)
class TextDelta:
    """Text of the answer.  Within a step; void when ``AttemptDiscarded`` follows."""

    text: str


@dataclass(frozen=True, slots=True)
class ThinkingDelta:
    """Text of the model's visible thinking.  Within a step; void when ``AttemptDiscarded`` follows."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolCallStarted:
    """The model began to write a tool call; its input is not complete yet.  Within a step."""

    tool_use_id: str
    name: str


@dataclass(frozen=True, slots=True)
class AttemptDiscarded:
    """The stream failed; everything since ``StepStarted`` of this attempt is void.  The same bytes are sent again
    unless a ``TurnFinished`` follows."""

    reason: str


@dataclass(frozen=True, slots=True)
class RetryScheduled:
    """The request failed in a way that a retry can mend; it is sent again after ``delay``."""

    attempt: int
    max_attempts: int
    delay: float
    status: int | None
    error: str
    message: str


@dataclass(frozen=True, slots=True)
class FallbackUsed:
    """After repeated overload the rest of the turn goes to the fallback model.  ``cost`` is what the uncached tokens
    cost (US dollars, ``None`` where unknown)."""

    model: str
    previous: str
    uncached_tokens: int = 0
    cost: float | None = None


@dataclass(frozen=True, slots=True)
class AssistantMessage:
    """The answer of a step is complete and part of the conversation.  Once per successful step."""

    message: Message
    model: str
    stop_reason: str | None
    usage: Usage
    message_id: str = ""
    partial: bool = False
    """Interrupted: what had been complete was kept."""


@dataclass(frozen=True, slots=True)
class CacheObserved:
    """What the cache did for the request that just ended.  After ``AssistantMessage``."""

    read: int
    readable: int
    written: int
    uncached: int
    cost: float | None
    saved: float | None
    cause: str = ""
    """Empty where everything readable was read."""
    expected: bool = True
    """False for a break that nobody intended."""
    alert: bool = False
    lost: int = 0
    """Tokens that the request before had left in the cache and this one did not read."""
    lost_cost: float | None = None
    """US dollars that they cost more than a read."""


@dataclass(frozen=True, slots=True)
class ToolStarted:
    """A tool call begins to run (it has passed hooks and permissions).  After ``AssistantMessage``."""

    tool_use_id: str
    name: str
    input: Json
    title: str
    """The call's telling argument, one line."""


@dataclass(frozen=True, slots=True)
class ToolOutput:
    """Live output of a running tool.  Between ``ToolStarted`` and ``ToolFinished``."""

    tool_use_id: str
    text: str


@dataclass(frozen=True, slots=True)
class ToolFinished:
    """A tool call has its result.  Exactly once per call of an ``AssistantMessage``, whatever happened."""

    tool_use_id: str
    name: str
    title: str
    display: Display
    is_error: bool
    duration: float
    denied: bool = False
    interrupted: bool = False
    structured: Json | None = None
    """The result as data, where the tool has more to say than text."""


@dataclass(frozen=True, slots=True)
class ToolResultsAppended:
    """The results of one answer's calls became part of the conversation, in the order of the calls."""

    message: Message


@dataclass(frozen=True, slots=True)
class PermissionAsked:
    """A call waits for an answer.  Between ``AssistantMessage`` and the call's ``ToolStarted`` or ``ToolFinished``."""

    request_id: str
    tool_use_id: str
    name: str
    input: Json
    title: str
    reason: str
    preview: Display | None = None
    suggestions: tuple[Json, ...] = ()
    agent: str = ""
    """Name of the subagent that asks; empty for the main agent."""
    blocked_path: str = ""
    """The file that the question is about, where it is about one."""


@dataclass(frozen=True, slots=True)
class PermissionResolved:
    """The question has its answer (from whom, see ``by``).  Exactly once per ``PermissionAsked``."""

    request_id: str
    allowed: bool
    by: Literal["user", "hook", "mode", "cancelled", "nobody"] = "user"


@dataclass(frozen=True, slots=True)
class QueueChanged:
    """Messages that were typed while the agent works and wait for delivery.  At any time."""

    queued: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TodosChanged:
    """The todo list has a new state.  While a tool runs, and after a resume."""

    todos: tuple[Todo, ...]


@dataclass(frozen=True, slots=True)
class JobChanged:
    """A background job started, ended or was killed.  At any time."""

    job_id: str
    command: str
    state: Literal["running", "finished", "timed_out", "killed"]
    exit_code: int | None = None


@dataclass(frozen=True, slots=True)
class Compacted:
    """A compaction replaced the conversation.  Between steps or by ``/compact``."""

    trigger: Literal["manual", "auto"]
    before_tokens: int
    after_tokens: int
    summary: str


@dataclass(frozen=True, slots=True)
class ConversationCleared:
    """``/clear``: a new conversation (and session file) begins."""

    session_id: str


@dataclass(frozen=True, slots=True)
class ModeChanged:
    """The permission mode changed.  At any time."""

    mode: str


@dataclass(frozen=True, slots=True)
class ModelChanged:
    """The model, effort or thinking setting changed.  Between turns; with ``for_turn`` also in one, to whose end it
    holds (another one says what holds again)."""

    model: str
    effort: str | None = None
    thinking: str = "default"
    for_turn: bool = False


@dataclass(frozen=True, slots=True)
class Notice:
    """Something the user should know.  At any time; each ``code`` is documented where it is emitted."""

    severity: Severity
    text: str
    code: str = ""


@dataclass(frozen=True, slots=True)
class FromSubagent:
    """An event of a subagent, wrapped.  Between ``ToolStarted`` and ``ToolFinished`` of its ``Agent`` call, or at any
    time for one in the background."""

    agent: str
    tool_use_id: str
    event: Event


@dataclass(frozen=True, slots=True)
class TurnFinished:
    """The turn is over and the conversation is valid.  Last event of a turn, exactly once."""

    turn: int
    outcome: Outcome
    text: str
    """Text of the last answer."""
    steps: int
    duration: float
    api_duration: float
    usage: Usage
    cost: float | None
    error: str = ""
    error_kind: str = ""
    error_status: int | None = None
    stop_reason: str | None = None
    structured_output: Any = None
    """Of a session with a JSON schema: the answer as data (see ``agentcli.open_session``)."""


Event: TypeAlias = (
    TurnStarted
    | PromptAccepted
    | StepStarted
    | ModelStream
    | TextDelta
    | ThinkingDelta
    | ToolCallStarted
    | AttemptDiscarded
    | RetryScheduled
    | FallbackUsed
    | AssistantMessage
    | CacheObserved
    | ToolStarted
    | ToolOutput
    | ToolFinished
    | ToolResultsAppended
    | PermissionAsked
    | PermissionResolved
    | QueueChanged
    | TodosChanged
    | JobChanged
    | Compacted
    | ConversationCleared
    | ModeChanged
    | ModelChanged
    | Notice
    | FromSubagent
    | TurnFinished
)


def to_record(event: Event) -> dict[str, Any]:
    """The event as JSON-ready values, its class name under ``event``."""
    return {"event": type(event).__name__, **_fields(event)}


def _fields(value: Any) -> dict[str, Any]:
    return {f.name: _plain(getattr(value, f.name)) for f in fields(value)}


def _plain(value: Any) -> Any:
    if isinstance(value, Message):
        return message_to_record(value)
    if is_dataclass(value) and not isinstance(value, type):
        return {"type": type(value).__name__, **_fields(value)}
    if isinstance(value, Mapping):
        return {k: _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    if isinstance(value, Path):
        return str(value)
    return value
