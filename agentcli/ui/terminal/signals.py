"""Signals that end a conversation in order: the session is closed, its children are ended."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

HANG_UP = 129
"""Exit code when the terminal disappeared (128 + SIGHUP)."""


@contextmanager
def ending_signals(end: Callable[[int], None], *, interrupt: Callable[[], None] | None = None) -> Iterator[None]:
    """Inside the block SIGHUP and SIGTERM call ``end`` with the exit code (128 + number), SIGINT calls
    ``interrupt`` where it is given."""
    loop = asyncio.get_running_loop()
    handlers: list[tuple[int, Callable[[], None]]] = [
        (number, partial(end, 128 + number))
        for number in (getattr(signal, "SIGHUP", None), signal.SIGTERM)
        if number is not None
    ]
    if interrupt:
        handlers.append((signal.SIGINT, interrupt))
    caught: list[int] = []
    try:
        for number, handler in handlers:
            loop.add_signal_handler(number, handler)
            caught.append(number)
    except (NotImplementedError, RuntimeError, ValueError):
        caught.clear()  # not on this platform, or not in the main thread: the defaults stay
    try:
        yield
    finally:
        for number in caught:
            loop.remove_signal_handler(number)
