"""The one place where child processes are started: shell commands, MCP servers, hooks, the status line."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal, TypeAlias

from agentcli.errors import SetupError
from agentcli.paths import private_directory
from agentcli.processes.output import Collector, Limits
from agentcli.processes.pipes import Drain, Lines, read_end, stream, write_end
from agentcli.processes.running import GRACE, Finished, Running

CLOSE_WITHIN = 2.5
"""Seconds that closing the manager takes at most."""
Stdin: TypeAlias = Literal["null", "pipe"] | bytes
"""Nothing to read, a pipe (``Running.stdin``), or these bytes and then end-of-file."""
Stdout: TypeAlias = Literal["collect", "pipe", "discard"]
Stderr: TypeAlias = Literal["merge", "collect", "pipe", "discard"] | int
"""``merge`` goes where standard output goes; a number is an open file descriptor (a log)."""
_HERE = Path(__file__).parent
_PYTHON = ("-I", "-S", "-E", "-X", "frozen_modules=on")
_RUN_SUPERVISOR = "import sys; sys.path.insert(0, sys.argv.pop(1)); import supervisor; supervisor.main()"
"""As a module, not as a script: its byte code is kept, and it starts in half the time."""


class ProcessManager:
    """Starts commands, each with a supervisor, and ends all of them with ``close``.

    Belongs to one event loop.  ``directory`` is where oversized output is kept (made private when it is needed); by
    default a temporary one that ``close`` removes.  ``grace`` is the time in seconds between TERM and KILL where a
    command ran into its time limit.
    """

    def __init__(self, *, directory: Path | None = None, grace: float = GRACE) -> None:
        self._given = directory
        self._grace = grace
        self._temporary: Path | None = None
        self._running: set[Running] = set()
        self._unclosed: list[Running] = []
        self._closed = False

    @property
    def running(self) -> tuple[Running, ...]:
        """Every tree of which something is alive, strays of ended commands included."""
        return tuple(self._running)

    def directory(self) -> Path:
        """Where oversized output goes, mode 0700.  ``OSError`` if it can't be made."""
        if self._given is not None:
            return private_directory(self._given)
        if self._temporary is None:
            self._temporary = Path(tempfile.mkdtemp(prefix="agentcli-"))
        return self._temporary

    async def run(
        self,
        command: Sequence[str],
        cwd: Path,
        *,
        env: Mapping[str, str],
        stdin: Stdin = "null",
        stderr: Stderr = "merge",
        timeout: float | None = None,
        on_output: Callable[[bytes], None] | None = None,
        limits: Limits | None = None,
    ) -> Finished:
        """Runs a command to its end.

        It counts as ended when the command itself has, even if it left something running.  After ``timeout`` seconds,
        and when this call is cancelled, the whole tree is ended, strays included; what was written until then is in
        the result.  ``OSError`` if the command can't be started.
        """
        running = await self.start(
            command, cwd, env=env, stdin=stdin, stderr=stderr, on_output=on_output, limits=limits
        )
        timed_out = False
        try:
            async with asyncio.timeout(timeout):
                await running.wait()
        except TimeoutError:
            timed_out = not running.exited
            if timed_out:
                await running.terminate(grace=self._grace)
                await running.settle()
        except asyncio.CancelledError:
            await running.terminate(grace=min(self._grace, 1.0))
            raise
        finally:
            finished = running.finish(timed_out=timed_out)
        return finished

    async def start(
        self,
        command: Sequence[str],
        cwd: Path,
        *,
        env: Mapping[str, str],
        stdin: Stdin = "null",
        stdout: Stdout = "collect",
        stderr: Stderr = "merge",
        on_output: Callable[[bytes], None] | None = None,
        limits: Limits | None = None,
    ) -> Running:
        """Starts a command in a session and process group of its own, without a terminal.

        ``OSError`` (with the command's or directory's name) if it can't be started; ``SetupError`` where the system
        has no process groups, or after ``close``.  Cancelled, it leaves nothing behind.
        """
        if os.name != "posix":
            raise SetupError("running commands needs a POSIX system; on Windows use agentcli inside WSL")
        if self._closed:
            raise SetupError("the session is being closed; nothing is started any more")
        launch = _Launch(stdin, stdout, stderr)
        try:
            supervisor = launch.spawn(cwd, {**env, "PWD": str(cwd)})
        except BaseException:
            launch.close_all()
            raise
        running = Running(supervisor, self._running.discard)
        self._running.add(running)
        self._unclosed = [*(other for other in self._unclosed if not other.closed), running]
        collecting = _Collecting(running, self.directory, limits or Limits(), on_output)
        beginning = asyncio.ensure_future(launch.begin(running, collecting, command))
        try:
            await asyncio.shield(beginning)
        except asyncio.CancelledError:
            beginning.add_done_callback(running.abandon)
            await asyncio.wait([beginning])
            await running.terminate(grace=min(self._grace, 1.0))
            raise
        if isinstance(stdin, bytes) and running.stdin is not None:
            running.stdin.send(stdin)
            running.stdin.close()
            running.stdin = None
        return running

    async def end_left(self, owner: str) -> int:
        """Ends what the finished commands of an owner left running; how many of them did."""
        left = [running for running in self._running if running.left and running.owner == owner]
        for running in left:
            running.order_end(grace=min(self._grace, 1.0))
        try:
            async with asyncio.timeout(CLOSE_WITHIN):
                for running in left:
                    await running.wait_ended()
        except TimeoutError:
            pass  # the order stands: its supervisor goes on trying
        return len(left)

    async def close(self, *, within: float = CLOSE_WITHIN) -> None:
        """Ends everything that is left, all at once, and removes our temporary directory.  Safe to call twice.

        What can't be ended in time is left to its supervisor, which goes on trying.
        """
        self._closed = True
        left = self.running
        for running in left:
            running.order_end(grace=within * 0.6)
        try:
            async with asyncio.timeout(within):
                for running in left:
                    await running.wait_ended()
        except TimeoutError:
            pass
        finally:
            for running in self._unclosed:
                running.release()
            self._unclosed.clear()
            if self._temporary is not None:
                shutil.rmtree(self._temporary, ignore_errors=True)
                self._temporary = None
        await asyncio.sleep(0)


class _Collecting:
    """Makes the collectors of one command."""

    def __init__(
        self,
        running: Running,
        directory: Callable[[], Path],
        limits: Limits,
        on_output: Callable[[bytes], None] | None,
    ) -> None:
        self._running = running
        self._directory = directory
        self._limits = limits
        self._on_output = on_output

    async def __call__(self, descriptor: int) -> Collector:
        running = self._running
        collector = Collector(self._limits, self._directory, on_data=self._on_output, on_flood=running.on_flood)

        def sink(data: bytes) -> None:
            collector.feed(data)
            running.on_output()

        running.output_opened()
        running.transports.append(await read_end(descriptor, Drain(sink, running.on_output_closed)))
        return collector


class _Launch:
    """The pipes of one command: made before it is started, attached to the loop afterwards."""

    def __init__(self, stdin: Stdin, stdout: Stdout, stderr: Stderr) -> None:
        self._stdout = stdout
        self._stderr = stderr
        self._ours: dict[str, int] = {}
        self._theirs: dict[str, int] = {}
        self._pipe("control", we="write")
        self._pipe("status", we="read")
        if stdin != "null":
            self._pipe("stdin", we="write")
        if stdout != "discard":
            self._pipe("stdout", we="read")
        if stderr in ("collect", "pipe"):
            self._pipe("stderr", we="read")

    def _pipe(self, name: str, *, we: Literal["read", "write"]) -> None:
        reading, writing = os.pipe()
        self._ours[name], self._theirs[name] = (reading, writing) if we == "read" else (writing, reading)

    def spawn(self, cwd: Path, env: Mapping[str, str]) -> subprocess.Popen[bytes]:
        """Starts the supervisor.  ``OSError`` if the directory or Python can't be used."""
        if not sys.executable:
            raise SetupError("this Python does not know its own path (sys.executable), so no command can be started")
        control, status = self._theirs["control"], self._theirs["status"]
        if isinstance(self._stderr, int):
            errors = self._stderr
        elif self._stderr == "merge":
            errors = subprocess.STDOUT
        else:
            errors = self._theirs.get("stderr", subprocess.DEVNULL)
        supervisor = subprocess.Popen(
            [sys.executable, *_PYTHON, "-c", _RUN_SUPERVISOR, str(_HERE), str(control), str(status)],
            cwd=cwd,
            env=env,
            stdin=self._theirs.get("stdin", subprocess.DEVNULL),
            stdout=self._theirs.get("stdout", subprocess.DEVNULL),
            stderr=errors,
            pass_fds=(control, status),
            start_new_session=True,
        )
        for descriptor in self._theirs.values():
            os.close(descriptor)
        self._theirs.clear()
        return supervisor

    async def begin(self, running: Running, collect: _Collecting, command: Sequence[str]) -> None:
        """Tells the supervisor the command and waits until it runs.  ``OSError`` if it can't."""
        await self._attach(running, collect)
        assert running.control is not None
        words = b"\0".join(os.fsencode(word) for word in command)
        running.control.send(b"%d\n" % len(words) + words)
        try:
            await running.started
        except OSError as error:
            raise OSError(error.errno, error.strerror or str(error), command[0]) from error

    async def _attach(self, running: Running, collect: _Collecting) -> None:
        """Gives our ends to the loop.  The status comes last: nothing is missed, since pipes keep what is written."""
        running.control = await write_end(self._ours.pop("control"))
        if "stdin" in self._ours:
            running.stdin = await write_end(self._ours.pop("stdin"))
        if "stdout" in self._ours:
            descriptor = self._ours.pop("stdout")
            if self._stdout == "collect":
                running.collected = await collect(descriptor)
            else:
                running.stdout, transport = await stream(descriptor)
                running.transports.append(transport)
        if "stderr" in self._ours:
            descriptor = self._ours.pop("stderr")
            if self._stderr == "collect":
                running.collected_errors = await collect(descriptor)
            else:
                running.stderr, transport = await stream(descriptor)
                running.transports.append(transport)
        status = Lines(running.on_status, running.on_status_closed)
        running.transports.append(await read_end(self._ours.pop("status"), status))

    def close_all(self) -> None:
        for descriptor in (*self._ours.values(), *self._theirs.values()):
            os.close(descriptor)
        self._ours.clear()
        self._theirs.clear()
