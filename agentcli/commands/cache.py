"""``/cache``: what the prompt cache did, every break with its cause and price."""

from __future__ import annotations

from agentcli.commands.base import Command, CommandContext, CommandResult


async def run(context: CommandContext, arguments: str) -> CommandResult:
    from agentcli.model.report import cache_report

    return CommandResult(cache_report(context.session.monitor, t=context.texts))


COMMAND = Command("cache", "What the prompt cache did, and what each break cost", run, while_running=True)
