"""Between the engine and the model room."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias

from agentcli.conversation import ConversationCache, SystemPrompt, SystemPromptBlock
from agentcli.messages import Json, Message, Usage

QuerySource = Literal["repl", "print", "sdk", "subagent", "compact", "side"]
"""Who asks.  The ttl decision and the cost categories depend on it."""
Effort = Literal["low", "medium", "high", "xhigh", "max"]
ThinkingChoice = Literal["default", "on", "off"]


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as the model sees it.  ``input_schema`` is JSON schema; ``deferred`` tools are defined but not rendered
    in front.  ``raw`` (server tools) is sent as it is, in place of the other fields."""

    name: str
    description: str
    input_schema: Json
    deferred: bool = False
    mcp: bool = False
    raw: Json | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """One step's request in our values; ``model/request.py`` turns it into the API's JSON."""

    system: SystemPrompt
    tools: tuple[ToolSpec, ...]
    messages: tuple[Message, ...]
    model: str
    """Exact id, never an alias."""
    conversation: ConversationCache
    conversation_id: str = "main"
    """Requests with the same id are one conversation for the cache monitor."""
    max_tokens: int | None = None
    """``None`` takes the catalog's default for the model."""
    effort: Effort | None = None
    thinking: ThinkingChoice = "default"
    query_source: QuerySource = "repl"
    tool_choice: Literal["auto", "none"] = "auto"
    output_schema: Json | None = None
    intent: str = ""
    """Why this request's prefix differs on purpose from the one before ("compaction", "model switch", "rewind")."""


@dataclass(frozen=True, slots=True)
class ApiEvent:
    """A raw event of the stream (``message_start``, ``content_block_delta`` …) as parsed JSON, untouched."""

    raw: Json


@dataclass(frozen=True, slots=True)
class AttemptFailed:
    """The stream failed after it had begun; everything of this attempt is void."""

    reason: str


@dataclass(frozen=True, slots=True)
class RetryPlanned:
    """The client waits ``delay`` seconds and sends the same bytes again."""

    attempt: int
    max_attempts: int
    delay: float
    status: int | None
    error: str
    message: str


@dataclass(frozen=True, slots=True)
class FallbackPlanned:
    """After repeated overload the client goes on with the fallback model, for the rest of the turn.  ``cost`` is what
    the uncached tokens cost (US dollars, ``None`` where unknown)."""

    model: str
    previous: str
    uncached_tokens: int
    cost: float | None = None


@dataclass(frozen=True, slots=True)
class ModelNotice:
    """Something the user should know, such as a refused beta that was switched off."""

    text: str
    code: str


@dataclass(frozen=True, slots=True)
class CacheReport:
    """The monitor's word on the request that just ended; last event of a successful stream.

    ``usage`` is the final usage, ``cost`` in US dollars (``None`` for a model without known prices), ``readable`` the
    tokens that the request before had sent and this prefix still contains, ``lost`` what of its cached tokens was not
    read again, ``lost_cost`` what that cost more than a read.
    """

    usage: Usage
    cost: float | None
    saved: float | None
    readable: int
    cause: str = ""
    expected: bool = True
    alert: bool = False
    lost: int = 0
    lost_cost: float | None = None


ModelEvent: TypeAlias = ApiEvent | AttemptFailed | RetryPlanned | FallbackPlanned | ModelNotice | CacheReport


class ModelClient(Protocol):
    """Sends a request and streams the answer; retries are its own, visible as events.

    ``stream`` raises ``errors.ApiError`` or ``errors.StreamError`` when no retry is left or none can help.  Cancelling
    the consumer closes the connection at once.
    """

    def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]: ...

    async def count(self, request: ModelRequest) -> int | None:
        """Input tokens of the request by the API's own count; ``None`` where the server can't say."""

    async def close(self) -> None: ...


class Splitter(Protocol):
    """``prompt.split.split_sys_prompt_prefix``."""

    def __call__(
        self, system_prompt: SystemPrompt, *, skip_global_cache_for_system_prompt: bool
    ) -> list[SystemPromptBlock]: ...


class PrefixGate(Protocol):
    """Parallel requests with one prefix: the first goes, the others wait until its answer has begun."""

    async def enter(self, key: str) -> GatePass: ...


class GatePass(Protocol):
    def begun(self) -> None:
        """The response has begun (or failed): those who wait may go."""


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """What the catalog (or ``models.retrieve``) knows of a model.  Prices in US dollars per million tokens, ``None``
    where unknown; ``window`` and ``max_output`` in tokens."""

    id: str
    name: str
    window: int
    max_output: int
    cache_minimum: int
    input_price: float | None = None
    output_price: float | None = None
    knowledge_cutoff: str | None = None
    thinking: Literal["adaptive", "always", "between_tools", "budget", "none"] = "adaptive"
    efforts: tuple[Effort, ...] = ()
    default_effort: Effort | None = None
    long_prompt: tuple[int, float, float] | None = None
    """(tokens, input price, output price) above a prompt of that many tokens."""
    known: bool = True
    extra: Mapping[str, Any] | None = None
