"""Between the keys and the session: what is typed becomes turns, commands, shell lines and answers."""

from __future__ import annotations

import asyncio
import traceback
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine
from typing import TYPE_CHECKING, Any, TypeVar, cast

from agentcli.commands.base import CommandContext, CommandResult
from agentcli.commands.registry import Registry, parse
from agentcli.commands.remember import is_note
from agentcli.errors import AgentcliError, UserError
from agentcli.events import (
    ConversationCleared,
    Event,
    FromSubagent,
    PermissionAsked,
    PermissionResolved,
    PromptAccepted,
    TurnFinished,
    TurnStarted,
)
from agentcli.ports.frontend import SessionHandle, UserInput
from agentcli.ui.terminal.asking import terminal_asking
from agentcli.ui.terminal.dialogs import TerminalDialogs
from agentcli.ui.terminal.heading import greet, show_title
from agentcli.ui.terminal.outcome import command_entries, show_outcome, unknown_command
from agentcli.ui.terminal.permission import PermissionDialogs
from agentcli.ui.terminal.screen import Screen
from agentcli.ui.terminal.statuscommand import StatusCommand
from agentcli.ui.terminal.turns import Turns
from agentcli.ui.terminal.way import Wake, Way

if TYPE_CHECKING:
    from agentcli.runtime.session import Session


T = TypeVar("T")
CLOSE_SECONDS = 5.0
"""How long a turn has to end by itself when the program leaves."""


class Controller:
    """Holds the session once there is one.  One job (turn, command, shell line) runs at a time; what is typed
    meanwhile steers it, or waits."""

    def __init__(self, screen: Screen, registry: Registry, way: Way) -> None:
        self.screen = screen
        self.session: SessionHandle | None = None
        self._registry = registry
        self._way = way
        self._unsubscribe: Callable[[], None] = lambda: None
        self._dialogs = TerminalDialogs(screen)
        self._permissions = PermissionDialogs(screen.modals, screen.view, screen.texts, screen.rows)
        self._status_command: StatusCommand | None = None
        self._waking: asyncio.Task[None] | None = None
        self._job: asyncio.Task[None] | None = None
        self._turns: Turns | None = None
        self._early: deque[tuple[UserInput, bool]] = deque()
        self._background: set[asyncio.Task[Any]] = set()
        screen.sources.commands = lambda: command_entries(screen, registry)

    @property
    def busy(self) -> bool:
        return self._job is not None and not self._job.done()

    @property
    def turn_running(self) -> bool:
        return self._turns is not None and self._turns.running

    def attach(self, session: SessionHandle) -> None:
        """The session is ready: draws it, and sends what was typed before."""
        self.session = session
        self._turns = Turns(session, self._way.prepare)
        self._way.connect(session, terminal_asking(self.screen, self.interrupt))
        self._unsubscribe = session.events.subscribe(self.handle)
        self.screen.sources.status = session.status
        self.screen.sources.mentions = lambda: self._way.mentions(session)
        self.screen.view.activity.agents = lambda: self._way.agents(session)
        self.screen.view.activity.next_at = lambda: self._way.next_at(session)
        self.screen.view.activity.jobs = lambda: self._way.jobs(session)
        self.screen.view.painter.root = str(session.workspace.start)
        greet(self.screen, session, self._way)
        self._show_status_line(session)
        session.start()
        self._send_early()
        if self._way.wake is not None:
            self._waking = self.spawn(self._wake(session, self._way.wake, self._turns))

    async def _wake(self, session: SessionHandle, wake: Wake, turns: Turns) -> None:
        """Runs turns that nobody asked for, one at a time, when nothing else runs."""
        while True:
            prompt = await wake(session)
            while self._job is not None and not self._job.done():
                await asyncio.wait({self._job})
            if self._start(turns.run(prompt, ready=True)) and self._job is not None:
                await asyncio.wait({self._job})

    def _show_status_line(self, session: SessionHandle) -> None:
        source, screen = self._way.status_line(session), self.screen
        command = StatusCommand(source, screen.size, screen.app.refresh, screen.vim_mode) if source else None
        self._status_command, screen.sources.status_lines = command, command.shown if command else None
        if command is not None:
            command.due()

    def handle(self, event: Event) -> None:
        """The listener of the event stream."""
        self.screen.view.handle(event)
        if self._status_command is not None:
            self._status_command.hear(event)
        if isinstance(event, TurnStarted | TurnFinished | ConversationCleared) and self.session:
            show_title(self.screen, self.session, working=isinstance(event, TurnStarted))
        if isinstance(event, PromptAccepted):
            self._say_waited()
        inner = event.event if isinstance(event, FromSubagent) else event
        if isinstance(inner, PermissionAsked) and self.session:
            self.spawn(self._permissions.ask(inner, self.session))
        elif isinstance(inner, PermissionResolved):
            self._permissions.resolved(inner)

    def spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Runs it in the background; whatever fails is shown."""
        task = asyncio.get_running_loop().create_task(self._guard(work))
        self._background.add(task)
        task.add_done_callback(self._background.discard)
        return task

    async def _guard(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except AgentcliError as error:
            self.screen.view.note(str(error), "error")
        except Exception as error:
            self.screen.view.note(self.screen.texts("bug", error=f"{type(error).__name__}: {error}"), "error")
            self.screen.view.note("".join(traceback.format_exception(error)).rstrip(), "dim")
        finally:
            self.screen.app.refresh()

    def send(self, prompt: UserInput, *, literal: bool = False) -> bool:
        """Does what the text asks for.  False when it can't be taken now; a hint says why.  ``literal``: it is for the
        agent whatever it begins with."""
        if self.session is None:
            self._early.append((prompt, literal))
            self._show_waiting()
            return True
        if literal:
            return self._say(prompt)
        command = parse(prompt.text) if not prompt.attachments else None
        if command and "/" not in command[0]:
            return self._command(*command)
        if prompt.text.startswith("!") and prompt.text[1:].strip():
            return self._start(self._shell(prompt.text[1:].strip()))
        if is_note(prompt):
            return self._command("remember", prompt.text[1:].strip())
        return self._say(prompt)

    def _say(self, prompt: UserInput) -> bool:
        """Something for the agent: steers the running turn, or begins one."""
        assert self.session is not None
        assert self._turns is not None
        if self._turns.starting:
            self._turns.wait(prompt)
            self._show_waiting()
            return True
        if not self._turns.running:
            started = self._start(self._turns.run(prompt))
            if started and self._job is not None:
                self._job.add_done_callback(lambda _: self._say_waited())
            return started
        if self._turns.at_once(prompt):
            self.session.steer(prompt)
        else:
            self.spawn(self._steer(self._turns, prompt))
        return True

    def _say_waited(self) -> None:
        """Says what waited for a turn to start: it is under way, or came to nothing."""
        waited = self._turns.waited() if self._turns and not self.screen.app.is_done else ()
        for prompt in waited:
            self._show_waiting()
            self._say(prompt)

    def _show_waiting(self) -> None:
        early = tuple(p.text for p, _ in self._early)
        self.screen.view.activity.waiting = (*early, *(self._turns.behind if self._turns else ()))
        self.screen.app.refresh()

    async def _steer(self, turns: Turns, prompt: UserInput) -> None:
        assert self.session is not None
        ready = await turns.prepared(prompt)
        if turns.running:
            self.session.steer(ready)
        elif not self._start(turns.run(ready, ready=True)):
            self.screen.buffer.insert_text(prompt.text)

    def take_back(self) -> UserInput | None:
        """The newest queued message, as it was typed."""
        taken = self._turns.take_back() if self._turns else None
        self._show_waiting()
        return taken

    def _start(self, work: Coroutine[Any, Any, None]) -> bool:
        if self.busy:
            work.close()
            self.screen.hint(self.screen.texts("hint.busy"))
            return False
        self._job = self.spawn(work)
        return True

    def _send_early(self) -> None:
        if self._early and not self.busy:
            prompt, literal = self._early.popleft()
            self._show_waiting()
            if self.send(prompt, literal=literal) and self._job:
                self._job.add_done_callback(lambda _: self._send_early())

    async def _shell(self, command: str) -> None:
        assert self.session is not None
        self.screen.view.shell_started(command)
        try:
            await self.session.shell(command)
        finally:
            self.screen.view.shell_ended()

    def _command(self, name: str, arguments: str) -> bool:
        command = self._registry.find(name)
        if command is None:
            unknown_command(self.screen, self._registry, name, arguments)
            return True
        work = self._run_command(command.name, arguments)
        if command.while_running:
            self.spawn(work)
            return True
        return self._start(work)

    async def _run_command(self, name: str, arguments: str) -> None:
        command = self._registry.find(name)
        assert command is not None
        self.screen.view.echo(f"/{name} {arguments}".rstrip())
        context = CommandContext(cast("Session", self.session), self._dialogs, self._registry.all(), self.screen.texts)
        await self._finish_command(await command.run(context, arguments))

    async def _finish_command(self, result: CommandResult) -> None:
        show_outcome(self.screen, result)
        if result.resume:
            await self._go_on_with(self._way.restart, result.resume)
        if result.change:
            await self._go_on_with(self._way.change, result.change)
        if result.exit:
            self.exit()
        elif result.prompt and self.session and self._turns:
            if self._turns.running:
                self.session.steer(result.prompt)
            else:
                await self._turns.run(result.prompt, ready=True)

    async def _go_on_with(self, opening: Callable[[T], Awaitable[SessionHandle]] | None, which: T) -> None:
        """Takes another session's place: the new one is opened first, so that a failure leaves this one as it is."""
        if opening is None or self.session is None:
            raise UserError(self.screen.texts("resume.impossible"))
        new = await opening(which)
        self._unsubscribe()
        if self._waking is not None:
            self._waking.cancel()
        if self._status_command is not None:
            await self._status_command.close()
        await self.session.close()
        self.attach(new)

    def interrupt(self) -> bool:
        """Stops what runs.  False when nothing does."""
        if self.session is None or not (self.busy or self._way.autonomous(self.session)):
            return False
        if self.turn_running or not self.busy:
            self.session.interrupt()
        elif self._job:
            self._job.cancel()
        return True

    def rewind(self) -> None:
        """Esc Esc on an empty line: the ``/rewind`` command, where there is one."""
        if self.session and self._registry.find("rewind"):
            self._command("rewind", "")

    def exit(self, code: int = 0) -> None:
        if self.screen.app.is_running and not self.screen.app.is_done:
            self.screen.app.exit(result=code)

    async def close(self) -> None:
        """Ends whatever runs, then the session."""
        if self.session and self.turn_running and self._job:
            self.session.interrupt()
            await asyncio.wait({self._job}, timeout=CLOSE_SECONDS)
        tasks = [task for task in self._background if not task.done()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._status_command is not None:
            await self._status_command.close()
        if self.session:
            await self.session.close()
