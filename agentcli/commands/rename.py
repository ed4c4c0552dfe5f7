"""``/rename TITLE``: the session's title, by which it can be resumed."""

from __future__ import annotations

from agentcli.commands.base import Command, CommandContext, CommandResult
from agentcli.errors import UserError


async def run(context: CommandContext, arguments: str) -> CommandResult:
    if not arguments:
        raise UserError(context.texts("rename.usage"))
    context.session.rename(arguments)
    return CommandResult(context.texts("rename.done", title=arguments))


COMMAND = Command("rename", "Give this session a title", run, argument_hint="TITLE", while_running=True)
