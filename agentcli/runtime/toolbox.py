"""The session's tools with what they share: processes, the shell, background jobs, the files that were seen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from agentcli.agent.state import SessionState
from agentcli.agent.todos import SessionTodos
from agentcli.events import Emit, ToolOutput
from agentcli.files.private import write_private
from agentcli.files.seen import FilesSeen
from agentcli.paths import private_directory
from agentcli.ports.model import ToolSpec
from agentcli.ports.tools import Tool, ToolContext
from agentcli.processes import ProcessManager
from agentcli.runtime.world import World
from agentcli.tools.bash_shell import Shell
from agentcli.tools.jobs import JobTable
from agentcli.tools.registry import builtin_tools


@dataclass(slots=True)
class Toolbox:
    """``tools`` stand in the order in which they are sent."""

    tools: Mapping[str, Tool]
    processes: ProcessManager
    shell: Shell
    jobs: JobTable
    seen: FilesSeen

    def specs(self) -> tuple[ToolSpec, ...]:
        """As they are sent.  Nothing is deferred where no ``ToolSearch`` could bring it."""
        found = "ToolSearch" in self.tools
        return tuple(replace(t.spec, deferred=t.spec.deferred and found) for t in self.tools.values())

    async def close(self) -> None:
        await self.jobs.close()
        await self.processes.close()


def make_toolbox(
    world: World,
    emit: Emit,
    *,
    directory: Callable[[], Path],
    read_only: Callable[[str], bool],
    wanted: Callable[[str], bool],
) -> Toolbox:
    """``directory`` is the session's private directory (made when it is first needed), ``wanted`` says of a built-in
    tool's name whether the session has it."""
    processes = ProcessManager()
    shell = Shell(
        processes,
        directory() / "shell",
        base=lambda: world.env,
        startup=not world.bare,
    )
    jobs = JobTable(shell, processes, emit)
    tools = builtin_tools(shell=shell, jobs=jobs, read_only=read_only, environ=world.env)
    chosen = {tool.spec.name: tool for tool in tools if wanted(tool.spec.name)}
    return Toolbox(chosen, processes, shell, jobs, FilesSeen())


@dataclass(slots=True)
class ContextFactory:
    """Makes the ``ToolContext`` of a call."""

    world: World
    toolbox: Toolbox
    state: SessionState
    emit: Emit
    directory: Callable[[], Path]
    scratch: Path | None

    def __call__(self, tool_use_id: str) -> ToolContext:
        def output(text: str) -> None:
            self.emit(ToolOutput(tool_use_id, text))

        return ToolContext(
            workspace=self.world.workspace,
            emit=self.emit,
            output=output,
            spill=self.spill,
            seen=self.toolbox.seen,
            services={"todos": SessionTodos(self.state), "jobs": self.toolbox.jobs},
            environment=self.environment(),
            tool_use_id=tool_use_id,
        )

    def environment(self) -> dict[str, str]:
        """What children get beside the session's environment."""
        own = {"AGENTCLI_SESSION_ID": self.state.session_id}
        if self.scratch is not None:
            own["AGENTCLI_SCRATCH"] = str(private_directory(self.scratch))
        return own

    def spill(self, text: str, suffix: str) -> Path:
        """Writes a whole oversized result to a private file of the session.  ``OSError`` if it can't be written."""
        folder = private_directory(self.directory() / "results")
        path = folder / f"{len(list(folder.iterdir())) + 1:04}{suffix}"
        write_private(path, text.encode("utf-8", "replace"))
        return path
