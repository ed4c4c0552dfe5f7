"""A model client that plays a script: for the demonstration and for tests of the engine.

It streams what the API would stream (same events, small deltas) and reports cache figures that follow from the sizes
of what was sent: the longest beginning that an earlier request had counts as read, the rest as written.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from agentcli.clock import SystemClock
from agentcli.errors import StreamError, TurnError
from agentcli.messages import (
    Block,
    RedactedThinkingBlock,
    TextBlock,
    ThinkingBlock,
    ToolUseBlock,
    Usage,
    block_to_api,
    canonical,
)
from agentcli.model.catalog import model_info
from agentcli.model.usage import Ledger, category, cost_of, saved_of
from agentcli.ports.model import (
    ApiEvent,
    AttemptFailed,
    CacheReport,
    FallbackPlanned,
    ModelEvent,
    ModelNotice,
    ModelRequest,
    RetryPlanned,
)
from agentcli.ports.sessions import Clock
from agentcli.text import estimate_tokens

BeforeEvent: TypeAlias = RetryPlanned | ModelNotice | FallbackPlanned


@dataclass(frozen=True, slots=True)
class Answer:
    """One scripted answer.

    ``stop_reason`` follows from the blocks unless given.  ``usage`` replaces the computed one.  ``before`` are events
    that come first.  With ``fail`` the stream breaks off after the blocks: ``AttemptFailed`` with that text, then the
    next answer of the script is played in the same stream, as a retry does.  With ``error`` the stream raises it after
    the blocks.
    """

    blocks: tuple[Block, ...] = ()
    stop_reason: str | None = None
    usage: Usage | None = None
    before: tuple[BeforeEvent, ...] = ()
    fail: str = ""
    error: TurnError | None = None
    partial_json: str | None = None
    """The last tool call's input as written so far, in place of its whole JSON (an answer that was cut off)."""


Step: TypeAlias = Answer | str | Callable[[ModelRequest], "Answer | str | Awaitable[Answer | str]"]


def say(*blocks: Block | str, stop_reason: str | None = None) -> Answer:
    """An answer of texts (strings) and blocks."""
    return Answer(tuple(TextBlock(b, "model") if isinstance(b, str) else b for b in blocks), stop_reason)


def call(name: str, /, *, id: str = "", **input: Any) -> ToolUseBlock:
    """A tool call for ``say``; without an id the client numbers it."""
    return ToolUseBlock(id, name, input)


@dataclass(slots=True)
class ScriptedClient:
    """``ports.model.ModelClient`` that plays ``script`` in order, one answer per request.

    ``delay`` seconds pass before each delta of ``chunk`` characters.  When the script is at its end ``otherwise`` is
    played, or ``StreamError`` raised.  ``requests`` keeps every request for tests.
    """

    script: Iterable[Step]
    delay: float = 0.0
    chunk: int = 12
    otherwise: Step | None = None
    clock: Clock = field(default_factory=SystemClock)
    ledger: Ledger = field(default_factory=Ledger)
    requests: list[ModelRequest] = field(default_factory=list)
    closed: bool = False
    _steps: Iterator[Step] | None = None
    _calls: int = 0
    _answers: int = 0
    _sent: list[list[str]] = field(default_factory=list)

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        self.requests.append(request)
        units = _units(request)
        read = max((_common(units, earlier) for earlier in self._sent), default=0)
        self._sent.append(units)
        while True:
            answer = await self._next(request)
            for event in answer.before:
                yield event
            usage = answer.usage or _usage(units, read, answer)
            for raw in self._play(request, answer, usage):
                if self.delay and raw["type"] == "content_block_delta":
                    await self.clock.sleep(self.delay)
                yield ApiEvent(raw)
            if answer.error is not None:
                raise answer.error
            if not answer.fail:
                break
            yield AttemptFailed(answer.fail)
        yield self._report(request, usage, read=sum(map(estimate_tokens, units[:read])))

    async def count(self, request: ModelRequest) -> int | None:
        return sum(map(estimate_tokens, _units(request)))

    async def close(self) -> None:
        self.closed = True

    async def _next(self, request: ModelRequest) -> Answer:
        if self._steps is None:
            self._steps = iter(self.script)
        step = next(self._steps, self.otherwise)
        if step is None:
            raise StreamError("The script has no further answer.")
        if callable(step):
            made = step(request)
            step = await made if inspect.isawaitable(made) else made
        return say(step) if isinstance(step, str) else step

    def _play(self, request: ModelRequest, answer: Answer, usage: Usage) -> Iterator[dict[str, Any]]:
        self._answers += 1
        message: dict[str, Any] = {
            "id": f"msg_scripted_{self._answers:04}",
            "type": "message",
            "role": "assistant",
            "model": request.model,
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": {**_usage_to_api(usage), "output_tokens": 1},
        }
        yield {"type": "message_start", "message": message}
        last = len(answer.blocks) - 1
        for index, block in enumerate(answer.blocks):
            yield from self._block(index, block, answer.partial_json if index == last else None)
        if answer.fail or answer.error is not None:
            return
        calls = any(isinstance(b, ToolUseBlock) for b in answer.blocks)
        stop = answer.stop_reason or ("tool_use" if calls else "end_turn")
        delta = {"stop_reason": stop, "stop_sequence": None}
        yield {"type": "message_delta", "delta": delta, "usage": _usage_to_api(usage)}
        yield {"type": "message_stop"}

    def _block(self, index: int, block: Block, partial: str | None) -> Iterator[dict[str, Any]]:
        start = block_to_api(block)
        deltas: list[dict[str, str]] = []
        match block:
            case TextBlock():
                start["text"] = ""
                deltas = [{"type": "text_delta", "text": t} for t in self._pieces(block.text)]
            case ThinkingBlock():
                start.update(thinking="", signature="")
                deltas = [{"type": "thinking_delta", "thinking": t} for t in self._pieces(block.thinking)]
                deltas.append({"type": "signature_delta", "signature": block.signature})
            case ToolUseBlock():
                self._calls += 1
                start.update(id=block.id or f"toolu_scripted_{self._calls:04}", input={})
                text = json.dumps(start_input(block)) if partial is None else partial
                deltas = [{"type": "input_json_delta", "partial_json": t} for t in self._pieces(text)]
            case _:
                pass
        yield {"type": "content_block_start", "index": index, "content_block": start}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}

    def _pieces(self, text: str) -> list[str]:
        return [text[i : i + self.chunk] for i in range(0, len(text), self.chunk)]

    def _report(self, request: ModelRequest, usage: Usage, *, read: int) -> CacheReport:
        info = model_info(request.model)
        cost, saved = cost_of(usage, info), saved_of(usage, info)
        self.ledger.record(request.model, category(request.query_source), usage, cost=cost, saved=saved)
        return CacheReport(usage, cost, saved, readable=read)


def start_input(block: ToolUseBlock) -> dict[str, Any]:
    """The call's input as a plain dict, order kept."""
    plain: dict[str, Any] = block_to_api(block)["input"]
    return plain


def _units(request: ModelRequest) -> list[str]:
    """What is sent, cut where a cache entry could end: tools, system parts, message blocks."""
    units = [canonical([t.name, t.description, t.input_schema]) for t in request.tools if not t.deferred]
    units += [part.text for part in request.system.parts if part.kind != "boundary"]
    for message in request.messages:
        units += [message.role + canonical(block_to_api(block)) for block in message.content]
    return units


def _common(ours: Sequence[str], theirs: Sequence[str]) -> int:
    count = 0
    for a, b in zip(ours, theirs, strict=False):
        if a != b:
            break
        count += 1
    return count


def _usage(units: Sequence[str], read: int, answer: Answer) -> Usage:
    sizes = [estimate_tokens(u) for u in units]
    output = sum(estimate_tokens(_words(b)) for b in answer.blocks)
    return Usage(input=2, output=output, cache_read=sum(sizes[:read]), cache_write_5m=sum(sizes[read:]))


def _words(block: Block) -> str:
    match block:
        case TextBlock():
            return block.text
        case ThinkingBlock():
            return block.thinking
        case RedactedThinkingBlock():
            return block.data
        case _:
            return canonical(block_to_api(block))


def _usage_to_api(usage: Usage) -> dict[str, Any]:
    return {
        "input_tokens": usage.input,
        "cache_creation_input_tokens": usage.cache_write,
        "cache_read_input_tokens": usage.cache_read,
        "cache_creation": {
            "ephemeral_5m_input_tokens": usage.cache_write_5m,
            "ephemeral_1h_input_tokens": usage.cache_write_1h,
        },
        "output_tokens": usage.output,
    }
