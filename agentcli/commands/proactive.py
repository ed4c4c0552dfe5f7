"""``/proactive``: the agent works on its own, in a copy of this conversation."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from agentcli.commands.base import Command, CommandContext, CommandResult
from agentcli.errors import UserError

if TYPE_CHECKING:
    from agentcli.runtime.options import SessionOptions


async def run(context: CommandContext, arguments: str) -> CommandResult:
    from agentcli.modes.select import proactive_active
    from agentcli.runtime.options import Resume

    session = context.session
    if not proactive_active(session.world.features, active=True):
        raise UserError(context.texts("proactive.needs"))

    def alone(options: SessionOptions) -> SessionOptions:
        return replace(options, proactive=True, resume=Resume(query=session.id, fork=True))

    return CommandResult(change=alone)


COMMAND = Command("proactive", "Let the agent work on its own until its budget is used up or you press Esc", run)
