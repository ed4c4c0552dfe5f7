"""``/add-dir PATH``: another directory in which the agent may work, for this session."""

from __future__ import annotations

import os

from agentcli.commands.base import Command, CommandContext, CommandResult
from agentcli.errors import UserError
from agentcli.ports.permissions import PermissionUpdate


async def run(context: CommandContext, arguments: str) -> CommandResult:
    workspace, t = context.session.workspace, context.texts
    if not arguments:
        roots = "\n".join(f"- `{root}`" for root in workspace.roots)
        return CommandResult(f"{t('directories.are')}\n\n{roots}\n\n{t('directories.add')}")
    path = workspace.resolve(arguments)
    if not os.path.isdir(path):
        raise UserError(t("directories.none", path=path))
    real = path.resolve()
    if workspace.contains(real):
        return CommandResult(t("directories.known", path=real))
    context.session.gate.apply((PermissionUpdate("addDirectories", directories=(str(real),)),))
    return CommandResult(t("directories.added", path=real))


COMMAND = Command("add-dir", "Let the agent work in another directory", run, argument_hint="PATH")
