"""Background jobs: started, read, ended, and their end told."""

from __future__ import annotations

import asyncio
import builtins
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from agentcli.errors import ToolError
from agentcli.events import Event, JobChanged
from agentcli.ports.jobs import Job, JobEnd, JobOutput, JobState
from agentcli.ports.prompt import Moment, Reminder
from agentcli.ports.sandbox import Wrap
from agentcli.processes import GRACE, Limits, ProcessManager, Running
from agentcli.text import clean, one_line
from agentcli.tools.bash_exit import describe
from agentcli.tools.bash_shell import Shell
from agentcli.tools.bash_text import readable

PAGE = 30_000
"""Bytes of output that one reading brings."""
_TAIL = 2_000
"""Characters of output that stand in the report of an end."""
_MEMORY = Limits(memory=256 * 1024)
_FILTER_SECONDS = 5.0
_FILTER = (
    "import re,sys\n"
    "p=re.compile(sys.argv[1])\n"
    "for l in sys.stdin.buffer.read().decode().splitlines():\n"
    "    if p.search(l): sys.stdout.buffer.write(l.encode()+b'\\n')\n"
)


@dataclass(slots=True, eq=False)
class _Entry:
    """What the table knows of a job."""

    id: str
    command: str
    description: str
    time_limit: float | None
    running: Running
    begun: float
    state: JobState = "running"
    exit_code: int | None = None
    signal: int | None = None
    seconds: float = 0.0
    offset: int = 0
    told: bool = False
    watcher: asyncio.Task[None] | None = None


class JobTable:
    """The session's background jobs.  ``emit`` gets a ``JobChanged`` for each start and end.

    A job ends by itself, at its time limit, by ``kill``, or with the session.  Its whole output up to 64 MiB can be
    read page by page, also after its end.
    """

    def __init__(self, shell: Shell, manager: ProcessManager, emit: Callable[[Event], None]) -> None:
        self._shell = shell
        self._manager = manager
        self._emit = emit
        self._entries: dict[str, _Entry] = {}
        self._ended = asyncio.Condition()

    async def start(
        self,
        command: str,
        cwd: Path,
        *,
        environment: Mapping[str, str],
        description: str = "",
        time_limit: float | None = None,
        wrap: Wrap = list,
    ) -> Job:
        running = await self._shell.start(command, cwd, env=environment, limits=_MEMORY, wrap=wrap)
        name = f"bash_{len(self._entries) + 1}"
        entry = _Entry(name, command, description, time_limit, running, time.monotonic())
        self._entries[name] = entry
        entry.watcher = asyncio.create_task(self._watch(entry))
        self._emit(JobChanged(name, command, "running"))
        return self._job(entry)

    def list(self) -> tuple[Job, ...]:
        return tuple(self._job(entry) for entry in self._entries.values())

    def get(self, job_id: str) -> Job | None:
        entry = self._entries.get(job_id)
        return None if entry is None else self._job(entry)

    async def output(self, job_id: str, *, pattern: str = "") -> JobOutput:
        entry = self._find(job_id)
        collected = entry.running.collected
        assert collected is not None
        page = collected.read(entry.offset, PAGE)
        data = page.data
        if entry.state == "running" or page.next_offset < collected.total:
            data = _whole_characters(data)
        text = readable(data).rstrip("\n")
        if pattern and text:
            text = await self._filter(text, pattern)
        entry.offset = page.next_offset - (len(page.data) - len(data))
        if entry.state != "running":
            entry.told = True
        more = collected.total - entry.offset if len(page.data) == PAGE else 0
        return JobOutput(self._job(entry), text, page.skipped, more)

    def tail(self, job_id: str, size: int = 4_000) -> str:
        """The end of the output, at most ``size`` bytes of it, for a person: it stays unread for the model."""
        collected = self._find(job_id).running.collected
        assert collected is not None
        start = max(0, collected.total - size)
        text = readable(collected.read(start, size).data).rstrip("\n")
        return text.partition("\n")[2] or text if start else text

    async def kill(self, job_id: str, *, told: bool = False) -> Job:
        entry = self._find(job_id)
        if entry.state == "running":
            entry.state = "killed"
            entry.told = told
            await entry.running.terminate(grace=GRACE)
            if entry.watcher is not None:
                await asyncio.wait([entry.watcher], timeout=1.0)
        return self._job(entry)

    def take_ended(self) -> tuple[JobEnd, ...]:
        ends = []
        for entry in self._untold():
            entry.told = True
            collected = entry.running.collected
            assert collected is not None
            start = max(entry.offset, collected.total - 4 * _TAIL)
            tail = readable(collected.read(start, 4 * _TAIL).data).rstrip("\n")[-_TAIL:]
            ends.append(JobEnd(self._job(entry), tail))
        return tuple(ends)

    async def wait_ended(self) -> None:
        async with self._ended:
            await self._ended.wait_for(self._untold)

    async def close(self) -> None:
        live = [entry for entry in self._entries.values() if entry.exit_code is None]
        for entry in live:
            if entry.state == "running":
                entry.state = "killed"
            entry.running.order_end(grace=1.5)
        watchers = [entry.watcher for entry in live if entry.watcher is not None]
        if watchers:
            _, late = await asyncio.wait(watchers, timeout=2.5)
            for watcher in late:
                watcher.cancel()
            await asyncio.gather(*late, return_exceptions=True)
        for entry in self._entries.values():
            if entry.running.collected is not None:
                entry.running.collected.discard()

    def _untold(self) -> builtins.list[_Entry]:
        return [e for e in self._entries.values() if e.exit_code is not None and not e.told]

    def _find(self, job_id: str) -> _Entry:
        entry = self._entries.get(job_id)
        if entry is None:
            known = ", ".join(f"{e.id} ({e.state})" for e in self._entries.values())
            raise ToolError(
                f"There is no background job {clean(job_id)}. {f'Jobs: {known}.' if known else 'No job was started.'}"
            )
        return entry

    async def _watch(self, entry: _Entry) -> None:
        """Follows a job to its end."""
        running = entry.running
        try:
            async with asyncio.timeout(entry.time_limit):
                await running.wait()
        except TimeoutError:
            if not running.exited and entry.state == "running":
                entry.state = "timed_out"
                await running.terminate(grace=GRACE)
                await running.settle()
        end = running.state()
        if entry.state == "running":
            entry.state = "killed" if end.flooded else "finished"
        entry.exit_code, entry.signal, entry.seconds = end.exit_code, end.signal, end.seconds
        self._emit(JobChanged(entry.id, entry.command, entry.state, entry.exit_code))
        async with self._ended:
            self._ended.notify_all()

    def _job(self, entry: _Entry) -> Job:
        collected = entry.running.collected
        total = 0 if collected is None else collected.total
        return Job(
            entry.id,
            entry.command,
            entry.description,
            entry.state,
            entry.exit_code,
            entry.signal,
            time.monotonic() - entry.begun if entry.exit_code is None else entry.seconds,
            total,
            total - entry.offset,
            entry.time_limit,
        )

    async def _filter(self, text: str, pattern: str) -> str:
        """The matching lines.  In a process of its own: a pattern may take for ever."""
        done = await self._manager.run(
            [sys.executable, "-I", "-S", "-c", _FILTER, clean(pattern)],
            Path("/"),
            env={},
            stdin=text.encode(),
            stderr="collect",
            timeout=_FILTER_SECONDS,
        )
        if done.timed_out:
            raise ToolError("The filter takes too long on this output. Use a simpler one, or none.")
        if done.exit_code:
            reason = done.errors.text.strip().rpartition("\n")[2].partition(": ")[2]
            raise ToolError(f"The filter is no regular expression: {reason or 'it was not understood'}. Send another.")
        return done.output.text.rstrip("\n")


def _whole_characters(data: bytes) -> bytes:
    """Without the beginning of a UTF-8 character at the end; it comes with the next page."""
    for back in range(1, min(4, len(data) + 1)):
        byte = data[-back]
        if byte >= 0xC0:
            length = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return data[:-back] if length > back else data
        if byte < 0x80:
            break
    return data


def describe_state(job: Job) -> str:
    """``bash_1 is running since 3 s``; ``bash_2 finished with exit code 5 after 0.1 s``."""
    match job.state:
        case "running":
            limit = "" if job.time_limit is None else f" of at most {job.time_limit:g}"
            return f"{job.id} is running since {job.seconds:.1f}{limit} s"
        case "timed_out":
            return f"{job.id} was ended at its time limit of {job.time_limit:g} s"
        case "killed":
            return f"{job.id} was killed after {job.seconds:.1f} s"
        case "finished":
            code = 0 if job.exit_code is None else job.exit_code
            how = describe(code, job.signal)
            return f"{job.id} {'was ' if job.signal else 'ended with '}{how} after {job.seconds:.1f} s"


class JobReminders:
    """Tells the model of jobs that ended, with the next message; after a compaction also of those that run."""

    def __init__(self, jobs: JobTable) -> None:
        self._jobs = jobs

    async def collect(self, moment: Moment, *, paths: Sequence[Path] = ()) -> list[Reminder]:
        if moment == "file_touched":
            return []
        reminders = [Reminder(f"job:{end.job.id}", _end_text(end)) for end in self._jobs.take_ended()]
        if moment == "after_compaction":
            running = [job for job in self._jobs.list() if job.state == "running"]
            if running:
                lines = "\n".join(f"- {job.id}: {one_line(job.command)}" for job in running)
                reminders.append(Reminder("jobs", f"Background jobs that are running:\n{lines}"))
        return reminders


def _end_text(end: JobEnd) -> str:
    text = f"Background job {describe_state(end.job)} (command: {one_line(end.job.command)})."
    return f"{text} The end of its unread output:\n{end.tail}" if end.tail else f"{text} It wrote nothing new."
