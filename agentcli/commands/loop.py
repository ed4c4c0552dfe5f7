"""``/loop [INTERVAL] PROMPT``: the prompt again and again, in a copy of this conversation."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from agentcli.commands.base import Command, CommandContext, CommandResult

if TYPE_CHECKING:
    from agentcli.runtime.options import SessionOptions


async def run(context: CommandContext, arguments: str) -> CommandResult:
    from agentcli.modes.loop import parse_loop
    from agentcli.runtime.options import Resume

    plan, session = parse_loop(arguments, context.texts), context.session

    def looping(options: SessionOptions) -> SessionOptions:
        return replace(options, loop=plan, resume=Resume(query=session.id, fork=True))

    return CommandResult(change=looping)


COMMAND = Command(
    "loop",
    "Run a prompt again and again, until it is done or you press Esc",
    run,
    argument_hint="[INTERVAL] PROMPT",
)
