"""What ends a run from outside: a signal, or the reader of our output who is gone."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

from agentcli.ui.headless.result import EXIT_SIGINT, EXIT_SIGTERM

SIGNALS: dict[signal.Signals, int] = {signal.SIGINT: EXIT_SIGINT, signal.SIGTERM: EXIT_SIGTERM}
if hasattr(signal, "SIGHUP"):
    SIGNALS[signal.SIGHUP] = EXIT_SIGTERM

T = TypeVar("T")


class Stop:
    """``code`` is the exit code of the first reason to stop, or 0.  ``react`` is called at every one."""

    def __init__(self) -> None:
        self.code = 0
        self.asked = asyncio.Event()
        self.react: list[Callable[[], None]] = []

    def ask(self, code: int) -> None:
        self.code = self.code or code
        self.asked.set()
        for call in tuple(self.react):
            call()

    @property
    def words(self) -> str:
        """What is said of work that a reason to stop came before."""
        return f"interrupted by {'SIGINT' if self.code == EXIT_SIGINT else 'SIGTERM'} before it began"

    @contextmanager
    def signals(self) -> Iterator[None]:
        """While this holds, signals are reasons to stop: the run ends in order and keeps its contract."""
        loop = asyncio.get_running_loop()
        caught = []
        for number, code in SIGNALS.items():
            try:
                loop.add_signal_handler(number, self.ask, code)
                caught.append(number)
            except (NotImplementedError, RuntimeError):  # Windows, or not the main thread: KeyboardInterrupt does it
                continue
        try:
            yield
        finally:
            for number in caught:
                loop.remove_signal_handler(number)

    async def unless(self, work: Coroutine[Any, Any, T]) -> T | None:
        """The work's result; ``None`` when a reason to stop came before it was done."""
        task = asyncio.create_task(work)
        asked = asyncio.create_task(self.asked.wait())
        try:
            await asyncio.wait({task, asked}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            asked.cancel()
            if not task.done():
                task.cancel()
        with suppress(asyncio.CancelledError):
            return await task
        return None
