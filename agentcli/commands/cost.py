"""``/cost``: what the session has cost, by model and purpose."""

from __future__ import annotations

from agentcli.commands.base import Command, CommandContext, CommandResult


async def run(context: CommandContext, arguments: str) -> CommandResult:
    from agentcli.model.report import cost_report

    session = context.session
    return CommandResult(cost_report(session.ledger, session.monitor, session.last_turn, t=context.texts))


COMMAND = Command("cost", "What this session has cost", run, aliases=("usage",), while_running=True)
