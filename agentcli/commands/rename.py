"""``/rename TITLE``: the session's title, by which it can be resumed."""

from __future__ import annotations

from agentcli.commands.base import Command, CommandContext, CommandResult
from agentcli.errors import UserError


async def run(context: CommandContext, arguments: str) -> CommandResult:
    if not arguments:
        raise UserError("Give the title: /rename TITLE")
    context.session.rename(arguments)
    return CommandResult(f"This session is now “{arguments}”.")


COMMAND = Command("rename", "Give this session a title", run, argument_hint="TITLE", while_running=True)
