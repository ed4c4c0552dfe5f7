"""One command and everything below it, seen through its supervisor."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass

from agentcli.processes.output import Collector, Output
from agentcli.processes.owner import owner
from agentcli.processes.pipes import Input

GRACE = 2.0
"""Seconds between TERM and KILL unless somebody says otherwise."""
_SETTLE_SILENCE = 0.1
"""After the command has ended, output is still awaited while the next piece comes within this many seconds …"""
_SETTLE_AT_MOST = 0.5
"""… and no longer than this in all."""
_REAP_POLL = 0.01


@dataclass(frozen=True, slots=True)
class Finished:
    """How a command ended.

    ``exit_code`` follows the shell: 128 + n where signal n (``signal``) ended it.  ``errors`` is standard error where
    it was collected apart.  ``left_running``: something that the command started still runs; it ends with agentcli.
    ``flooded``: ended because it wrote more than ``Limits.kill``.  ``seconds`` is wall time.
    """

    exit_code: int
    signal: int | None
    output: Output
    errors: Output
    timed_out: bool = False
    flooded: bool = False
    left_running: bool = False
    seconds: float = 0.0


class Running:
    """A started command.  Made by ``ProcessManager.start``; lives on the loop that made it.

    ``owner`` is the one for whom it was started.

    ``stdin`` is ``None`` unless a pipe was asked for; ``stdout`` and ``stderr`` are streams where pipes were asked
    for.  ``pid`` leads a session and process group of its own.
    """

    def __init__(self, supervisor: subprocess.Popen[bytes], on_ended: Callable[[Running], None]) -> None:
        self._supervisor = supervisor
        self._on_ended = on_ended
        self._begun = time.monotonic()
        self._seconds: float | None = None
        self._wait_status: int | None = None
        self._strays = False
        self.owner = owner()
        self._flooded = False
        self._open_outputs = 0
        self._activity = asyncio.Event()
        self._exited = asyncio.Event()
        self._ended = asyncio.Event()
        self.started: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        """The pid, or the ``OSError`` because of which the command could not be started."""
        self.pid = 0
        self.control: Input | None = None
        self.stdin: Input | None = None
        self.stdout: asyncio.StreamReader | None = None
        self.stderr: asyncio.StreamReader | None = None
        self.collected: Collector | None = None
        self.collected_errors: Collector | None = None
        self.transports: list[asyncio.ReadTransport] = []

    # What the pipes tell.

    def on_status(self, line: str) -> None:
        """A line from the supervisor."""
        word, *values = line.split()
        match word:
            case "forked":
                self.pid = int(values[0])
            case "started":
                if not self.started.done():
                    self.started.set_result(self.pid)
            case "failed":
                number = int(values[0])
                if not self.started.done():
                    self.started.set_exception(OSError(number, os.strerror(number)))
            case "exited":
                self._exit(int(values[0]), strays=values[1] == "1")
            case _:
                raise AssertionError(f"the supervisor said {line!r}")

    def on_status_closed(self) -> None:
        """The supervisor has ended: nothing of the tree is left, or it was killed itself."""
        if not self.started.done() and self.pid:
            self.started.set_result(self.pid)
        if not self.started.done():
            self.started.set_exception(OSError("the supervisor of the command could not be started"))
        elif self.started.exception() is None and self._wait_status is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)
            self._exit(signal.SIGKILL, strays=False)
        self._strays = False
        for pipe in (self.control, self.stdin):
            if pipe is not None:
                pipe.abort()
        self._reap()

    def on_output(self) -> None:
        self._activity.set()

    def output_opened(self) -> None:
        self._open_outputs += 1

    def on_output_closed(self) -> None:
        self._open_outputs -= 1
        self._activity.set()

    def on_flood(self) -> None:
        """The command writes without end: it is ended."""
        self._flooded = True
        self.order_end(grace=1.0)

    def _exit(self, wait_status: int, *, strays: bool) -> None:
        self._wait_status = wait_status
        self._strays = strays
        self._seconds = time.monotonic() - self._begun
        self._exited.set()

    def _reap(self) -> None:
        if self._supervisor.poll() is None:
            asyncio.get_running_loop().call_later(_REAP_POLL, self._reap)
            return
        self._exited.set()
        self._ended.set()
        self._on_ended(self)

    # What a caller does.

    @property
    def exited(self) -> bool:
        """Whether the command itself has ended."""
        return self._exited.is_set()

    @property
    def left(self) -> bool:
        """Whether the command has ended and something that it started goes on."""
        return self.exited and self._strays and not self.ended

    @property
    def ended(self) -> bool:
        """Whether nothing of the whole tree is left."""
        return self._ended.is_set()

    @property
    def closed(self) -> bool:
        """Whether nothing is left of it here either: all pipes are closed."""
        return self.ended and all(transport.is_closing() for transport in self.transports)

    async def wait(self) -> None:
        """Until the command itself has ended and what it wrote is collected.

        Something that it left running and that holds its output open does not delay this by more than half a second.
        """
        await self._exited.wait()
        await self.settle()

    async def settle(self) -> None:
        """Until the output is complete, as far as that can be told: it is closed, or silent for a moment."""
        until = time.monotonic() + _SETTLE_AT_MOST
        while self._open_outputs and time.monotonic() < until:
            self._activity.clear()
            try:
                async with asyncio.timeout(_SETTLE_SILENCE):
                    await self._activity.wait()
            except TimeoutError:
                break

    async def wait_ended(self) -> None:
        """Until nothing of the tree is left."""
        await self._ended.wait()

    def order_end(self, *, grace: float = GRACE) -> None:
        """Orders the end of the whole tree: TERM now, KILL after ``grace`` seconds.  Returns at once."""
        if self.control is not None:
            self.control.send(b"k %.3f\n" % grace)

    async def terminate(self, *, grace: float = GRACE) -> bool:
        """Ends the whole tree and waits for it; whether nothing is left.

        The order stands even if the wait is cancelled.
        """
        self.order_end(grace=grace)
        try:
            async with asyncio.timeout(grace + 1.5):
                await self._ended.wait()
        except TimeoutError:
            return False
        return True

    def finish(self, *, timed_out: bool = False) -> Finished:
        """How the command ended; its output is no longer collected from here on (what still comes is dropped, so that
        a server that was left running never finds its pipe closed)."""
        for collector in (self.collected, self.collected_errors):
            if collector is not None:
                collector.close()
        return self.state(timed_out=timed_out)

    def state(self, *, timed_out: bool = False) -> Finished:
        """As ``finish``, for a command whose output goes on being collected.  A command that could not be killed
        counts as killed and left running."""
        status = signal.SIGKILL if self._wait_status is None else self._wait_status
        code = os.waitstatus_to_exitcode(status)
        return Finished(
            exit_code=128 - code if code < 0 else code,
            signal=-code if code < 0 else None,
            output=self.collected.output() if self.collected else Output(),
            errors=self.collected_errors.output() if self.collected_errors else Output(),
            timed_out=timed_out,
            flooded=self._flooded,
            left_running=self._strays or self._wait_status is None,
            seconds=time.monotonic() - self._begun if self._seconds is None else self._seconds,
        )

    def abandon(self, beginning: asyncio.Future[None]) -> None:
        """Orders the end of what nobody waits for any more, once it has been started; if it could not be started,
        nobody needs to know."""
        if beginning.cancelled() or beginning.exception() is None:
            self.order_end(grace=1.0)

    def release(self) -> None:
        """Closes our ends of the pipes.  The tree, if anything is left of it, is ended by its supervisor."""
        for pipe in (self.control, self.stdin):
            if pipe is not None:
                pipe.abort()
        for transport in self.transports:
            transport.close()
