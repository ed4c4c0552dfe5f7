"""``/compact [focus]``: replaces the conversation by a summary of it.

``--preview [focus]`` shows what would be sent and kept, ``--undo`` puts the conversation from before back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentcli.commands.base import Command, CommandContext, CommandResult
from agentcli.errors import UserError

if TYPE_CHECKING:
    from agentcli.agent.compact import CompactPreview

_NOTHING = "There is nothing to summarise yet."


async def run(context: CommandContext, arguments: str) -> CommandResult:
    option, _, rest = arguments.strip().partition(" ")
    match option:
        case "--preview":
            preview = await context.session.agent.compact_preview(rest.strip())
            return CommandResult(_shown(preview) if preview else _NOTHING)
        case "--undo" if not rest.strip():
            return CommandResult(_undone(context.session.undo_compaction()))
        case _ if option.startswith("--"):
            raise UserError(f"/compact does not know {arguments!r}. It takes words, --preview [words], or --undo.")
        case _:
            return CommandResult("" if await context.session.compact(arguments) else _NOTHING)


def _undone(tokens: int | None) -> str:
    if tokens is None:
        return "There is no compaction to take back."
    return (
        f"The conversation from before the compaction is back (about {tokens:,} tokens). What was said since is no "
        "longer part of it; the session file keeps it."
    )


def _shown(preview: CompactPreview) -> str:
    from agentcli.model.report import table

    rows = [(words.replace("|", "\\|"), f"~{count:,}") for words, count in preview.kept]
    head = (
        f"**~{preview.before:,} tokens would become a summary and ~{preview.kept_tokens:,} tokens kept word for word.**"
        f" The request for the summary has ~{preview.sent:,} tokens: all that was sent before and this instruction."
    )
    lines = [
        head,
        "",
        "````",
        preview.instruction,
        "````",
        "",
        *(table(("kept beside the summary", "tokens"), rows) if rows else ["Nothing is kept beside the summary."]),
        "",
        "Nothing was changed. `/compact` does it; `/compact --undo` takes it back.",
    ]
    return "\n".join(lines)


COMMAND = Command(
    "compact", "Replace the conversation by a summary of it", run, argument_hint="[focus | --preview | --undo]"
)
