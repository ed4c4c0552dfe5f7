"""The list of built-in tools, in the order in which the model gets them: part of the cached prefix."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from agentcli.ports.jobs import Jobs
from agentcli.ports.sandbox import CommandSandbox
from agentcli.ports.tools import Tool
from agentcli.tools.agent import Agent
from agentcli.tools.ask_user_question import AskUserQuestion
from agentcli.tools.bash import Bash
from agentcli.tools.bash_output import BashOutput
from agentcli.tools.bash_shell import Shell
from agentcli.tools.edit import Edit
from agentcli.tools.exit_plan_mode import ExitPlanMode
from agentcli.tools.glob import Glob
from agentcli.tools.grep import Grep
from agentcli.tools.kill_shell import KillShell
from agentcli.tools.notebook_edit import NotebookEdit
from agentcli.tools.read import Read
from agentcli.tools.send_message import SendMessage
from agentcli.tools.skill import Skill
from agentcli.tools.sleep import Sleep
from agentcli.tools.task_stop import TaskStop
from agentcli.tools.todo_write import TodoWrite
from agentcli.tools.web_fetch import WebFetch
from agentcli.tools.web_search import WebSearch
from agentcli.tools.write import Write


def builtin_tools(
    shell: Shell,
    jobs: Jobs,
    *,
    read_only: Callable[[str], bool] = lambda command: False,
    environ: Mapping[str, str] | None = None,
    sandbox: CommandSandbox | None = None,
) -> tuple[Tool, ...]:
    """Those that stand in front, then those that may be deferred; the arguments are those of ``Bash``."""
    return (
        Bash(shell, jobs, read_only=read_only, environ=environ, sandbox=sandbox),
        Read(),
        Write(),
        Edit(),
        Glob(),
        Grep(),
        TodoWrite(),
        Agent(),
        Skill(),
        BashOutput(jobs),
        KillShell(jobs),
        NotebookEdit(),
        WebFetch(),
        WebSearch(),
        SendMessage(),
        TaskStop(),
        AskUserQuestion(),
        ExitPlanMode(),
        Sleep(),
    )
