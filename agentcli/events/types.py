"""The closed union of events.  Times are seconds, costs are US dollars, token counts are the API's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from agentcli.events.calls import (
    PermissionAsked,
    PermissionResolved,
    ToolFinished,
    ToolOutput,
    ToolResultsAppended,
    ToolStarted,
)
from agentcli.events.states import (
    Compacted,
    ConversationCleared,
    JobChanged,
    ModeChanged,
    ModelChanged,
    Notice,
    QueueChanged,
    TodosChanged,
)
from agentcli.events.steps import (
    AssistantMessage,
    AttemptDiscarded,
    CacheObserved,
    FallbackUsed,
    ModelStream,
    RetryScheduled,
    StepStarted,
    TextDelta,
    ThinkingDelta,
    ToolCallStarted,
)
from agentcli.messages import Message, Usage

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
    readable: int = 0
    """Input tokens of the turn's own requests that could have been read from the cache …"""
    read_of_readable: int = 0
    """… and those of them that were."""
    saved: float | None = None
    """US dollars that the cache saved in the turn; ``None`` where prices are not known."""

    @property
    def read_share(self) -> float | None:
        """Input tokens that were read from the cache, by all (0 to 1); ``None`` where nothing was asked."""
        total = self.usage.total_input
        return self.usage.cache_read / total if total else None

    @property
    def efficiency(self) -> float | None:
        """What was read of what was readable (0 to 1); ``None`` where nothing was."""
        return self.read_of_readable / self.readable if self.readable else None


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
