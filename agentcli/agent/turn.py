"""One model call: the stream is folded into one message, and everything of it is told as it comes."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import assert_never, cast

from agentcli.agent.fold import AnswerFold
from agentcli.agent.state import SessionState
from agentcli.events import (
    AttemptDiscarded,
    CacheObserved,
    Emit,
    FallbackUsed,
    ModelStream,
    Notice,
    RetryScheduled,
    TextDelta,
)
from agentcli.messages import Block, Json, Message, Usage
from agentcli.ports.model import (
    ApiEvent,
    AttemptFailed,
    CacheReport,
    FallbackPlanned,
    ModelClient,
    ModelEvent,
    ModelNotice,
    ModelRequest,
    RetryPlanned,
)
from agentcli.ports.sessions import Journal


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of a model call.  ``message`` may be empty.  ``faults`` are calls that must not run (broken input),
    with what the model is told; ``last_call`` is the id of a call that stands at the end of the answer."""

    message: Message
    stop_reason: str | None
    usage: Usage
    model: str
    message_id: str = ""
    report: CacheReport | None = None
    faults: Mapping[str, str] = field(default_factory=dict)
    last_call: str | None = None


def cache_observed(report: CacheReport) -> CacheObserved:
    """The monitor's word as an event."""
    use = report.usage
    return CacheObserved(
        read=use.cache_read,
        readable=report.readable,
        written=use.cache_write,
        uncached=use.input,
        cost=report.cost,
        saved=report.saved,
        cause=report.cause,
        expected=report.expected,
        alert=report.alert,
        lost=report.lost,
        lost_cost=report.lost_cost,
    )


class ModelCall:
    """One request and its answer.  ``run`` may raise ``TurnError``; cancelled, ``partial`` is what is left."""

    def __init__(self, model: ModelClient, state: SessionState, journal: Journal, emit: Emit) -> None:
        self._model = model
        self._state = state
        self._journal = journal
        self._emit = emit
        self._fold = AnswerFold(state.call_ids)
        self._report: CacheReport | None = None
        self._asked = state.model

    async def run(self, request: ModelRequest) -> Answer:
        self._asked = request.model
        # Every implementation is an async generator; closing it closes the connection.
        stream = cast("AsyncGenerator[ModelEvent, None]", self._model.stream(request))
        try:
            async with aclosing(stream):
                async for event in stream:
                    self._take(event)
        except Exception as error:
            self.discard(str(error))
            raise
        return self._answer(self._fold.blocks())

    def partial(self) -> Answer:
        """The answer as far as it had come when the call was cancelled."""
        return self._answer(self._fold.partial())

    def discard(self, reason: str) -> None:
        """Voids what the present attempt has shown."""
        if self._fold.begun:
            self._journal.append("discard", {"reason": reason})
            self._emit(AttemptDiscarded(reason))
        self._fold = AnswerFold(self._state.call_ids)
        self._report = None

    def _take(self, event: ModelEvent) -> None:
        match event:
            case ApiEvent(raw=raw):
                self._show(raw)
            case AttemptFailed(reason=reason):
                self.discard(reason)
            case RetryPlanned():
                self._emit(
                    RetryScheduled(
                        event.attempt, event.max_attempts, event.delay, event.status, event.error, event.message
                    )
                )
            case FallbackPlanned():
                self._asked = event.model
                self._emit(FallbackUsed(event.model, event.previous, event.uncached_tokens, event.cost))
            case ModelNotice(text=text, code=code):
                self._emit(Notice("info", text, code))
            case CacheReport():
                self._report = event
            case _:
                assert_never(event)

    def _show(self, raw: Json) -> None:
        derived = self._fold.feed(raw)
        for event in derived:
            if isinstance(event, TextDelta):
                self._journal.append("delta", {"text": event.text})
        self._emit(ModelStream(raw))
        for event in derived:
            self._emit(event)

    def _answer(self, blocks: tuple[Block, ...]) -> Answer:
        fold = self._fold
        return Answer(
            message=Message("assistant", blocks),
            stop_reason=fold.stop_reason,
            usage=self._report.usage if self._report else fold.usage(),
            model=fold.model or self._asked,
            message_id=fold.message_id,
            report=self._report,
            faults=dict(fold.faults),
            last_call=fold.last_call(),
        )
