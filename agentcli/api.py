"""agentcli as a library: one prompt (``query``) or a conversation (``open_session``), as a stream of events.

A session here is a headless one: nobody sits at a terminal, a project is trusted only by ``SessionOptions.trust`` or
an earlier yes, and a prompt that begins with a slash is a command, as with ``agentcli -p``.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from typing import TypeAlias

from agentcli.errors import SetupError, UsageError
from agentcli.events import Event, FromSubagent, PermissionAsked, PermissionResolved, TurnFinished
from agentcli.ports.frontend import UserInput
from agentcli.ports.permissions import PERMISSION_MODES, Answer, PermissionMode
from agentcli.runtime import build
from agentcli.runtime.mentions import expand_mentions
from agentcli.runtime.options import SessionOptions
from agentcli.runtime.session import Session as Engine
from agentcli.ui.headless.approvals import checked
from agentcli.ui.headless.images import Images, image_blocks
from agentcli.ui.headless.inputs import Prompt
from agentcli.ui.headless.lines import Lines
from agentcli.ui.headless.result import RunResult
from agentcli.ui.headless.structured import OutputSchema, Schema
from agentcli.ui.headless.turns import Turns

Permission: TypeAlias = Callable[[PermissionAsked], Awaitable[Answer]]
"""Answers permission questions, those of subagents too.  It is cancelled when a question is answered elsewhere or
withdrawn.  If it raises, the call is denied, the turn is interrupted, and ``send`` raises the same error."""


async def query(
    prompt: str,
    *,
    images: Images = (),
    options: SessionOptions | None = None,
    permission: Permission | None = None,
    json_schema: Schema | None = None,
) -> AsyncGenerator[Event, None]:
    """One turn in a session of its own; the last event is ``TurnFinished``.

    ``options`` ``None`` is a session in the current directory.  Closing the iterator early interrupts the turn and
    ends everything that it started.  ``UserError`` when the session can't be had; what ends a turn is no exception
    but ``TurnFinished.outcome``::

        async for event in agentcli.query("What does this repository do?"):
            if isinstance(event, agentcli.TurnFinished):
                print(event.text)

    A loop that is left early should stand in ``contextlib.aclosing``, so that the session ends there and then.
    """
    async with (
        open_session(options, permission=permission, json_schema=json_schema) as session,
        aclosing(session.send(prompt, images=images)) as events,
    ):
        async for event in events:
            yield event


@asynccontextmanager
async def open_session(
    options: SessionOptions | None = None, *, permission: Permission | None = None, json_schema: Schema | None = None
) -> AsyncIterator[Session]:
    """A session for as many turns as are sent, closed at the end of the block.  ``UserError`` when it can't be had.

    Permission questions go to ``permission``.  Without it they are denied at once, with words that say how to allow
    the call beforehand; with ``SessionOptions.answers_permissions`` they wait for ``Session.answer`` instead::

        async def ask(question: agentcli.PermissionAsked) -> agentcli.Answer:
            return agentcli.Answer(question.name == "Edit", "only edits, please")

        async with agentcli.open_session(permission=ask) as session:
            async for event in session.send("Fix the failing test"):
                ...
            async for event in session.send("Now tidy it up"):
                ...

    With ``json_schema`` every final answer fits it: ``TurnFinished.structured_output`` is the value.  The model gets a
    few attempts; where none fits, the outcome is ``error`` and ``error_kind`` is ``structured_output``.
    """
    schema = OutputSchema.parse(json_schema, where="json_schema") if json_schema is not None else None
    given = options or SessionOptions()
    cwd = given.cwd.absolute()
    if not os.path.isdir(cwd):
        raise SetupError(f"{cwd} is no directory: SessionOptions.cwd is where the session works")
    asks = permission is not None or given.answers_permissions
    engine = await build.open_session(
        replace(given, cwd=cwd, interactive=False, query_source="sdk", answers_permissions=asks)
    )
    session = Session(engine, permission, schema=schema)
    try:
        engine.start()
        yield session
    finally:
        await session.close()


class Session:
    """An open session, made by ``open_session``.  Everything runs on one event loop."""

    def __init__(
        self, engine: Engine, permission: Permission | None = None, *, schema: OutputSchema | None = None
    ) -> None:
        self._engine = engine
        self._permission = permission
        self._events: asyncio.Queue[Event | None] = asyncio.Queue()
        self._asking: dict[str, asyncio.Task[None]] = {}
        self._turn: asyncio.Task[RunResult] | None = None
        self._waiting: asyncio.Task[UserInput | None] | None = None
        self._about_to_begin = False
        self._failure: Exception | None = None
        self._turns = Turns(engine, Lines(lambda: engine.id), lambda line: None, lambda: 0, schema)
        for listener in (self._turns.hear, self._events.put_nowait, self._hear):
            engine.events.subscribe(listener)
        self._turns.prepare()

    @property
    def id(self) -> str:
        """What ``Resume(query=…)`` and ``agentcli --resume`` take."""
        return self._engine.id

    @property
    def model(self) -> str:
        """The exact id of the model that the next request goes to."""
        return self._engine.state.model

    @property
    def permission_mode(self) -> PermissionMode:
        return self._engine.gate.mode

    # --- turns ------------------------------------------------------------------------------------------------------

    async def send(self, prompt: str, *, images: Images = ()) -> AsyncGenerator[Event, None]:
        """One turn: what happened since the turn before, then the turn's events, ``TurnFinished`` last.

        Closing the iterator early interrupts the turn; the conversation stays valid.  ``UsageError`` while another
        turn runs, when the session is closed, or for an image that can't be read.
        """
        self._check_free()
        given = UserInput(prompt, await image_blocks(images))
        self._check_free()
        async with aclosing(self._play(Prompt(given))) as events:
            async for event in events:
                yield event

    async def follow(self) -> AsyncGenerator[Event, None]:
        """The turns that the session begins by itself: a background agent has reported
        (``SessionOptions(wakes=True)``), or a tick came in proactive mode.  Each ends with its ``TurnFinished``; what
        happens between them is yielded when it happens.

        Ends when nothing can begin a turn any more, on ``interrupt``, and when the session is closed.  Closing the
        iterator early interrupts a turn that runs and leaves the agents at work.  ``UsageError`` as of ``send``.
        """
        self._check_free()
        while True:
            waiting = self._waiting = asyncio.create_task(self._engine.waking.next_if_any())
            try:
                while (event := await self._unless(waiting)) is not None:
                    yield event
            finally:
                self._waiting = None
                waiting.cancel()
                await asyncio.wait({waiting})
            prompt = None if waiting.cancelled() or self._engine.closed else waiting.result()
            if prompt is None:
                return
            async with aclosing(self._play(Prompt(prompt, verbatim=True, self_started=True))) as events:
                async for event in events:
                    yield event

    async def steer(self, prompt: str, *, images: Images = ()) -> None:
        """Says something to the running turn, which gets it between two steps; it is part of that turn's work and has
        no ``TurnFinished`` of its own.  ``UsageError`` where no turn runs, or for an image that can't be read."""
        ready = await expand_mentions(UserInput(prompt, await image_blocks(images)), self._engine)
        if self._turn is None or self._turn.done():
            raise UsageError("No turn is running that could be steered: send the prompt")
        self._engine.steer(ready)

    def interrupt(self) -> None:
        """Ends the running turn (its events go on to ``TurnFinished``), background agents, and proactive ticks."""
        if self._turn is not None and not self._turn.done():
            self._turns.interrupt(about_to_begin=self._about_to_begin)
        else:
            self._engine.interrupt()

    def answer(self, request_id: str, answer: Answer) -> bool:
        """Answers a ``PermissionAsked``.  False when it has been answered already."""
        return self._engine.answer(request_id, answer)

    # --- choices ----------------------------------------------------------------------------------------------------

    def set_permission_mode(self, mode: PermissionMode) -> None:
        """Holds from the next call on, also in a running turn.  ``UserError`` for a name that is no mode, and for
        ``bypassPermissions`` where ``SessionOptions.allow_bypass`` or the settings did not allow it."""
        if mode not in PERMISSION_MODES:
            raise UsageError(f"{mode!r} is no permission mode: one of {', '.join(PERMISSION_MODES)}")
        self._engine.set_mode(mode)

    async def set_model(
        self, model: str | None = None, *, effort: str | None = None, thinking: str | None = None
    ) -> None:
        """Another model (alias or id), effort (low to max) or thinking (on, off, default) from the next turn on; what
        is ``None`` stays.  ``UserError`` for one that there is not, and while a turn runs."""
        await self._engine.set_model(model, effort=effort, thinking=thinking)

    async def close(self) -> None:
        """Ends the turn, children and connections; the transcript is whole.  Safe to call twice.

        Whoever still reads the turn's events gets them to the end.
        """
        if self._waiting is not None:
            self._waiting.cancel()
        if self._turn is not None:
            self.interrupt()
            await asyncio.wait({self._turn})
        await self._engine.close()
        asking = [task for task in self._asking.values() if task is not asyncio.current_task()]
        for task in asking:
            task.cancel()
        await asyncio.gather(*asking, return_exceptions=True)

    def _check_free(self) -> None:
        if self._engine.closed:
            raise UsageError("The session is closed: send prompts inside the open_session block")
        if self._turn is not None or self._waiting is not None:
            what = "A turn is running" if self._turn is not None else "follow() waits for a turn"
            raise UsageError(f"{what}: read its events to the end, or close its iterator, before the next")

    async def _play(self, prompt: Prompt) -> AsyncGenerator[Event, None]:
        self._about_to_begin = True
        turn = self._turn = asyncio.create_task(self._run(prompt))
        try:
            while (event := await self._events.get()) is not None:
                if not isinstance(event, TurnFinished):  # it comes below, when nothing can follow it any more
                    yield event
            self._turn = None
            failure, self._failure = self._failure, None
            if failure is not None:
                raise failure
            yield turn.result().as_event()
        finally:
            await self._end(turn)

    async def _unless(self, waiting: asyncio.Task[UserInput | None]) -> Event | None:
        """The next event; ``None`` once there is none left and what is waited for has come."""
        getting = asyncio.ensure_future(self._events.get())
        try:
            await asyncio.wait({getting, waiting}, return_when=asyncio.FIRST_COMPLETED)
            return getting.result() if getting.done() else None
        finally:
            getting.cancel()

    async def _run(self, prompt: Prompt) -> RunResult:
        self._about_to_begin = False
        try:
            return await self._turns.run(prompt)
        finally:
            self._events.put_nowait(None)

    async def _end(self, turn: asyncio.Task[RunResult]) -> None:
        """Until a turn that nobody reads any more is over.  What is left of its events is dropped."""
        if self._turn is not turn:
            return
        self.interrupt()
        await asyncio.wait({turn})
        while not self._events.empty():
            self._events.get_nowait()
        self._failure = self._turn = None

    # --- permission questions ---------------------------------------------------------------------------------------

    def _hear(self, event: Event) -> None:
        match event:
            case PermissionAsked() if self._permission is not None:
                asking = asyncio.get_running_loop().create_task(self._ask(event, self._permission))
                self._asking[event.request_id] = asking
                asking.add_done_callback(lambda _: self._asking.pop(event.request_id, None))
            case PermissionResolved(request_id=request_id):
                answering = self._asking.get(request_id)
                if answering is not None and answering is not asyncio.current_task():
                    answering.cancel()
            case FromSubagent(event=inner):
                self._hear(inner)
            case _:
                pass

    async def _ask(self, event: PermissionAsked, permission: Permission) -> None:
        try:
            answer = checked(await permission(event))
        except Exception as error:
            self._failure = error
            answer = Answer(False, f"Whether {event.name} may run could not be answered: {error}", by="nobody")
            self.interrupt()
        self._engine.answer(event.request_id, answer)
