"""``/effort [level]``: how hard the model thinks, after showing what a change in the middle of a session costs."""

from __future__ import annotations

from agentcli.commands.base import Command, CommandContext, CommandResult
from agentcli.commands.model import agreed
from agentcli.ports.frontend import Choice


async def run(context: CommandContext, arguments: str) -> CommandResult:
    session, t = context.session, context.texts
    info = session.info
    current = session.status().effort or info.default_effort
    if not info.efforts:
        return CommandResult(t("switch.effort.none", model=info.name))
    price = session.switch_price(session.status().model)
    stays = t("switch.effort.stays", effort=current or t("switch.effort.default"))
    cost = price.line(t) if price.tokens else ""
    wanted: str | None = arguments
    if not arguments:
        choices = [Choice(e, e, t("switch.now") if e == current else cost) for e in info.efforts]
        wanted = await context.dialogs.choose(t("switch.effort"), choices, current=current)
    if not wanted or wanted == current:
        return CommandResult(stays)
    if arguments and not await agreed(context, wanted, price):
        return CommandResult(stays)
    await session.set_model(effort=wanted)
    return CommandResult(t("switch.next", price=cost) if cost else "")


COMMAND = Command("effort", "How hard the model thinks; shows what a change costs", run, argument_hint="[level]")
