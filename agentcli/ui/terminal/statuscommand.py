"""A status line that a command writes: run after what may have changed it, never more often than it should."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol

from prompt_toolkit.formatted_text import ANSI, to_formatted_text
from prompt_toolkit.formatted_text.utils import split_lines

from agentcli.events import (
    AssistantMessage,
    Compacted,
    ConversationCleared,
    Event,
    ModeChanged,
    ModelChanged,
    TurnFinished,
    TurnStarted,
)
from agentcli.ui.terminal.output.pen import Fragments, sgr_only

BETWEEN = 0.3
"""Seconds from one start to the next, at least."""
MOST_LINES = 4
_CAUSES = (AssistantMessage, Compacted, ConversationCleared, ModeChanged, ModelChanged, TurnFinished, TurnStarted)


class StatusSource(Protocol):
    """``runtime.statusline.StatusLine``."""

    @property
    def padding(self) -> int: ...

    @property
    def refresh(self) -> float | None: ...

    vim_mode: str
    """The input line's mode; empty where it is not edited like vi."""

    def hear(self, event: Event) -> None: ...

    async def run(self, columns: int, rows: int) -> str: ...


class StatusCommand:
    """Runs the source and keeps what it printed as ``lines``.  ``changed`` is called when that is new.  A run that is
    under way when another is due is cancelled.  ``vim`` gives the input line's mode; a new one is a reason to run."""

    def __init__(
        self,
        source: StatusSource,
        size: Callable[[], tuple[int, int]],
        changed: Callable[[], None],
        vim: Callable[[], str] = str,
    ) -> None:
        self._source = source
        self._size = size
        self._changed = changed
        self._vim = vim
        self._started = float("-inf")
        self._timer: asyncio.TimerHandle | None = None
        self._again: asyncio.TimerHandle | None = None
        self._run: asyncio.Task[None] | None = None
        self.lines: list[Fragments] = []

    def hear(self, event: Event) -> None:
        self._source.hear(event)
        if isinstance(event, _CAUSES):
            self.due()

    def shown(self) -> list[Fragments]:
        """For each drawing: the lines as they are.  Every key that changes the mode has the screen drawn."""
        if (mode := self._vim()) != self._source.vim_mode:
            self._source.vim_mode = mode
            self.due()
        return self.lines

    def due(self) -> None:
        """Runs it as soon as it may."""
        if self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_at(max(loop.time(), self._started + BETWEEN), self._start)

    def _start(self) -> None:
        loop = asyncio.get_running_loop()
        self._timer = None
        if self._again is not None:
            self._again.cancel()
        self._started = loop.time()
        if self._run is not None:
            self._run.cancel()
        self._run = loop.create_task(self._work())

    async def _work(self) -> None:
        text = await self._source.run(*self._size())
        blanks = " " * self._source.padding
        shown = [blanks + line for line in sgr_only(text).split("\n")[:MOST_LINES]] if text.strip() else []
        text_lines = split_lines(to_formatted_text(ANSI("\n".join(shown)))) if shown else ()
        lines = [[(fragment[0], fragment[1]) for fragment in line] for line in text_lines]
        if lines != self.lines:
            self.lines = lines
            self._changed()
        if self._source.refresh is not None:
            self._again = asyncio.get_running_loop().call_later(self._source.refresh, self.due)

    async def close(self) -> None:
        for timer in (self._timer, self._again):
            if timer is not None:
                timer.cancel()
        if self._run is not None:
            self._run.cancel()
            await asyncio.gather(self._run, return_exceptions=True)
