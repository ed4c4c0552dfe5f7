"""The live part at the bottom of the terminal, and the way of what is finished past it into the scrollback."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from prompt_toolkit.application import Application
from prompt_toolkit.application.run_in_terminal import in_terminal
from prompt_toolkit.data_structures import Point
from prompt_toolkit.input import Input
from prompt_toolkit.key_binding import KeyBindingsBase
from prompt_toolkit.layout import Layout
from prompt_toolkit.styles import BaseStyle
from prompt_toolkit.utils import get_cwidth

from agentcli.ui.terminal.device import FrameOutput

FRAME_SECONDS = 1 / 12
"""Shortest time between two drawings that only time or a stream asks for; keys are drawn at once."""
TICK_SECONDS = 1 / 8
ESCAPE_SECONDS = 0.05
"""How long a lone Esc waits for the rest of a sequence."""


class LiveApplication(Application[int]):
    """Owns the rows from the input line's top to its bottom.  ``print_above`` is the only way to the rows above."""

    def __init__(
        self,
        *,
        layout: Layout,
        bindings: KeyBindingsBase,
        style: BaseStyle,
        input: Input,
        output: FrameOutput,
        reflow: bool = False,
        busy: Callable[[], bool] = lambda: False,
        regained: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__(
            layout=layout, key_bindings=bindings, style=style, input=input, output=output, erase_when_done=True
        )
        self.ttimeoutlen = ESCAPE_SECONDS
        self.timeoutlen = ESCAPE_SECONDS
        self.device = output
        self._reflow = reflow
        self._busy = busy
        self._regained = regained
        self._pending: list[str] = []
        self._flush_timer: asyncio.TimerHandle | None = None
        self._frame_timer: asyncio.TimerHandle | None = None
        self._last_flush = self._last_drawn = 0.0

    def print_above(self, ansi: str) -> None:
        """Puts finished text (every line ended) above the live part.  Texts that come close together go out in one
        write."""
        self._pending.append(ansi)
        loop = _running_loop()
        if loop is None or not self.is_running:
            self._write_pending_raw()
        elif self._flush_timer is None:
            delay = max(0.0, self._last_flush + FRAME_SECONDS - loop.time())
            self._flush_timer = loop.call_later(delay, self.flush_above)

    def flush_above(self) -> None:
        """Writes what waits, now; while something else owns the terminal it goes on waiting."""
        if self._flush_timer:
            self._flush_timer.cancel()
            self._flush_timer = None
        if not self._pending or self._running_in_terminal:
            return
        loop = _running_loop()
        if not self.is_running or loop is None:
            self._write_pending_raw()
            return
        self._last_flush = loop.time()
        with self.device.frame():
            self.renderer.erase(leave_alternate_screen=False)
            self._write_pending_raw()
            self._redraw()

    def _write_pending_raw(self) -> None:
        self.device.write_raw("".join(self._pending).replace("\n", "\r\n"))
        self._pending.clear()
        self.device.flush()

    def refresh(self) -> None:
        """Asks for a drawing: at once, or a frame's time after the last one."""
        loop = _running_loop()
        if loop is None or not self.is_running or self._frame_timer is not None:
            return
        delay = max(0.0, self._last_drawn + FRAME_SECONDS - loop.time())
        self._frame_timer = loop.call_later(delay, self._refresh_now)

    def _refresh_now(self) -> None:
        self._frame_timer = None
        self.invalidate()

    async def tick(self) -> None:
        """Keeps clocks and spinners going while the agent works; ends with the task."""
        while True:
            await asyncio.sleep(TICK_SECONDS)
            if self._busy():
                self.refresh()

    def _redraw(self, render_as_done: bool = False) -> None:
        loop = _running_loop()
        if loop is not None:
            self._last_drawn = loop.time()
        with self.device.frame():
            super()._redraw(render_as_done)

    def _on_resize(self) -> None:
        """The rows of the live part may have been wrapped anew by the terminal: climbs over all of them."""
        with self.device.frame():
            if self._reflow:
                self.renderer._cursor_pos = self._reflowed_cursor()
            self.renderer.erase(leave_alternate_screen=False)
            self._redraw()

    def _reflowed_cursor(self) -> Point:
        """Where the cursor stands relative to the live part's first row after a re-flow to the present width."""
        position, screen = self.renderer._cursor_pos, self.renderer.last_rendered_screen
        width = max(1, self.output.get_size().columns)
        if screen is None:
            return position
        rows = 0
        for y in range(position.y):
            cells = screen.data_buffer[y]
            used = max((x + get_cwidth(c.char) for x, c in cells.items() if c.char.strip()), default=0)
            rows += max(1, -(-used // width))
        return Point(x=position.x % width, y=rows + position.x // width)

    @asynccontextmanager
    async def lent(self) -> AsyncIterator[None]:
        """Hands the terminal to another program (editor, pager); the live part is drawn anew afterwards."""
        async with in_terminal():
            yield
        self._regained()
        self.flush_above()


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
