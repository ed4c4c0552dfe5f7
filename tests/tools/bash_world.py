"""A shell, its tools and a context, as the runtime would build them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agentcli.errors import ToolError
from agentcli.events import Event
from agentcli.messages import TextBlock
from agentcli.ports.tools import ToolContext, ToolResult, Workspace
from agentcli.processes import ProcessManager
from agentcli.tools.bash import Bash
from agentcli.tools.bash_output import BashOutput
from agentcli.tools.bash_shell import Shell
from agentcli.tools.jobs import JobReminders, JobTable
from agentcli.tools.kill_shell import KillShell


class NothingSeen:
    def note(self, path: Path, data: bytes, *, whole: bool) -> None: ...

    def get(self, path: Path) -> None: ...

    def changed(self) -> list[Path]:
        return []

    def forget(self) -> None: ...


@dataclass
class World:
    manager: ProcessManager
    shell: Shell
    jobs: JobTable
    bash: Bash
    workspace: Workspace
    scratch: Path
    events: list[Event]
    live: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.bash_output = BashOutput(self.jobs)
        self.kill_shell = KillShell(self.jobs)
        self.reminders = JobReminders(self.jobs)
        self.context = ToolContext(
            workspace=self.workspace,
            emit=self.events.append,
            output=self.live.append,
            spill=self.spill,
            seen=NothingSeen(),
            environment={"AGENTCLI_SCRATCH": str(self.scratch), "AGENTCLI_SESSION_ID": "s1"},
        )

    def spill(self, text: str, suffix: str) -> Path:
        path = self.scratch / f"spilled{suffix}"
        path.write_text(text)
        return path

    async def call(self, tool: Any, **input: object) -> tuple[str, bool]:
        """The result's text and whether it is an error, as the engine would make it."""
        try:
            result = await tool.run(input, self.context)
        except ToolError as error:
            return str(error), True
        return text_of(result), result.is_error

    async def run(self, command: str, **input: object) -> tuple[str, bool]:
        return await self.call(self.bash, command=command, **input)


def text_of(result: ToolResult) -> str:
    (block,) = result.for_model
    assert isinstance(block, TextBlock)
    return block.text


@asynccontextmanager
async def bash_world(
    project: Path,
    *,
    startup: bool = False,
    base: Callable[[], Mapping[str, str]] | None = None,
    read_only: Callable[[str], bool] = lambda command: False,
    environ: Mapping[str, str] | None = None,
    **shell: Any,
) -> AsyncIterator[World]:
    scratch = project.parent / "scratch"
    scratch.mkdir(mode=0o700, exist_ok=True)
    manager = ProcessManager(directory=scratch / "output", grace=0.4)
    if base is not None:
        shell["base"] = base
    made = Shell(manager, scratch, startup=startup, **shell)
    events: list[Event] = []
    jobs = JobTable(made, manager, events.append)
    bash = Bash(made, jobs, read_only=read_only, environ=environ or {})
    try:
        yield World(manager, made, jobs, bash, Workspace(project, project), scratch, events)
    finally:
        await jobs.close()
        await manager.close()
        assert manager.running == ()
