"""Between the shell tools, the engine and whoever lists background jobs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from agentcli.ports.sandbox import Wrap

JobState = Literal["running", "finished", "timed_out", "killed"]


@dataclass(frozen=True, slots=True)
class Job:
    """A background command as it is now.

    ``exit_code`` (128 + n after signal n, which ``signal`` then names) is ``None`` while it runs; ``seconds`` is its
    age or how long it ran; ``unread`` are bytes of output that the model has not seen yet.
    """

    id: str
    command: str
    description: str
    state: JobState
    exit_code: int | None
    signal: int | None
    seconds: float
    output_bytes: int
    unread: int
    time_limit: float | None = None


@dataclass(frozen=True, slots=True)
class JobOutput:
    """The next unread page: ``text`` for the model, ``skipped`` bytes that were too much to be kept, ``more`` bytes
    that another call brings."""

    job: Job
    text: str
    skipped: int = 0
    more: int = 0


@dataclass(frozen=True, slots=True)
class JobEnd:
    """A job that ended, told once; ``tail`` is the end of its unread output."""

    job: Job
    tail: str


class Jobs(Protocol):
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
        """Starts a command in the background; ``time_limit`` in seconds, ``wrap`` is what is around its shell.
        ``OSError`` if the shell can't be started."""

    def list(self) -> tuple[Job, ...]:
        """Every job of the session, oldest first."""

    def get(self, job_id: str) -> Job | None: ...

    async def output(self, job_id: str, *, pattern: str = "") -> JobOutput:
        """What is new since the last call; with ``pattern`` only the lines that it matches.  ``ToolError`` for an
        unknown job or a bad pattern."""

    async def kill(self, job_id: str, *, told: bool = False) -> Job:
        """Ends a running job and everything it started.  ``told`` when the model itself asked for it, so that the end
        need not be reported.  ``ToolError`` for an unknown job."""

    def take_ended(self) -> tuple[JobEnd, ...]:
        """Jobs that ended and whose end the model has not been told; each once."""

    async def wait_ended(self) -> None:
        """Until there is an end to tell.  For turns that start because of it; never returns without jobs."""

    async def close(self) -> None:
        """Ends all jobs."""
