"""Events of one step: a request, what streams in, what came of it."""

from __future__ import annotations

from dataclasses import dataclass

from agentcli.messages import Json, Message, Usage


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
