"""``/add-dir PATH``: another directory in which the agent may work, for this session."""

from __future__ import annotations

import os

from agentcli.commands.base import Command, CommandContext, CommandResult
from agentcli.errors import UserError
from agentcli.ports.permissions import PermissionUpdate


async def run(context: CommandContext, arguments: str) -> CommandResult:
    workspace = context.session.workspace
    if not arguments:
        roots = "\n".join(f"- `{root}`" for root in workspace.roots)
        return CommandResult(f"The agent works in:\n\n{roots}\n\nAdd one: /add-dir PATH")
    path = workspace.resolve(arguments)
    if not os.path.isdir(path):
        raise UserError(f"{path} is not a directory.")
    real = path.resolve()
    if workspace.contains(real):
        return CommandResult(f"`{real}` is among the working directories already.")
    context.session.gate.apply((PermissionUpdate("addDirectories", directories=(str(real),)),))
    return CommandResult(f"The agent may work in `{real}` for the rest of this session.")


COMMAND = Command("add-dir", "Let the agent work in another directory", run, argument_hint="PATH")
