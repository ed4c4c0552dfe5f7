"""The terminal without any control sequence: lines in, lines out.  For TERM=dumb, editors' shells, screen readers."""

from __future__ import annotations

import asyncio
import signal
import sys
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, TextIO, cast

from agentcli.commands.base import CommandContext
from agentcli.commands.registry import Registry, parse
from agentcli.errors import AgentcliError, UserError
from agentcli.events import (
    AttemptDiscarded,
    Event,
    FromSubagent,
    Notice,
    PermissionAsked,
    PermissionResolved,
    RetryScheduled,
    TextDelta,
    ToolFinished,
    ToolStarted,
    TurnFinished,
)
from agentcli.i18n import Texts
from agentcli.ports.frontend import Choice, SessionHandle, UserInput
from agentcli.text import clean, one_line
from agentcli.ui.terminal.modal import Picked
from agentcli.ui.terminal.output.glyphs import ASCII
from agentcli.ui.terminal.output.pen import safe
from agentcli.ui.terminal.output.tools import CallPainter
from agentcli.ui.terminal.permission import NO, YES, answer_for, saves, update_from
from agentcli.ui.terminal.signals import ending_signals
from agentcli.ui.terminal.trust import listing, settle_trust
from agentcli.ui.terminal.way import Way

if TYPE_CHECKING:
    from agentcli.runtime.session import Session
    from agentcli.runtime.trusting import TrustQuestion


class Lines:
    """Reads lines in a thread, as they come; writes text that holds no control sequence."""

    def __init__(self, source: TextIO, sink: TextIO) -> None:
        self._source = source
        self._sink = sink
        self._read: asyncio.Queue[str | None] = asyncio.Queue()
        self._ended = False
        loop = asyncio.get_running_loop()
        threading.Thread(target=self._reader, args=(loop,), name="standard input", daemon=True).start()

    def _reader(self, loop: asyncio.AbstractEventLoop) -> None:
        while True:
            try:
                line = self._source.readline()
            except (OSError, ValueError):  # the terminal is gone, or the stream was closed
                line = ""
            try:
                loop.call_soon_threadsafe(self._read.put_nowait, line or None)
            except RuntimeError:  # the loop is closed: nobody listens any more
                return
            if not line:
                return

    async def ask(self, prompt: str) -> str | None:
        """The next line without its end; ``None`` at the end of the input."""
        self.write(prompt)
        line = None if self._ended else await self._read.get()
        self._ended = line is None
        return None if line is None else clean(line.rstrip("\r\n"))

    def write(self, text: str) -> None:
        data = safe(text)
        encoding = self._sink.encoding or "ascii"
        self._sink.write(data.encode(encoding, "replace").decode(encoding))
        self._sink.flush()


class PlainView:
    """Draws events as lines."""

    def __init__(self, lines: Lines, texts: Texts) -> None:
        self._lines = lines
        self._texts = texts
        self._painter = CallPainter(ASCII, texts)
        self._open = False

    def line(self, text: str) -> None:
        self._lines.write(("\n" if self._open else "") + text + "\n")
        self._open = False

    def handle(self, event: Event) -> None:
        """Most events are for screens that redraw; a line-oriented one shows what is final."""
        match event:
            case TextDelta(text):
                self._lines.write(text)
                self._open = not text.endswith("\n")
            case ToolStarted(name=name, title=title):
                self.line(f"> {name} {one_line(safe(title))}")
            case ToolFinished():
                for row in self._painter.finished(event):
                    self.line(row.plain)
            case AttemptDiscarded(reason):
                self.line(self._texts("stream.discarded", reason=one_line(reason)))
            case RetryScheduled(delay=delay, attempt=attempt, max_attempts=most, error=error):
                self.line(self._texts("retry", why=error, attempt=attempt, most=most, left=f"{delay:.0f} s"))
            case Notice(text=text):
                self.line(text)
            case FromSubagent(event=Notice(text=text)):
                self.line(text)
            case TurnFinished():
                self._finish(event)
            case _:
                pass

    def _finish(self, event: TurnFinished) -> None:
        if event.outcome != "completed":
            key = "turn.interrupted" if event.outcome == "interrupted" else f"outcome.{event.outcome}"
            words = self._texts(key)
            self.line(f"{words}: {event.error}" if event.error else words)
        elif self._open:
            self.line("")


class PlainDialogs:
    """``ports.frontend.Dialogs`` by numbers."""

    def __init__(self, lines: Lines, view: PlainView, texts: Texts) -> None:
        self._lines = lines
        self._view = view
        self._texts = texts

    async def pick(self, title: str, labels: Sequence[str]) -> int | None:
        if title:
            self._view.line(title)
        for number, label in enumerate(labels, 1):
            self._view.line(f"  {number}. {label}")
        while True:
            line = await self._lines.ask(self._texts("plain.number", count=len(labels)) + " ")
            if line is None or not line.strip():
                return None
            if line.strip().isdecimal() and 1 <= int(line) <= len(labels):
                return int(line) - 1

    async def choose(self, title: str, choices: Sequence[Choice], *, current: str | None = None) -> str | None:
        labels = [f"{c.label}  {c.description}".rstrip() for c in choices]
        picked = await self.pick(title, labels) if choices else None
        return None if picked is None else choices[picked].value

    async def confirm(self, question: str, *, detail: str = "") -> bool:
        words = f"{question}\n{detail}" if detail else question
        return await self.pick(words, [self._texts("dialog.yes"), self._texts("dialog.no")]) == 0

    async def edit(self, text: str, *, suffix: str = ".md") -> str | None:
        """An editor needs a terminal that it can draw on."""
        return None

    async def show(self, text: str) -> None:
        self._view.line(text)


class PlainFrontEnd:
    def __init__(self, session: SessionHandle, registry: Registry, lines: Lines, texts: Texts) -> None:
        self._session = session
        self._registry = registry
        self._lines = lines
        self._texts = texts
        self._view = PlainView(lines, texts)
        self._dialogs = PlainDialogs(lines, self._view, texts)
        self._asking: dict[str, asyncio.Task[None]] = {}
        self._one_question = asyncio.Lock()
        self.turn_running = False
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
        title = f"{t('permission.title', tool=event.name)} {event.title}\n  {event.reason}".rstrip()
        picked = await self._dialogs.pick(title, labels)
        values = [YES, *(f"save{n}" for n in range(len(updates))), NO]
        value = NO if picked is None else values[picked]
        self._session.answer(event.request_id, answer_for(Picked(value), updates))

    async def run(self, first_prompt: str) -> int:
        if first_prompt.strip():
            await self._turn(UserInput(clean(first_prompt)))
        while True:
            line = await self._lines.ask("> ")
            if line is None:
                self._lines.write("\n")
                return 0
            if line.strip() and await self._one(line.strip()):
                return 0

    async def _one(self, line: str) -> bool:
        """Does what the line asks for.  True to end."""
        command = parse(line)
        try:
            if command:
                return await self._command(*command)
            if line.startswith("!") and line[1:].strip():
                await self._session.shell(line[1:].strip())
            else:
                await self._turn(UserInput(line))
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


async def _ask_trust(way: Way, lines: Lines, texts: Texts) -> str:
    """The question of trust by lines; no is the default.  A line about what follows from the answer."""
    question = way.question
    if question is None:
        return ""

    async def ask(question: TrustQuestion) -> bool:
        view = PlainView(lines, texts)
        view.line(f"{texts('trust.title')}\n  {question.project.key}\n  {texts('trust.brings')}")
        for line in listing(question, texts):
            view.line(f"    {line}")
        picked = await PlainDialogs(lines, view, texts).pick("", [texts("trust.no"), texts("trust.yes")])
        return picked == 1

    answer, told = await settle_trust(question, ask, texts)
    if answer:
        way.trust()
    return told


async def run_plain(way: Way, registry: Registry, *, language: str, first_prompt: str = "") -> int:
    """A conversation by lines on standard input and output; returns the exit code."""
    texts = Texts(language)
    lines = Lines(sys.stdin, sys.stdout)
    try:
        told = await _ask_trust(way, lines, texts)
        session = await way.start()
    except AgentcliError as error:
        sys.stderr.write(f"agentcli: {error}\n")
        return 2
    front = PlainFrontEnd(session, registry, lines, texts)
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
