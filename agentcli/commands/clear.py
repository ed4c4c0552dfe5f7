"""``/clear``: a new conversation; sections and latches of the prompt are reset, the old session stays resumable."""

from __future__ import annotations

from agentcli.commands.base import Command, CommandContext, CommandResult


async def run(context: CommandContext, arguments: str) -> CommandResult:
    await context.session.clear()
    return CommandResult()


COMMAND = Command("clear", "Begin a new conversation; the old one stays resumable", run, aliases=("new", "reset"))
