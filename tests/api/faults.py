"""Controls: what can happen in the middle of an answer, or in place of one; ``script.py`` says where they may stand."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import dataclass
from typing import Any, TypeAlias

Json: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Pause:
    """Nothing is sent for so many real seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Fault:
    """The answer ends here, in a way that ``kind`` says."""

    kind: str
    """``reset`` (TCP RST), ``cut`` (the socket ends inside the chunked body), ``close`` (the chunked body ends cleanly,
    without the events that were due), ``stall`` (silence until the client leaves), ``pings`` (nothing but pings until
    the client leaves)."""
    every: float = 0.02


@dataclass(frozen=True, slots=True)
class Garbage:
    """These bytes are written into the body as they are."""

    data: bytes


@dataclass(frozen=True, slots=True)
class RawEvent:
    """This SSE event is sent as it is.  ``last`` ends the answer behind it, as an ``error`` event does."""

    name: str
    data: Json
    last: bool = False


class Gate:
    """The answer waits here until the test opens the gate.  Usable from any thread.

    ``reached`` is set once an answer stands at the gate.
    """

    def __init__(self) -> None:
        self.reached = threading.Event()
        self._lock = threading.Lock()
        self._is_open = False
        self._waiting: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []

    def open(self) -> None:
        with self._lock:
            self._is_open = True
            waiting, self._waiting = self._waiting, []
        for loop, event in waiting:
            loop.call_soon_threadsafe(event.set)

    def wait_reached(self, timeout: float = 20) -> None:
        """Blocks until an answer stands here; ``TimeoutError`` when none comes."""
        if not self.reached.wait(timeout):
            raise TimeoutError("no answer reached the gate")

    async def pass_through(self) -> None:
        with self._lock:
            if self._is_open:
                self.reached.set()
                return
            event = asyncio.Event()
            self._waiting.append((asyncio.get_running_loop(), event))
        self.reached.set()
        await event.wait()


Control: TypeAlias = Pause | Fault | Garbage | RawEvent | Gate


def pause(seconds: float) -> Pause:
    return Pause(seconds)


def reset() -> Fault:
    """TCP reset."""
    return Fault("reset")


def cut() -> Fault:
    """The socket ends inside the body."""
    return Fault("cut")


def close() -> Fault:
    """The body ends cleanly although events are missing (no ``message_stop``)."""
    return Fault("close")


def stall() -> Fault:
    """Silence until the client leaves."""
    return Fault("stall")


def pings(every: float = 0.02) -> Fault:
    """Nothing but ping events until the client leaves."""
    return Fault("pings", every)


def garbage(data: bytes = b"\x00\xff<html>not an event stream</html>\n\n") -> Garbage:
    return Garbage(data)


def error_event(type: str = "overloaded_error", message: str = "Overloaded") -> RawEvent:
    """An SSE ``error`` event; the answer ends behind it."""
    return RawEvent("error", {"type": "error", "error": {"type": type, "message": message}}, last=True)


def event(name: str, data: Json) -> RawEvent:
    """Any SSE event, known or not."""
    return RawEvent(name, {"type": name, **data})
