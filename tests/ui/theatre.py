"""The terminal front end in this process: a pipe for the keys, an emulator for the screen, a scripted session."""

from __future__ import annotations

import asyncio
import io
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from prompt_toolkit.application.current import get_app_or_none
from prompt_toolkit.data_structures import Size
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.input.base import PipeInput

from agentcli.commands.base import Command
from agentcli.commands.registry import Registry
from agentcli.events import Event, TurnFinished
from agentcli.messages import Json, Message
from agentcli.ports.frontend import UserInput
from agentcli.runtime.trusting import TrustQuestion
from agentcli.ui.terminal.app import converse
from agentcli.ui.terminal.capabilities import Capabilities
from agentcli.ui.terminal.device import FrameOutput
from agentcli.ui.terminal.live import LiveApplication
from agentcli.ui.terminal.screen import TerminalOptions, color_depth
from agentcli.ui.terminal.statuscommand import StatusSource
from agentcli.ui.terminal.way import Asking, Way
from tests.ui.emulator import Emulator
from tests.ui.scripted import ScriptedSession


def _title(session: object, tool: str, given: Json) -> str:
    return str(given.get("file_path", ""))


CAPABILITIES = Capabilities(dumb=False, color="256", links=False, reflow=False, notices=False)


class _Wire(io.StringIO):
    """What the front end writes goes to the emulator; whole writes are kept."""

    def __init__(self, emulator: Emulator) -> None:
        super().__init__()
        self.emulator = emulator
        self.writes: list[str] = []

    def write(self, text: str) -> int:
        self.writes.append(text)
        self.emulator.feed(text)
        return len(text)


DEADLINE = 45.0
"""Seconds.  Only what fails takes so long; a loaded machine may be slow."""


class Theatre:
    def __init__(self, session: ScriptedSession, keys: PipeInput, columns: int, rows: int) -> None:
        self.session = session
        self.emulator = Emulator(columns, rows)
        self.wire = _Wire(self.emulator)
        self._keys = keys
        self.time = 100.0
        self.result: asyncio.Task[int]
        self.turns_ended = 0
        session.events.subscribe(self._hear)

    def _hear(self, event: Event) -> None:
        self.turns_ended += isinstance(event, TurnFinished)

    def clock(self) -> float:
        """Seconds of the front end; they pass when a test sets ``time``."""
        return self.time

    @property
    def app(self) -> LiveApplication:
        app = get_app_or_none()
        assert isinstance(app, LiveApplication)
        return app

    def size(self) -> Size:
        return Size(rows=self.emulator.lines, columns=self.emulator.columns)

    def keys(self, text: str) -> None:
        self._keys.send_text(text)

    def bytes(self, data: bytes) -> None:
        self._keys.send_bytes(data)

    def paste(self, text: str) -> None:
        self.keys(f"\x1b[200~{text}\x1b[201~")

    def resize(self, columns: int, rows: int) -> None:
        self.emulator.resize(rows, columns)
        self.app._on_resize()

    async def until(self, condition: Callable[[], object], *, deadline: float = DEADLINE) -> None:
        end = time.monotonic() + deadline
        while not condition():
            assert time.monotonic() < end, f"not seen; screen:\n{self.everything}"
            if self.result.done():
                await self.result
            await asyncio.sleep(0.005)

    async def see(self, text: str) -> None:
        await self.until(lambda: text in self.everything)

    async def settled(self) -> str:
        """The screen once everything that was put on the sheet is out and the live part is drawn after it."""
        app = self.app
        await self.until(lambda: not app._pending and app._frame_timer is None)
        drawn = app.render_counter
        app.invalidate()
        await self.until(lambda: app.render_counter > drawn)
        return self.screen

    async def gone(self, text: str) -> None:
        await self.until(lambda: text not in self.screen)

    @property
    def screen(self) -> str:
        return self.emulator.screen()

    @property
    def everything(self) -> str:
        return self.emulator.everything()

    @property
    def caret_text(self) -> str:
        """The screen's row that holds the cursor, up to the cursor."""
        row, column = self.emulator.caret()
        return "".join(self.emulator.buffer[row][x].data for x in range(column))


@asynccontextmanager
async def theatre(
    session: ScriptedSession,
    *,
    columns: int = 80,
    rows: int = 24,
    capabilities: Capabilities = CAPABILITIES,
    first_prompt: str = "",
    past: tuple[Message, ...] = (),
    restart: Callable[[str], Awaitable[ScriptedSession]] | None = None,
    commands: tuple[Command, ...] = (),
    question: TrustQuestion | None = None,
    status_line: StatusSource | None = None,
    wake: Callable[[ScriptedSession], Awaitable[UserInput]] | None = None,
    prepare: Callable[[ScriptedSession, UserInput], Awaitable[UserInput]] | None = None,
    way: Way | None = None,
    **options: object,
) -> AsyncIterator[Theatre]:
    """Runs the front end until the block ends; then it is told to leave, if it has not.  ``way`` is another way to
    come by sessions than that to ``session``."""
    with create_pipe_input() as keys:
        show = Theatre(session, keys, columns, rows)
        output = FrameOutput(show.wire, show.size, "xterm", color_depth(capabilities))
        values = replace(TerminalOptions(root=Path.cwd(), now=show.clock), **options)

        async def start() -> ScriptedSession:
            return session

        def trusted() -> None:
            session.trusted = True

        def connect(_: object, asking: Asking) -> None:
            session.asking = asking

        ours = Way(start, restart, lambda _: past, _title, prepare, connect, lambda _: status_line)
        ours = replace(ours, wake=wake, commands=lambda: commands, question=question, trust=trusted)
        show.result = asyncio.create_task(
            converse(
                way or ours,
                values,
                capabilities,
                Registry((way or ours).commands, (way or ours).late_command),
                keys,
                output,
                first_prompt=first_prompt,
            )
        )
        await show.until(lambda: show.wire.writes)
        if question is None:
            await show.see("/help")
        yield show
        if not show.result.done():
            show.result.cancel()
            await asyncio.gather(show.result, return_exceptions=True)
