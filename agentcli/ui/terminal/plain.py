"""The terminal without any control sequence: lines in, lines out.  For TERM=dumb, editors' shells, screen readers."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from agentcli.commands.base import CommandContext
from agentcli.commands.registry import Registry, parse
from agentcli.commands.remember import is_note
from agentcli.errors import AgentcliError, UserError
from agentcli.events import (
    Event,
    FromSubagent,
    PermissionAsked,
    PermissionResolved,
)
from agentcli.i18n import Texts
from agentcli.ports.frontend import SessionHandle, UserInput
from agentcli.ports.tools import Question
from agentcli.text import clean
from agentcli.ui.terminal.elicit_lines import PlainElicitor
from agentcli.ui.terminal.modal import Picked
from agentcli.ui.terminal.output.glyphs import ASCII
from agentcli.ui.terminal.output.tools import CallPainter
from agentcli.ui.terminal.permission import NO, YES, answer_for, reason, saves, update_from
from agentcli.ui.terminal.plain_lines import Lines, PlainDialogs, PlainView
from agentcli.ui.terminal.signals import ending_signals
from agentcli.ui.terminal.trust import settle_trust
from agentcli.ui.terminal.way import Asking, Way

if TYPE_CHECKING:
    from agentcli.memory import Outside
    from agentcli.runtime.session import Session


class PlainFrontEnd:
    def __init__(self, session: SessionHandle, registry: Registry, lines: Lines, texts: Texts, way: Way) -> None:
        self._session = session
        self._way = way
        self._registry = registry
        self._lines = lines
        self._texts = texts
        self._view = PlainView(lines, texts)
        self._dialogs = PlainDialogs(lines, self._view, texts)
        self._asking: dict[str, asyncio.Task[None]] = {}
        self._one_question = asyncio.Lock()
        self.turn_running = False
        self._reading: asyncio.Future[str | None] | None = None
        elicitor = PlainElicitor(lines, self._dialogs, texts, self._one_question)
        way.connect(session, Asking(self._outside, self, elicitor))
        session.events.subscribe(self._handle)
        session.start()

    def _handle(self, event: Event) -> None:
        self._view.handle(event)
        inner = event.event if isinstance(event, FromSubagent) else event
        if isinstance(inner, PermissionAsked):
            work = self._permission(inner)
            self._asking[inner.request_id] = asyncio.get_running_loop().create_task(work)
        elif isinstance(inner, PermissionResolved):
            task = self._asking.pop(inner.request_id, None)
            if task and task is not asyncio.current_task():
                task.cancel()

    async def _outside(self, files: Sequence[Outside]) -> bool | None:
        async with self._one_question:
            return await self._dialogs.outside(files)

    async def ask(self, questions: Sequence[Question]) -> Mapping[str, Any]:
        """``ports.tools.Questioner``."""
        async with self._one_question:
            return await self._dialogs.ask(questions)

    async def _permission(self, event: PermissionAsked) -> None:
        async with self._one_question:
            await self._ask_permission(event)

    async def _ask_permission(self, event: PermissionAsked) -> None:
        t = self._texts
        if event.preview is not None:
            for text in CallPainter(ASCII, t).preview(event.preview):
                self._view.line("  " + text.plain)
        updates = [u for s in event.suggestions if (u := update_from(s))]
        labels = [t("permission.yes"), *(saves(u, t) for u in updates), t("permission.no")]
        title = f"{t('permission.title', tool=event.name)} {event.title}\n  {reason(event)}".rstrip()
        picked = await self._dialogs.pick(title, labels)
        values = [YES, *(f"save{n}" for n in range(len(updates))), NO]
        value = NO if picked is None else values[picked]
        self._session.answer(event.request_id, answer_for(Picked(value), updates))

    async def run(self, first_prompt: str) -> int:
        if first_prompt.strip():
            await self._turn(await self._prepared(UserInput(clean(first_prompt))))
        while True:
            line = await self._next()
            if isinstance(line, UserInput):
                self._view.line("")
                await self._turn(line)
                continue
            if line is None:
                self._lines.write("\n")
                return 0
            if line.strip() and await self._one(line.strip()):
                return 0

    async def _next(self) -> str | UserInput | None:
        """The next line; a prompt where there is reason for a turn that nobody asked for; ``None`` at the end."""
        if self._way.wake is None:
            return await self._lines.ask("> ")
        reading = self._reading or asyncio.ensure_future(self._lines.ask("> "))
        waking = asyncio.ensure_future(self._way.wake(self._session))
        both: tuple[asyncio.Future[Any], ...] = (reading, waking)
        try:
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        finally:
            waking.cancel()
        self._reading = None if reading.done() else reading
        return reading.result() if reading.done() else waking.result()

    async def _one(self, line: str) -> bool:
        """Does what the line asks for.  True to end."""
        command = parse(line)
        try:
            if command:
                return await self._command(*command)
            if line.startswith("!") and line[1:].strip():
                await self._session.shell(line[1:].strip())
            elif is_note(UserInput(line)):
                return await self._command("remember", line[1:].strip())
            else:
                await self._turn(await self._prepared(UserInput(line)))
        except AgentcliError as error:
            self._view.line(str(error))
        return False

    async def _command(self, name: str, arguments: str) -> bool:
        command = self._registry.find(name)
        if command is None:
            near = self._registry.nearest(name)
            meant = self._texts("command.meant", name=near) if near else self._texts("command.list")
            self._view.line(f"{self._texts('command.unknown', name=name)} {meant}")
            return False
        context = CommandContext(cast("Session", self._session), self._dialogs, self._registry.all(), self._texts)
        result = await command.run(context, arguments)
        if result.resume:
            raise UserError(self._texts("resume.plain", id=result.resume))
        if result.text or result.copy:
            self._view.line(result.text or result.copy)
        if result.prompt:
            await self._turn(result.prompt)
        return result.exit

    async def _prepared(self, prompt: UserInput) -> UserInput:
        return await self._way.prepare(self._session, prompt) if self._way.prepare else prompt

    async def _turn(self, prompt: UserInput) -> None:
        self.turn_running = True
        try:
            await self._session.run(prompt)
        finally:
            self.turn_running = False

    def interrupt(self) -> bool:
        """Stops the running turn.  False when there is none."""
        if self.turn_running:
            self._session.interrupt()
        return self.turn_running


async def _ask_trust(way: Way, dialogs: PlainDialogs, texts: Texts) -> str:
    """The question of trust; a line about what follows from the answer."""
    if way.question is None:
        return ""
    answer, told = await settle_trust(way.question, dialogs.trust, texts)
    if answer:
        way.trust()
    return told


async def run_plain(way: Way, registry: Registry, *, language: str, first_prompt: str = "") -> int:
    """A conversation by lines on standard input and output; returns the exit code."""
    texts = Texts(language)
    lines = Lines(sys.stdin, sys.stdout)
    try:
        told = await _ask_trust(way, PlainDialogs(lines, PlainView(lines, texts), texts), texts)
        session = await way.start()
    except AgentcliError as error:
        sys.stderr.write(f"agentcli: {error}\n")
        return 2
    front = PlainFrontEnd(session, registry, lines, texts, way)
    if told:
        lines.write(f"{told}\n")
    talking = asyncio.ensure_future(front.run(first_prompt))
    codes: list[int] = []

    def end(code: int) -> None:
        codes.append(code)
        talking.cancel()

    def interrupt() -> None:
        if not front.interrupt():
            end(128 + signal.SIGINT)

    try:
        with ending_signals(end, interrupt=interrupt):
            await asyncio.wait({talking})
        return codes[0] if talking.cancelled() and codes else await talking
    finally:
        talking.cancel()
        await session.close()
