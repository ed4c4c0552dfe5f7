"""Requests beside a conversation: questions to a small model, for hooks of type ``prompt`` and for web pages.

They are paid by the conversation that they serve, so that every budget counts them.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import assert_never, cast

from agentcli.agent.fold import AnswerFold
from agentcli.agent.state import SessionState
from agentcli.conversation import ConversationCache, PromptPart, SystemPrompt
from agentcli.errors import StreamError
from agentcli.extend.hooks.running import AskModel
from agentcli.messages import Json, TextBlock, Usage, user
from agentcli.model.usage import Ledger
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
from agentcli.runtime.models import Models

SMALL_MODEL = "haiku"
MAX_TOKENS = 1_024
READER = "You read one web page for a coding agent and answer its question from it."
_WORDS = "You check one condition about a coding session and answer in the form that is asked for."
Spend = Callable[[str, Usage, float | None], None]
"""Hears of a paid request: (model, usage, cost)."""


@dataclass(frozen=True, slots=True)
class SideLine:
    """Where side requests go, and who pays: ``spend`` is the conversation's, ``ledger`` the session's."""

    client: ModelClient
    models: Models
    spend: Spend
    ledger: Callable[[], Ledger]

    def call(
        self, request: ModelRequest, *, retries: int | None = None, heard: Callable[[Json], None] | None = None
    ) -> SideCall:
        """The request, not yet sent.  After ``retries`` failed ones it is given up, before the client would; ``heard``
        gets every event of the answer."""
        return SideCall(self, request, retries, heard)

    def small(self, state: SessionState) -> str:
        """The small model, or the conversation's own where the server has models of its own."""
        return self.models.resolve(SMALL_MODEL) if self.models.info(state.model).known else state.model


@dataclass(slots=True)
class SideCall:
    """One side request.  ``fold`` holds the answer, as far as it has come when the call is cancelled."""

    line: SideLine
    request: ModelRequest
    retries: int | None = None
    heard: Callable[[Json], None] | None = None
    fold: AnswerFold = field(default_factory=AnswerFold)
    _model: str = ""
    _report: CacheReport | None = None

    async def run(self) -> AnswerFold:
        """The whole answer.  Errors are the client's own (``TurnError``, ``UserError``)."""
        self._model = self.request.model
        # Every implementation is an async generator; closing it closes the connection.
        stream = cast("AsyncGenerator[ModelEvent, None]", self.line.client.stream(self.request))
        try:
            async with aclosing(stream):
                async for event in stream:
                    self._take(event)
        except asyncio.CancelledError:
            self._pay()
            raise
        self._pay()
        return self.fold

    def _take(self, event: ModelEvent) -> None:
        match event:
            case ApiEvent(raw=raw):
                self.fold.feed(raw)
                if self.heard is not None:
                    self.heard(raw)
            case AttemptFailed():
                self.fold = AnswerFold()
            case RetryPlanned():
                if self.retries is not None and event.attempt > self.retries:
                    raise StreamError(f"{event.message} (tried {event.attempt} times)")
            case FallbackPlanned():
                self._model = event.model
            case CacheReport():
                self._report = event
            case ModelNotice():
                pass
            case _:
                assert_never(event)

    def _pay(self) -> None:
        if self._report is not None:
            self.line.spend(self._model, self._report.usage, self._report.cost)
        elif (usage := self.fold.usage()) != Usage():
            cost = self.line.models.broken_off(self.line.ledger(), "side")(self._model, usage)
            self.line.spend(self._model, usage, cost)


def side_prompt(words: str) -> SystemPrompt:
    return SystemPrompt((PromptPart("identity", "custom", words),), "custom")


def small_model(line: SideLine, *, words: str = _WORDS, conversation_id: str = "hook") -> AskModel:
    """Asks a small model, or the one that is named; ``words`` is the system prompt.  Errors are the client's own."""

    async def ask(prompt: str, model: str | None) -> str:
        request = ModelRequest(
            system=side_prompt(words),
            tools=(),
            messages=(user(prompt),),
            model=line.models.resolve(model or SMALL_MODEL),
            conversation=ConversationCache(),
            conversation_id=conversation_id,
            max_tokens=MAX_TOKENS,
            query_source="side",
        )
        fold = await line.call(request).run()
        return "".join(b.text for b in fold.blocks() if isinstance(b, TextBlock))

    return ask


def page_reader(line: SideLine, state: SessionState) -> Callable[[str], Awaitable[str]]:
    """Who reads web pages."""
    ask = small_model(line, words=READER, conversation_id="web")

    async def read(question: str) -> str:
        return await ask(question, line.small(state))

    return read
