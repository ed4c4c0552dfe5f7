"""What ends a run from outside: a signal, or the reader of our output who is gone."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from agentcli.ui.headless.result import EXIT_SIGINT, EXIT_SIGTERM

SIGNALS: dict[signal.Signals, int] = {signal.SIGINT: EXIT_SIGINT, signal.SIGTERM: EXIT_SIGTERM}
if hasattr(signal, "SIGHUP"):
    SIGNALS[signal.SIGHUP] = EXIT_SIGTERM


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
