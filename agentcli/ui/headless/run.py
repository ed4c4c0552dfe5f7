"""Headless runs.  Standard output carries only the contract: exactly one result a prompt, whatever happens.

``text`` prints the final answer and nothing else, ``json`` one result object, ``stream-json`` a line for everything.
With ``stream-json`` as input, prompts and control requests come in as lines; prompts that arrive while a turn runs wait
and get a turn (and a result) each.  The session ends when the input has ended and no prompt is left.  At the end
everything that the session started is ended too, background commands as well.

Signals end the running turn in order: its result is written, the exit code is the signal's.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import TypeVar
from uuid import uuid4

from agentcli.errors import UsageError, UserError
from agentcli.events import Event
from agentcli.ports.frontend import UserInput
from agentcli.ports.model import ModelClient
from agentcli.runtime.build import open_session
from agentcli.runtime.options import SessionOptions
from agentcli.runtime.session import Session
from agentcli.ui.headless.alone import Alone, alone
from agentcli.ui.headless.channel import Channel
from agentcli.ui.headless.greeting import init_fields
from agentcli.ui.headless.initialize import Wishes
from agentcli.ui.headless.inputs import Prompt, Unreadable
from agentcli.ui.headless.lines import Line, Lines
from agentcli.ui.headless.options import HeadlessOptions, Streams
from agentcli.ui.headless.reader import LineReader
from agentcli.ui.headless.remarks import say, say_whole, tell
from agentcli.ui.headless.reporter import Reporter, reporter_for
from agentcli.ui.headless.result import EXIT_ERROR, EXIT_PIPE, EXIT_USAGE, RunResult, not_started
from agentcli.ui.headless.signals import Stop
from agentcli.ui.headless.structured import OutputSchema
from agentcli.ui.headless.tool_approvals import ToolApprovals
from agentcli.ui.headless.turns import Turns
from agentcli.ui.headless.writer import Output

PATIENCE = 4.0
"""Seconds that a reader who takes nothing is waited for once a signal has come."""
T = TypeVar("T")


async def run_headless(
    options: SessionOptions,
    prompt: str,
    how: HeadlessOptions,
    *,
    streams: Streams | None = None,
    client: ModelClient | None = None,
) -> int:
    """Runs the prompt, or what the input brings, and returns the exit code of ``agentcli.cli.main``.

    ``client`` takes the place of the Messages API.  What keeps it from beginning gets a result like everything else.
    """
    stop = Stop()
    places = streams or Streams()
    output = Output(places.output, on_gone=lambda: stop.ask(EXIT_PIPE))
    loop = asyncio.get_running_loop()

    def lose_patience() -> None:
        loop.call_later(PATIENCE, output.abandon)

    stop.react.append(lose_patience)
    run = Run(options, how, output, stop, client)
    if how.input_format == "stream-json":
        run.channel = Channel(run, LineReader(places.input), answers=how.permission_prompts)
    with stop.signals():
        try:
            code = await run.whole(prompt)
        finally:
            await output.close()
    return EXIT_PIPE if output.gone and stop.code in (0, EXIT_PIPE) else code


class Run:
    """One run, from its first line to its last."""

    def __init__(
        self, options: SessionOptions, how: HeadlessOptions, output: Output, stop: Stop, client: ModelClient | None
    ) -> None:
        self.options = options
        self.how = how
        self.stop = stop
        self.channel: Channel | None = None
        self.prompts: deque[Prompt | Unreadable] = deque()
        self.code = 0
        self._output = output
        self._client = client
        self._ended = how.input_format == "text"
        self._news = asyncio.Event()
        self._idle = True
        self._owed: Prompt | None = None
        """The prompt that is being answered."""
        self._turns: Turns | None = None
        self._alone: Alone | None = None
        stop.react.append(self._news.set)

    # --- for the channel --------------------------------------------------------------------------------------------

    def add(self, prompt: Prompt | Unreadable) -> None:
        self.prompts.append(prompt)
        self._news.set()

    def end(self) -> None:
        """No further prompt will come."""
        self._ended = True
        self._news.set()

    def interrupt(self) -> None:
        """Ends the running turn, or the one that begins with the next prompt already there."""
        if self._turns is not None:
            self._turns.interrupt(about_to_begin=self._idle and bool(self.prompts))

    def write(self, line: Line) -> None:
        self._output.line(line)

    def queued(self) -> list[str]:
        return [p.uuid for p in self.prompts]

    def take_back(self, uuid: str) -> bool:
        """A prompt that has not begun gets no turn and no result; false where there is none of that name."""
        waiting = next((p for p in self.prompts if p.uuid == uuid), None)
        if waiting is not None:
            self.prompts.remove(waiting)
        return waiting is not None

    # --- the run ----------------------------------------------------------------------------------------------------

    async def whole(self, prompt: str) -> int:
        for text in self.how.warnings:
            say(text)
        if prompt.strip() or (self.options.proactive and self.how.input_format == "text"):
            self.prompts.append(Prompt(UserInput(prompt)))
        try:
            opened = await self._open()
        except UserError as error:
            if self.channel is not None:
                self.channel.refuse(str(error))
            self._refuse(str(error), kind="invalid_configuration")
            return EXIT_USAGE
        except Exception as error:
            self._failed(error)
            raise
        if opened is None:
            self._refuse(self.stop.words)
            return self.stop.code or EXIT_ERROR
        session, wishes = opened
        try:
            await self._converse(session, wishes)
        except Exception as error:
            self._failed(error)
            raise
        finally:
            await session.close()
        return self.code

    async def _open(self) -> tuple[Session, Wishes] | None:
        """``None`` when a signal came first."""
        schema = OutputSchema.parse(self.how.json_schema) if self.how.json_schema is not None else None
        wishes: Wishes | None = Wishes(self.options, schema, subagent_text=self.how.subagent_text)
        if self.channel is not None and wishes is not None:
            wishes = await self.stop.unless(self.channel.begin(wishes))
            if wishes is None:
                return None
            if self._ended and not self.prompts and not self.channel.greeted:
                raise UsageError("no prompt: standard input ended before a line came")
        assert wishes is not None
        for text in wishes.warnings:
            say(text)
        hooks, clients = (self.channel.hooks, self.channel.servers) if self.channel is not None else (None, None)
        opening = open_session(wishes.options, client=self._client, hooks=hooks, clients=clients)
        session = await self.stop.unless(opening)
        if session is None:
            return None
        try:
            self._alone = alone(session)
        except UserError:
            await session.close()
            raise
        return session, wishes

    async def _converse(self, session: Session, wishes: Wishes) -> None:
        lines = Lines(lambda: session.id)
        strict = self.options.strict_permissions
        turns = self._turns = Turns(session, lines, self._tell, lambda: self.stop.code, wishes.schema, strict)
        self.stop.react.append(turns.interrupt)
        reporter = reporter_for(self.how, lines, self.write, session.call_input, subagent_text=wishes.subagent_text)
        listeners: list[Callable[[Event], None]] = [turns.hear, tell]
        if self._alone is not None and self.channel is None:
            turns.alone = self._alone
            listeners.append(self._alone.hear)
        if reporter is not None:
            self.write(lines.system("init", init_fields(session)))
            listeners.append(reporter.hear)
        if self.channel is not None:
            listeners.append(self.channel.attach(session, lines))
        if self.how.permission_tool:
            listeners.append(ToolApprovals(session, self.how.permission_tool, say).hear)
        remove = [session.events.subscribe(listener) for listener in listeners]
        try:
            session.start()
            turns.prepare()
            async with asyncio.TaskGroup() as group:
                reading = group.create_task(self.channel.read(group)) if self.channel is not None else None
                await self._prompts(turns, lines, reporter)
                if reading is not None:
                    reading.cancel()
        finally:
            if self.channel is not None:
                self.channel.close()
            for call in remove:
                call()

    async def _prompts(self, turns: Turns, lines: Lines, reporter: Reporter | None) -> None:
        """Prompt after prompt, each with its result."""
        while (prompt := await self._next(turns)) is not None:
            if isinstance(prompt, Unreadable):
                self._write_refusal(prompt.problem, "invalid_input", prompt.uuid)
                say(prompt.problem)
                self.code = EXIT_ERROR
                continue
            if self.channel is not None:
                await self.channel.catch_up()
            name = prompt.uuid or str(uuid4())
            if self.how.replay and prompt.raw is not None and reporter is not None:
                self.write(lines.replay(prompt.raw, name))
            self._owed = prompt
            self._show(await turns.run(prompt, name))
            self._owed = None
            if reporter is not None and not self.prompts:
                reporter.idle()
        if self.stop.code and (self.prompts or not self._ended):
            self.code = self.stop.code
        if self.prompts:
            self._refuse(self.stop.words if self.stop.code else "the session was ended before this prompt")

    async def _next(self, turns: Turns) -> Prompt | Unreadable | None:
        self._idle = True
        while not (self.stop.code or turns.finished):
            if self.prompts:
                self._idle = False
                return self.prompts.popleft()
            if self._ended:
                return None
            self._news.clear()
            if self._alone is None:
                await self._news.wait()
            elif (tick := await self._alone.unless(self._news)) is not None:
                self._idle = False
                return Prompt(tick, verbatim=True, self_started=True)
        return None

    # --- what is printed --------------------------------------------------------------------------------------------

    def _tell(self, line: Line) -> None:
        if self.how.output_format == "stream-json":
            self.write(line)

    def _show(self, result: RunResult) -> None:
        self.code = result.exit_code
        if self.how.output_format != "text":
            self.write(result.to_json())
        elif not result.is_error:
            self._output.text(result.turn.text.rstrip("\n") + "\n")
        for text in (result.error, result.remark):
            if text:
                say(text)

    def _refuse(self, message: str, *, kind: str = "interrupted") -> None:
        """One result for each prompt that was not begun; one where none had come."""
        for uuid in self.queued() or [""]:
            self._write_refusal(message, kind, uuid)
        self.prompts.clear()
        say_whole(message)

    def _failed(self, error: Exception) -> None:
        """A bug of ours is told as such, but whoever waits for a result gets one."""
        if self._owed is not None:
            self.prompts.appendleft(self._owed)
        if self.prompts or self._turns is None:
            cause: BaseException = error
            while isinstance(cause, BaseExceptionGroup):
                cause = cause.exceptions[0]
            self._refuse(f"{type(cause).__name__}: {cause}", kind="bug")

    def _write_refusal(self, message: str, kind: str, uuid: str) -> None:
        if self.how.output_format != "text":
            session = self._turns.session.id if self._turns is not None else ""
            self.write(not_started(message, kind=kind, session_id=session, prompt_uuid=uuid))
