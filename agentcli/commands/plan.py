"""``/plan [TASK]``: plan mode, with the task as its first message if one is given."""

from __future__ import annotations

from agentcli.commands.base import Command, CommandContext, CommandResult
from agentcli.ports.frontend import UserInput


async def run(context: CommandContext, arguments: str) -> CommandResult:
    context.session.set_mode("plan")
    if arguments:
        return CommandResult(prompt=UserInput(arguments))
    return CommandResult(context.texts("modes.now", mode="plan", about=context.texts("mode.plan")))


COMMAND = Command("plan", "Plan first: read and think, change nothing", run, argument_hint="[task]")
