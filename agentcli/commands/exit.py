"""``/exit``: leaves; the session can be resumed."""

from __future__ import annotations

from agentcli.commands.base import Command, CommandContext, CommandResult


async def run(context: CommandContext, arguments: str) -> CommandResult:
    return CommandResult(exit=True)


COMMAND = Command("exit", "Leave; the session can be resumed", run, aliases=("quit",), while_running=True)
