"""``/btw QUESTION``: a side question that leaves no trace in the conversation."""

from __future__ import annotations

from agentcli.commands.base import Command, CommandContext, CommandResult
from agentcli.errors import UserError


async def run(context: CommandContext, arguments: str) -> CommandResult:
    if not arguments:
        raise UserError(context.texts("btw.usage"))
    return CommandResult(await context.session.ask_aside(arguments))


COMMAND = Command(
    "btw",
    "Ask something beside the conversation; neither question nor answer stays in it",
    run,
    argument_hint="QUESTION",
    while_running=True,
)
