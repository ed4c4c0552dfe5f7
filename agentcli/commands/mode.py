"""``/mode [name]``: how permission is given.  The tools and the prompt stay the same bytes in every mode."""

from __future__ import annotations

from agentcli.commands.base import Command, CommandContext, CommandResult
from agentcli.errors import UserError
from agentcli.ports.frontend import Choice
from agentcli.ports.permissions import PERMISSION_MODES


async def run(context: CommandContext, arguments: str) -> CommandResult:
    t = context.texts
    current = context.session.status().mode
    wanted: str | None = arguments
    if not arguments:
        choices = [Choice(m, m, t(f"mode.{m}")) for m in PERMISSION_MODES]
        wanted = await context.dialogs.choose(t("modes.mode"), choices, current=current)
    if not wanted:
        return CommandResult(t("modes.now", mode=current, about=t(f"mode.{current}")))
    if wanted not in PERMISSION_MODES:
        raise UserError(t("modes.unknown", name=wanted, known=", ".join(PERMISSION_MODES)))
    if wanted == "bypassPermissions" and not context.session.allow_bypass:
        raise UserError(t("modes.bypass"))
    context.session.set_mode(wanted)
    return CommandResult(t("modes.now", mode=wanted, about=t(f"mode.{wanted}")))


COMMAND = Command("mode", "Change how permission is given", run, argument_hint="[mode]", while_running=True)
