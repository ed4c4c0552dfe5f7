"""The session's tools with what they share: processes, the shell, background jobs, the files that were seen."""

from __future__ import annotations

import os
from collections import ChainMap
from collections.abc import Callable, Collection, Iterable, Mapping, MutableMapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from agentcli.agent.state import SessionState
from agentcli.agent.todos import SessionTodos
from agentcli.conversation import ConversationCache
from agentcli.events import Emit, ToolOutput
from agentcli.extend.agents import AgentDefinition, plain_names
from agentcli.files.private import write_private
from agentcli.files.seen import FilesSeen
from agentcli.mcp.deferral import wish
from agentcli.paths import private_directory
from agentcli.permissions.rules import TOOLS
from agentcli.ports.model import ToolSpec
from agentcli.ports.sandbox import CommandSandbox
from agentcli.ports.tools import Tool, ToolCall, ToolContext
from agentcli.processes import ProcessManager
from agentcli.runtime.deferred import DeferredTools, ServerTools
from agentcli.runtime.world import World
from agentcli.shell.values import names
from agentcli.text import did_you_mean, one_line
from agentcli.tools.bash_shell import Shell
from agentcli.tools.jobs import JobTable
from agentcli.tools.mcp_call import McpCall, resolve
from agentcli.tools.registry import builtin_tools
from agentcli.tools.tool_search import ToolSearch

ENV_FILE = "session-env.sh"
"""In the shell's private directory: what hooks at the session's start set for later commands."""


@dataclass(slots=True)
class Toolbox:
    """The tools of one conversation.  ``tools`` are all that can be called, those in ``front`` are sent from the
    start, in that order; the others are found through ``deferred``."""

    tools: Mapping[str, Tool]
    front: tuple[str, ...]
    deferred: DeferredTools
    processes: ProcessManager
    shell: Shell
    jobs: JobTable
    seen: FilesSeen
    sandbox: CommandSandbox | None = None

    def attach(self, servers: ServerTools) -> None:
        """The tools of MCP servers can be called too; which of them are defined, ``deferred`` says from now on."""
        self.deferred.attach(servers)
        self.tools = ChainMap(dict(self.tools), cast("MutableMapping[str, Tool]", servers.tools))

    def specs(self) -> tuple[ToolSpec, ...]:
        """As they are sent in front."""
        return tuple(replace(self.tools[name].spec, deferred=False) for name in self.front)

    def known(self) -> tuple[ToolSpec, ...]:
        """Every tool of ours: those in front, then those that may have been given."""
        behind = (t.spec for name, t in self.tools.items() if name not in self.front)
        return (*self.specs(), *(replace(spec, deferred=True) for spec in behind if not spec.mcp))

    def resolve(self, call: ToolCall) -> ToolCall:
        """The real call behind one of the dispatcher (``Rooms.resolve``)."""
        return resolve(call, self.tools.__contains__)

    async def end_jobs(self) -> list[str]:
        """Ends what still runs in the background, and names it."""
        running = [job for job in self.jobs.list() if job.state == "running"]
        for job in running:
            await self.jobs.kill(job.id, told=True)
        return [f"{job.id} ({one_line(job.command, 60)})" for job in running]

    async def close(self) -> None:
        await self.jobs.close()
        await self.processes.close()
        if self.sandbox is not None:
            self.sandbox.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """What toolboxes of one session share.  ``read_only`` judges a shell line, ``references`` says whether the model's
    server takes tool references now, ``sandbox`` confines shell commands."""

    world: World
    processes: ProcessManager
    shell: Shell
    read_only: Callable[[str], bool]
    references: Callable[[], bool]
    sandbox: CommandSandbox | None = None

    def toolbox(
        self,
        emit: Emit,
        cache: Callable[[], ConversationCache],
        *,
        wanted: Callable[[str], bool],
        only: Collection[str] | None = None,
        seldom: Collection[str] = (),
        servers: ServerTools | None = None,
    ) -> Toolbox:
        """A toolbox with jobs and seen files of its own.  ``wanted`` says of a tool's name whether the conversation has
        it; with ``only`` these alone are there, all of them in front; ``seldom`` are deferred like those that always
        are.  ``servers`` brings the tools of MCP servers, as this conversation has them."""
        jobs = JobTable(self.shell, self.processes, emit)
        built = builtin_tools(
            shell=self.shell, jobs=jobs, read_only=self.read_only, environ=self.world.env, sandbox=self.sandbox
        )
        tools = {tool.spec.name: tool for tool in built if wanted(tool.spec.name)}
        if only is not None:
            tools = {name: tool for name, tool in tools.items() if name in only}
        behind = {n: replace(t.spec, deferred=True) for n, t in tools.items() if t.spec.deferred or n in seldom}
        searchable = only is None and wanted("ToolSearch") and wish(self.world.env).place != "front"
        searched = searchable and (bool(behind) or servers is not None)
        deferred = DeferredTools(behind.values() if searched else (), cache, self.references)
        front = [name for name in tools if not (searched and name in behind)]
        if searched:
            tools |= {"ToolSearch": ToolSearch(deferred), "McpCall": McpCall(deferred.names)}
            front += ["ToolSearch"] if self.references() else ["ToolSearch", "McpCall"]
        box = Toolbox(tools, tuple(front), deferred, self.processes, self.shell, jobs, FilesSeen(), self.sandbox)
        if servers is not None:
            box.attach(servers)
        return box


def unknown_tools(chosen: Iterable[str], box: Toolbox) -> list[str]:
    """A warning for every name of ``--tools`` that no built-in tool has.  A tool of an MCP server may come later."""
    known = {tool.spec.name for tool in builtin_tools(shell=box.shell, jobs=box.jobs)} | {"ToolSearch", "McpCall"}
    wrong = [n for n in chosen if n not in known and not n.startswith("mcp__")]
    return [f"--tools: there is no built-in tool {name}{did_you_mean(name, known)}; left out" for name in wrong]


ELSEWHERE = names(
    "NotebookRead KillBash TaskOutput TaskCreate TaskGet TaskList TaskUpdate EnterWorktree ExitWorktree CronCreate "
    "CronDelete CronList ScheduleWakeup ListMcpResourcesTool ReadMcpResourceTool"
)
"""Tools of other programs that read the same definitions: naming them is no mistake."""


def unknown_agent_tools(agents: Iterable[AgentDefinition], box: Toolbox) -> list[str]:
    """A warning for every name in an agent's lists that no tool has: with it the agent has less, or may do more, than
    was meant.  A tool of an MCP server may come later."""
    known = TOOLS | box.tools.keys()
    found = []
    for agent in agents:
        for key, listed in (("tools", agent.tools or ()), ("disallowedTools", agent.disallowed_tools)):
            for name in sorted(plain_names(listed) - known - ELSEWHERE):
                if agent.scope != "built-in" and not name.startswith("mcp__") and "*" not in name:
                    found.append(f"{agent.path}: {key}: there is no tool {name}{did_you_mean(name, known)}")
    return found


def make_means(
    world: World,
    *,
    directory: Callable[[], Path],
    read_only: Callable[[str], bool],
    references: Callable[[], bool],
    sandbox: CommandSandbox | None = None,
) -> Means:
    """``directory`` is the session's private directory (made when it is first needed)."""
    processes = ProcessManager()
    private = directory() / "shell"
    env_file = private / ENV_FILE
    named = world.env.get("CLAUDE_ENV_FILE", "").strip()
    given = (world.workspace.start / Path(named).expanduser(),) if named else ()
    shell = Shell(processes, private, base=lambda: world.env, startup=not world.bare, env_files=(*given, env_file))
    return Means(
        world=world,
        processes=processes,
        shell=shell,
        read_only=read_only,
        references=references,
        sandbox=sandbox,
    )


def _no_more(tool_use_id: str) -> Mapping[str, Any]:
    return {}


@dataclass(slots=True)
class ContextFactory:
    """Makes the ``ToolContext`` of a call.  ``more`` gives services beside todos and jobs, by the call's id."""

    world: World
    toolbox: Toolbox
    state: SessionState
    emit: Emit
    directory: Callable[[], Path]
    scratch: Path | None
    more: Callable[[str], Mapping[str, Any]] = field(default=_no_more)

    def __call__(self, tool_use_id: str) -> ToolContext:
        def output(text: str) -> None:
            self.emit(ToolOutput(tool_use_id, text))

        return ToolContext(
            workspace=self.world.workspace,
            emit=self.emit,
            output=output,
            spill=self.spill,
            seen=self.toolbox.seen,
            services={"todos": SessionTodos(self.state), "jobs": self.toolbox.jobs, **self.more(tool_use_id)},
            environment=self.environment(),
            tool_use_id=tool_use_id,
        )

    def environment(self) -> dict[str, str]:
        """What children get beside the session's environment."""
        own = {"AGENTCLI_SESSION_ID": self.state.session_id}
        if self.scratch is not None:
            own["AGENTCLI_SCRATCH"] = str(private_directory(self.scratch))
        return own

    def env_file(self) -> Path:
        """The file in which a hook at the session's start leaves ``export`` lines for later shell commands; made empty
        where there is none.  ``OSError`` if it can't be."""
        path = private_directory(self.directory() / "shell") / ENV_FILE
        if not os.path.exists(path):
            write_private(path, b"")
        return path

    def spill(self, text: str, suffix: str) -> Path:
        """Writes a whole oversized result to a private file of the session.  ``OSError`` if it can't be written."""
        folder = private_directory(self.directory() / "results")
        path = folder / f"{len(list(folder.iterdir())) + 1:04}{suffix}"
        write_private(path, text.encode("utf-8", "replace"))
        return path
