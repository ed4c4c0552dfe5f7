"""``!command``: the user's own command line, and what the model is told of it."""

from __future__ import annotations

from agentcli.agent.state import SessionState
from agentcli.events import Emit, Notice
from agentcli.messages import TextBlock
from agentcli.ports.display import CommandDisplay
from agentcli.ports.prompt import Reminder
from agentcli.ports.tools import Workspace
from agentcli.runtime.toolbox import ContextFactory
from agentcli.tools.bash_run import run_user_command
from agentcli.tools.bash_shell import Shell


async def run_for_user(
    command: str, shell: Shell, workspace: Workspace, *, contexts: ContextFactory, state: SessionState, emit: Emit
) -> None:
    """Runs it under the user's own authority; what it printed goes with the next message.  ``ToolError`` if the shell
    can't be started."""
    output = contexts(f"user-{state.turn}").output
    result = await run_user_command(shell, command, workspace, output=output, spill=contexts.spill)
    words = "\n".join(b.text for b in result.for_model if isinstance(b, TextBlock))
    told = f"The user ran this command themselves:\n{command}\n\nIts output:\n{words or '(none)'}"
    state.pending.append(Reminder("user-command", told))
    ended = result.for_user
    if isinstance(ended, CommandDisplay) and ended.summary:
        emit(Notice("warning", ended.summary, "user_command"))
