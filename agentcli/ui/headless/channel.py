"""The input lines of a ``stream-json`` client: prompts are queued, control requests answered, answers delivered."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from agentcli.events import Event
from agentcli.messages import Json
from agentcli.ui.headless.approvals import Approvals
from agentcli.ui.headless.control import Control, failure, success
from agentcli.ui.headless.elicitation import PipeElicitor
from agentcli.ui.headless.greeting import initialize_answer
from agentcli.ui.headless.hooks import PipeHooks
from agentcli.ui.headless.initialize import Wishes, read_initialize
from agentcli.ui.headless.inputs import (
    ControlAnswer,
    ControlCancel,
    ControlRequest,
    InputLine,
    Other,
    Prompt,
    Unreadable,
    parse_line,
)
from agentcli.ui.headless.lines import Line, Lines
from agentcli.ui.headless.reader import LineReader
from agentcli.ui.headless.remarks import say
from agentcli.ui.headless.requests import Requests
from agentcli.ui.headless.servers import PipeServers

if TYPE_CHECKING:
    from agentcli.runtime.session import Session

SILENT = frozenset({"keep_alive", "control_response", "update_environment_variables"})
"""Line types that ask for nothing and need no remark."""


class Client(Protocol):
    """What the channel needs of the run."""

    def add(self, prompt: Prompt | Unreadable) -> None: ...

    def end(self) -> None: ...

    def interrupt(self) -> None: ...

    def write(self, line: Line) -> None: ...

    def queued(self) -> Sequence[str]: ...

    def take_back(self, uuid: str) -> bool: ...


class Channel:
    """``begin`` takes the first line, ``attach`` the session, ``read`` everything else until the input ends.

    ``answers``: the client answers permission questions.
    """

    def __init__(self, run: Client, reader: LineReader, *, answers: bool) -> None:
        self._run = run
        self._reader = reader
        self._answers = answers
        self._waiting: list[ControlRequest] = []
        self._initialize: ControlRequest | None = None
        self._control: Control | None = None
        self._approvals: Approvals | None = None
        self.requests = Requests(run.write)
        self.servers = PipeServers(self.requests)
        self.hooks: PipeHooks | None = None
        self.greeted = False
        """Whether a line came that was no prompt."""

    async def begin(self, wishes: Wishes) -> Wishes:
        """The first line: ``initialize`` shapes the session that is built then, anything else waits for it.

        ``UsageError`` when its fields are malformed.
        """
        line = await self._reader.next()
        if line is None:
            self._run.end()
            return wishes
        first = parse_line(line)
        self.greeted = not isinstance(first, Prompt | Unreadable)
        if not isinstance(first, ControlRequest) or first.subtype != "initialize":
            self._take(first)
            return wishes
        self._initialize = first
        found = read_initialize(first.body, wishes)
        if found.hooks:
            self.hooks = PipeHooks(found.hooks, self.requests)
        return found

    def refuse(self, error: str) -> None:
        """There will be no session: requests that wait are told why."""
        for request in [*([self._initialize] if self._initialize else []), *self._waiting]:
            self._run.write(failure(request.id, error))

    def attach(self, session: Session, lines: Lines) -> Callable[[Event], None]:
        """Answers ``initialize`` and returns the listener that asks the client."""
        run = self._run
        self._control = Control(
            session, run.write, self.servers, interrupt=run.interrupt, queued=run.queued, take_back=run.take_back
        )
        self._approvals = Approvals(run.write, session.answer, say)
        if not self._answers:
            self._approvals.close()
        if self.hooks is not None:
            self.hooks.common = lambda: _common(session)
        if self._initialize is not None:
            session.questions.elicitor = PipeElicitor(self.requests, say)
            run.write(success(self._initialize.id, initialize_answer(session)))
        return self._approvals.hear

    async def catch_up(self) -> None:
        """Between turns."""
        if self._control is not None:
            await self._control.catch_up()

    async def read(self, group: asyncio.TaskGroup) -> None:
        """Line after line, until the input ends."""
        for request in self._waiting:
            self._handle(request, group)
        self._waiting.clear()
        while (line := await self._reader.next()) is not None:
            found = parse_line(line)
            if isinstance(found, ControlRequest):
                self._handle(found, group)
            else:
                self._take(found)
        self.close()
        self._run.end()

    def close(self) -> None:
        """The client can't answer any more: nothing waits for it."""
        if self._approvals is not None:
            self._approvals.close()
        self.requests.close()

    def _handle(self, request: ControlRequest, group: asyncio.TaskGroup) -> None:
        if self._control is not None:
            group.create_task(self._control.handle(request))

    def _take(self, found: InputLine) -> None:
        match found:
            case Prompt() | Unreadable():
                self._run.add(found)
            case ControlRequest():
                self._waiting.append(found)
            case ControlAnswer():
                # Answers to questions that are no longer open, and second answers, are nobody's.
                if not self.requests.take(found) and self._approvals is not None:
                    self._approvals.take(found)
            case ControlCancel():
                pass  # every request of the client is answered at once
            case Other(type=kind):
                if kind not in SILENT:
                    say(f"a line of type {kind!r} on standard input is not understood and was left out")


def _common(session: Session) -> Json:
    """Fields that the input of every hook has."""
    return {
        "session_id": session.id,
        "transcript_path": str(session.opened.path) if session.opened.path else "",
        "cwd": str(session.workspace.cwd),
        "permission_mode": session.gate.mode,
    }
