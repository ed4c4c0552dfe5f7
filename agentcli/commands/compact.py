"""``/compact [focus]``: replaces the conversation by a summary of it."""

from __future__ import annotations

from agentcli.commands.base import Command, CommandContext, CommandResult


async def run(context: CommandContext, arguments: str) -> CommandResult:
    done = await context.session.compact(arguments)
    return CommandResult("" if done else "There is nothing to summarise yet.")


COMMAND = Command("compact", "Replace the conversation by a summary of it", run, argument_hint="[focus]")
