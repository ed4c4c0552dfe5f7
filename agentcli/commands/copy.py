"""``/copy [n]``: the last answer, or its nth code block, for the clipboard."""

from __future__ import annotations

import re

from agentcli.commands.base import Command, CommandContext, CommandResult
from agentcli.errors import UserError

_FENCE = re.compile(r"^(`{3,}|~{3,})[^\n]*\n(.*?)^\1[`~]*[ \t]*$", re.MULTILINE | re.DOTALL)


async def run(context: CommandContext, arguments: str) -> CommandResult:
    state = context.session.state
    # Right behind a compaction the last answer stands in the conversation before it.
    talks = (state.messages, *(earlier.messages for earlier in reversed(state.earlier)))
    answers = (m.text() for talk in talks for m in reversed(talk) if m.role == "assistant")
    answer = next((text for text in answers if text.strip()), "")
    if not answer:
        raise UserError(context.texts("copy.none"))
    if not arguments:
        return CommandResult(copy=answer.strip())
    blocks = [found[2] for found in _FENCE.finditer(answer)]
    if not arguments.isdecimal() or not 1 <= int(arguments) <= len(blocks):
        raise UserError(context.texts("copy.usage", given=arguments, count=len(blocks)))
    return CommandResult(copy=blocks[int(arguments) - 1])


COMMAND = Command(
    "copy", "Copy the last answer, or its nth code block", run, argument_hint="[block]", while_running=True
)
