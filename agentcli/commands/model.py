"""``/model [name]``: changes the model from the next request on, after showing what the change costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentcli.commands.base import Command, CommandContext, CommandResult
from agentcli.ports.frontend import Choice

if TYPE_CHECKING:
    from agentcli.model.monitor import SwitchPrice


async def run(context: CommandContext, arguments: str) -> CommandResult:
    from agentcli.model.catalog import model_choices, model_info

    session, t = context.session, context.texts
    current = session.status().model
    stays = t("switch.model.stays", name=model_info(current).name, id=current)
    wanted: str | None = arguments
    if not arguments:
        choices = [Choice(m.id, m.name, _price(context, m.id, current)) for m in model_choices()]
        if current not in {c.value for c in choices}:
            choices.append(Choice(current, model_info(current).name, t("switch.now")))
        wanted = await context.dialogs.choose(t("switch.model"), choices, current=current)
    if not wanted or wanted == current:
        return CommandResult(stays)
    price = session.switch_price(wanted)
    if arguments and not await agreed(context, wanted, price):
        return CommandResult(stays)
    await session.set_model(wanted)
    return CommandResult(t("switch.next", price=price.line(t)) if price.tokens else "")


async def agreed(context: CommandContext, wanted: str, price: SwitchPrice) -> bool:
    """Whether the user makes a switch that costs something; who chose from a list has seen the price there.  Where
    nobody can be asked, the command itself is the word."""
    if not price.tokens or not context.session.state.interactive:
        return True
    return await context.dialogs.confirm(context.texts("switch.price", wanted=wanted, price=price.line(context.texts)))


def _price(context: CommandContext, model: str, current: str) -> str:
    if model == current:
        return context.texts("switch.now")
    price = context.session.switch_price(model)
    return price.line(context.texts) if price.tokens else ""


COMMAND = Command("model", "Change the model; shows what a change costs", run, argument_hint="[name]")
