"""``ports.model.ModelClient`` on the Messages API: requests, retries, fallback, refusals, and the cache monitor."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Any

from agentcli.clock import SystemClock
from agentcli.conversation import ConversationCache
from agentcli.errors import SetupError, TurnError
from agentcli.messages import Usage
from agentcli.model.answer import AnswerState
from agentcli.model.betas import Refusals, describe, disabled_by_env, refused_feature
from agentcli.model.breaks import Sent
from agentcli.model.cache import note_written, wants_hour
from agentcli.model.catalog import model_info, told
from agentcli.model.connection import Connection
from agentcli.model.failures import Failure, to_error, waits_too_long
from agentcli.model.gate import PrefixGate
from agentcli.model.monitor import CacheMonitor, Observation
from agentcli.model.options import ClientOptions, extra_body, stall_seconds, user_betas
from agentcli.model.parts import Rules
from agentcli.model.request import RequestBuilder, WireRequest
from agentcli.model.retry import OVERLOADS_BEFORE_FALLBACK, RetryPolicy
from agentcli.model.run import Run
from agentcli.model.transport import COUNT, MESSAGES, Transport
from agentcli.model.usage import Ledger, category, cost_of, saved_of, usage_from_api
from agentcli.ports.model import (
    ApiEvent,
    AttemptFailed,
    FallbackPlanned,
    ModelEvent,
    ModelInfo,
    ModelNotice,
    ModelRequest,
    RetryPlanned,
    Splitter,
)
from agentcli.ports.sessions import Clock

REFUSALS_FILE = "refused-features.json"
_COUNTED = ("model", "messages", "system", "tools", "tool_choice", "thinking")
_BYTES_PER_TOKEN = 3.5


class AnthropicClient:
    """One client per session, shared by its subagents, so that they pass the same gate and fill the same ledger."""

    def __init__(
        self,
        connection: Connection,
        *,
        splitter: Splitter,
        options: ClientOptions | None = None,
        clock: Clock | None = None,
        monitor: CacheMonitor | None = None,
        gate: PrefixGate | None = None,
    ) -> None:
        self.connection = connection
        self.options = options or ClientOptions()
        self.clock = clock or SystemClock()
        self.monitor = monitor or CacheMonitor(clock=self.clock)
        self.gate = gate or PrefixGate(self.clock)
        env = self.options.env
        self._retry = self.options.retry or RetryPolicy.from_env(env)
        self._split = splitter
        self._builder = RequestBuilder()
        self._betas = user_betas(self.options, connection)
        self._extra_body = extra_body(env)
        state = self.options.state_dir
        self._refusals = Refusals(state / REFUSALS_FILE if state else None, connection.fingerprint, self.clock.now)
        self._off = disabled_by_env(env)
        self._transport = Transport(connection, self.clock.now, self.options.stall or stall_seconds(env))
        self._substitutes: dict[str, str] = {}
        self._answered: dict[str, str] = {}
        self._infos: dict[str, ModelInfo] = {}

    # --- the port ---------------------------------------------------------------------------------------------------

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        run = self._begin(self._substituted(request))
        while True:
            failure: Failure | None = None
            try:
                async with aclosing(self._attempt(run)) as events:
                    async for event in events:
                        yield event
            except Failure as error:
                failure = error
            if failure is None:
                break
            if run.answer.begun:
                yield AttemptFailed(failure.reason)
            planned, delay = await self._recover(run, failure)
            for plan in planned:
                yield plan
            if delay:
                await self.clock.sleep(delay)
            run.answer = AnswerState()
        yield self._finish(run).report()

    async def count(self, request: ModelRequest) -> int | None:
        wire = self.preview(request)
        body = {key: wire.body[key] for key in _COUNTED if key in wire.body}
        try:
            answer = await self._transport.post(COUNT, body, wire.headers)
        except (Failure, SetupError):
            return None
        found = answer.get("input_tokens")
        return found if isinstance(found, int) else None

    async def close(self) -> None:
        await self._transport.close()

    # --- more than the port -----------------------------------------------------------------------------------------

    @property
    def ledger(self) -> Ledger:
        return self.monitor.ledger

    @property
    def refused(self) -> frozenset[str]:
        """Features that are off for this endpoint and key: refused within a day, or switched off by the environment.
        ``"scope"`` in it means that the global cache scope must not be planned with."""
        return self._refusals.names | self._off

    async def prefetch(self) -> None:
        """Loads the SDK in a thread; call it once the first prompt is drawn.  ``SetupError`` as ``stream`` would."""
        await self._transport.prefetch()

    def new_turn(self) -> None:
        """A fallback model holds for the rest of a turn: this ends it."""
        self._substitutes.clear()

    def info(self, model: str) -> ModelInfo:
        """The catalog's word on the model, with the windows that the server gave (``refresh_model``)."""
        return self._infos.get(model) or model_info(model, provider=self.connection.provider)

    async def refresh_model(self, model: str) -> ModelInfo:
        """Asks ``models.retrieve`` for the model's windows; what the catalog knows stays where it does not answer."""
        known = model_info(model, provider=self.connection.provider)
        try:
            answer = await self._transport.model(model)
        except (Failure, SetupError):
            return known
        self._infos[model] = info = told(known, answer)
        return info

    def preview(self, request: ModelRequest) -> WireRequest:
        """The request as it would be sent; the conversation is left as it is."""
        cache = request.conversation
        copy = ConversationCache(
            beta_headers=list(cache.beta_headers), choices=dict(cache.choices), written=list(cache.written)
        )
        return self._build(self._substituted(replace(request, conversation=copy)))

    async def prewarm(self, request: ModelRequest) -> Usage | None:
        """Writes tools and system prompt into the cache before the first question (``max_tokens: 0``).

        ``None`` where it can't be done: always-thinking models, caching off, or a server that refuses it.
        """
        wire = self._build(self._substituted(request))
        if wire.info.thinking in ("always", "none") or not wire.plan.count:
            return None
        kept: dict[str, Any] = {k: wire.body[k] for k in ("model", "tools", "system") if k in wire.body}
        body: dict[str, Any] = {**kept, "max_tokens": 0, "messages": [{"role": "user", "content": "."}]}
        try:
            answer = await self._transport.post(MESSAGES, body, wire.headers)
        except (Failure, SetupError):
            return None
        usage = usage_from_api(answer.get("usage"))
        cost, saved = cost_of(usage, wire.info), saved_of(usage, wire.info)
        self.ledger.record(wire.info.id, "side", usage, cost=cost, saved=saved)
        return usage

    # --- one run ----------------------------------------------------------------------------------------------------

    def _substituted(self, request: ModelRequest) -> ModelRequest:
        model = request.model
        while model in self._substitutes:
            model = self._substitutes[model]
        return request if model == request.model else replace(request, model=model)

    def _build(self, request: ModelRequest) -> WireRequest:
        rules = Rules(
            provider=self.connection.provider,
            split=self._split,
            env=self.options.env,
            off=self.refused,
            betas=self._betas,
            extra_body=self._extra_body,
            hour=wants_hour(self.options.env, setting=self.options.cache_ttl),
        )
        return self._builder.build(request, rules, previous_id=self._answered.get(request.conversation_id))

    def _begin(self, request: ModelRequest) -> Run:
        return Run(request, self._build(request), self.clock.now())

    async def _attempt(self, run: Run) -> AsyncGenerator[ModelEvent, None]:
        """Sends the bytes once.  ``Failure`` unless the answer came to its proper end."""
        wire, answer = run.wire, run.answer
        leave = await self.gate.enter(wire.shared_key) if self._cacheable(wire) else None
        run.sent_at = self.clock.now()
        try:
            async with aclosing(self._transport.stream(wire.body, wire.data, wire.headers)) as events:
                async for raw in events:
                    first = not answer.begun
                    answer.take(raw)
                    if first and answer.begun:
                        run.began_at = self.clock.now()
                        note_written(run.request.conversation, wire.writes)
                        if leave is not None:
                            leave.begun()
                    yield ApiEvent(raw)
                    if answer.stopped:
                        break
        finally:
            if leave is not None:
                leave.failed()
        answer.check_end()

    def _cacheable(self, wire: WireRequest) -> bool:
        """Whether waiting for a sibling can pay: the prefix has marks and is not surely under the minimum."""
        front = wire.fingerprint.tools_size + wire.fingerprint.system_size
        return wire.plan.count > 0 and front / _BYTES_PER_TOKEN >= wire.info.cache_minimum / 2

    def _finish(self, run: Run) -> Observation:
        if run.answer.message_id is not None:
            self._answered[run.request.conversation_id] = run.answer.message_id
        sent = Sent(
            run.wire.fingerprint,
            run.request.conversation_id,
            run.wire.info,
            category(run.request.query_source),
            run.sent_at,
            run.request.intent,
        )
        return self.monitor.observe(sent, run.answer.usage, api_cause=run.answer.api_cause, began=run.began_at)

    # --- after a failure --------------------------------------------------------------------------------------------

    async def _recover(self, run: Run, failure: Failure) -> tuple[Sequence[ModelEvent], float]:
        """What is done about it: events to show and seconds to wait.  Raises when nothing helps."""
        run.total_attempts += 1
        refused = refused_feature(failure, used=run.wire.features, betas=run.wire.betas)
        if refused is not None:
            return self._switch_off(run, refused), 0.0
        if failure.status == 401 and await self._new_key(run):
            return (), 0.0
        if not failure.retryable:
            raise self._error(run, failure)
        if failure.retry_after is not None and failure.retry_after > self._retry.max_wait:
            raise self._error(run, waits_too_long(failure, self._retry.max_wait))
        run.overloads = run.overloads + 1 if failure.kind == "overloaded" else 0
        if run.overloads >= OVERLOADS_BEFORE_FALLBACK and (fallback := self._fallback(run)) is not None:
            return (fallback,), 0.0
        if run.attempts > self._retry.retries:
            raise self._error(run, failure)
        delay = self._retry.delay(run.attempts, failure.retry_after)
        planned = RetryPlanned(run.attempts, self._retry.retries, delay, failure.status, failure.label, failure.reason)
        run.attempts += 1
        return (planned,), delay

    def _switch_off(self, run: Run, refused: str) -> Sequence[ModelEvent]:
        self._refusals.add(refused)
        run.wire = self._build(run.request)
        words = f"The server does not take {describe(refused)}; it is switched off for a day."
        return (ModelNotice(words, "feature_refused"),)

    async def _new_key(self, run: Run) -> bool:
        """Asks the key helper for another key, once per run."""
        if self.options.refresh_key is None or run.key_refreshed:
            return False
        run.key_refreshed = True
        self.connection = await self.options.refresh_key()
        await self._transport.reconnect(self.connection)
        return True

    def _fallback(self, run: Run) -> FallbackPlanned | None:
        """Goes on with the next fallback model for the rest of the turn."""
        previous = run.request.model
        used = {previous, *self._substitutes, *self._substitutes.values()}
        model = next((m for m in self.options.fallback_models if m not in used), None)
        if model is None:
            return None
        price = self.monitor.switch_price(model, run.request.conversation_id)
        self._substitutes[previous] = model
        run.request = replace(run.request, model=model, intent=run.request.intent or "fallback")
        run.wire = self._build(run.request)
        run.attempts, run.overloads = 1, 0
        return FallbackPlanned(model, previous, price.tokens, price.cost if price.tokens else None)

    def _error(self, run: Run, failure: Failure) -> TurnError:
        tried = run.total_attempts - 1
        where = self.connection.base_url or self.connection.provider
        error = to_error(failure, attempts=tried, url=where, key=self.connection.key_source)
        error.__cause__ = failure
        return error
