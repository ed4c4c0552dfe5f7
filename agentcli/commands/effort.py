"""``/effort [level]``: how hard the model thinks, after showing what a change in the middle of a session costs."""

from __future__ import annotations

from agentcli.commands.base import Command, CommandContext, CommandResult
from agentcli.commands.model import agreed
from agentcli.ports.frontend import Choice


async def run(context: CommandContext, arguments: str) -> CommandResult:
    session = context.session
    info = session.info
    current = session.status().effort or info.default_effort
    if not info.efforts:
        return CommandResult(f"{info.name} has no effort setting.")
    price = session.switch_price(session.status().model)
    cost = price.line() if price.tokens else ""
    wanted: str | None = arguments
    if not arguments:
        choices = [Choice(e, e, "as now" if e == current else cost) for e in info.efforts]
        wanted = await context.dialogs.choose("Effort", choices, current=current)
    if not wanted or wanted == current:
        return CommandResult(f"The effort stays {current or 'as the model has it'}.")
    if arguments and not await agreed(context, wanted, price):
        return CommandResult(f"The effort stays {current or 'as the model has it'}.")
    await session.set_model(effort=wanted)
    return CommandResult(f"The next request {cost}." if cost else "")


COMMAND = Command("effort", "How hard the model thinks; shows what a change costs", run, argument_hint="[level]")
