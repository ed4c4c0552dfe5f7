"""Between the keys and the session: what is typed becomes turns, commands, shell lines and answers."""

from __future__ import annotations

import asyncio
import traceback
from collections import deque
from collections.abc import Callable, Coroutine
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from agentcli import __version__
from agentcli.commands.base import CommandContext, CommandResult
from agentcli.commands.registry import Registry, parse
from agentcli.commands.remember import is_note
from agentcli.errors import AgentcliError, UserError
from agentcli.events import Event, FromSubagent, PermissionAsked, PermissionResolved
from agentcli.ports.frontend import SessionHandle, UserInput
from agentcli.text import clean
from agentcli.ui.terminal.dialogs import TerminalDialogs
from agentcli.ui.terminal.input.complete import CommandEntry
from agentcli.ui.terminal.past import draw_past
from agentcli.ui.terminal.permission import PermissionDialogs
from agentcli.ui.terminal.questions import TerminalQuestions
from agentcli.ui.terminal.screen import Screen
from agentcli.ui.terminal.trust import outside_dialog
from agentcli.ui.terminal.way import Asking, Way

if TYPE_CHECKING:
    from agentcli.runtime.session import Session


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
        self._job: asyncio.Task[None] | None = None
        self._turn_running = False
        self._early: deque[UserInput] = deque()
        self._typed: list[tuple[UserInput, UserInput]] = []
        self._background: set[asyncio.Task[Any]] = set()
        screen.sources.commands = self._entries

    @property
    def busy(self) -> bool:
        return self._job is not None and not self._job.done()

    @property
    def turn_running(self) -> bool:
        return self._turn_running

    def attach(self, session: SessionHandle) -> None:
        """The session is ready: draws it, and sends what was typed before."""
        self.session = session
        questioner = TerminalQuestions(self.screen, self.interrupt)
        self._way.connect(session, Asking(outside_dialog(self.screen), questioner))
        self._unsubscribe = session.events.subscribe(self.handle)
        self.screen.sources.status = session.status
        self.screen.view.painter.root = str(session.workspace.start)
        status = session.status()
        self.screen.view.note(f"agentcli {__version__} {self.screen.glyphs.dot} {status.model_name}", "accent")
        self.screen.view.note(f"{status.cwd}\n{self.screen.texts('banner.help')}", "dim")
        self.screen.title(f"agentcli {self.screen.glyphs.dot} {session.workspace.start.name}")
        draw_past(self.screen.view, self._way.past(session), partial(self._way.title, session))
        session.start()
        self._send_early()

    def handle(self, event: Event) -> None:
        """The listener of the event stream."""
        self.screen.view.handle(event)
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

    def send(self, prompt: UserInput) -> bool:
        """Does what the text asks for.  False when it can't be taken now; a hint says why."""
        if self.session is None:
            self._early.append(prompt)
            self.screen.view.activity.waiting = tuple(p.text for p in self._early)
            self.screen.app.refresh()
            return True
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
        if not self._turn_running:
            return self._start(self._turn(prompt))
        assert self.session is not None
        if self._way.prepare is None or "@" not in prompt.text:
            self.session.steer(prompt)
        else:
            self.spawn(self._steer(prompt))
        return True

    async def _steer(self, prompt: UserInput) -> None:
        assert self.session is not None
        ready = await self._prepared(prompt)
        if self._turn_running:
            self.session.steer(ready)
        elif not self._start(self._turn(ready, ready=True)):
            self.screen.buffer.insert_text(prompt.text)

    async def _prepared(self, prompt: UserInput) -> UserInput:
        """The prompt as it is sent; ``take_back`` finds what was typed."""
        if self._way.prepare is None or self.session is None:
            return prompt
        ready = await self._way.prepare(self.session, prompt)
        if ready is not prompt:
            self._typed.append((ready, prompt))
        return ready

    def take_back(self) -> UserInput | None:
        """The newest queued message, as it was typed."""
        taken = self.session.take_back() if self.session else None
        return next((typed for ready, typed in self._typed if ready is taken), taken)

    def _start(self, work: Coroutine[Any, Any, None]) -> bool:
        if self.busy:
            work.close()
            self.screen.hint(self.screen.texts("hint.busy"))
            return False
        self._job = self.spawn(work)
        return True

    def _send_early(self) -> None:
        if self._early and not self.busy:
            prompt = self._early.popleft()
            self.screen.view.activity.waiting = tuple(p.text for p in self._early)
            if self.send(prompt) and self._job:
                self._job.add_done_callback(lambda _: self._send_early())

    async def _turn(self, prompt: UserInput, *, ready: bool = False) -> None:
        """One turn, and one more for what was queued too late to be delivered in it."""
        assert self.session is not None
        next_prompt: UserInput | None = prompt if ready else await self._prepared(prompt)
        while next_prompt is not None:
            self._turn_running = True
            try:
                await self.session.run(next_prompt)
            finally:
                self._turn_running = False
            next_prompt = self._leftover()
        self._typed.clear()

    def _leftover(self) -> UserInput | None:
        """All messages that are still queued, oldest first, as one."""
        assert self.session is not None
        queued: list[UserInput] = []
        while (taken := self.session.take_back()) is not None:
            queued.insert(0, taken)
        if not queued:
            return None
        attachments = tuple(block for q in queued for block in q.attachments)
        return UserInput("\n\n".join(q.text for q in queued), attachments)

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
            near = self._registry.nearest(name)
            words = self.screen.texts("command.unknown", name=name)
            self.screen.view.echo(f"/{name} {arguments}".rstrip())
            meant = self.screen.texts("command.meant", name=near) if near else self.screen.texts("command.list")
            self.screen.view.note(f"{words} {meant}", "error")
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
        if result.text:
            self.screen.view.markdown(result.text)
        if result.copy:
            self.screen.copy(result.copy)
        if result.resume:
            await self._go_on_with(result.resume)
        if result.exit:
            self.exit()
        elif result.prompt and self._turn_running and self.session:
            self.session.steer(result.prompt)
        elif result.prompt:
            await self._turn(result.prompt, ready=True)

    async def _go_on_with(self, session_id: str) -> None:
        """Takes another session's place: the new one is opened first, so that a failure leaves this one as it is."""
        if self._way.restart is None or self.session is None:
            raise UserError(self.screen.texts("resume.impossible"))
        new = await self._way.restart(session_id)
        self._unsubscribe()
        await self.session.close()
        self.attach(new)

    def interrupt(self) -> bool:
        """Stops what runs.  False when nothing does."""
        if not self.busy or self.session is None:
            return False
        if self._turn_running:
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
        if self.session and self._turn_running and self._job:
            self.session.interrupt()
            await asyncio.wait({self._job}, timeout=CLOSE_SECONDS)
        tasks = [task for task in self._background if not task.done()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self.session:
            await self.session.close()

    def _entries(self) -> list[CommandEntry]:
        texts = self.screen.texts
        return [
            CommandEntry(c.name, texts.optional(f"command.{c.name}", c.description), c.argument_hint)
            for c in self._registry.all()
        ]


def user_input(text: str, attachments: tuple[Any, ...] = ()) -> UserInput:
    """What was typed as valid text."""
    return UserInput(clean(text).replace("\r\n", "\n").replace("\r", "\n"), attachments)
