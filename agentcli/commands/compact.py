"""``/compact [focus]``: replaces the conversation by a summary of it.

``--preview [focus]`` shows what would be sent and kept, ``--undo`` puts the conversation from before back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentcli.commands.base import Command, CommandContext, CommandResult
from agentcli.errors import UserError
from agentcli.i18n import Texts

if TYPE_CHECKING:
    from agentcli.agent.compact import CompactPreview


async def run(context: CommandContext, arguments: str) -> CommandResult:
    t = context.texts
    option, _, rest = arguments.strip().partition(" ")
    match option:
        case "--preview":
            preview = await context.session.agent.compact_preview(rest.strip())
            return CommandResult(_shown(preview, t) if preview else t("compact.nothing"))
        case "--undo" if not rest.strip():
            return CommandResult(_undone(context.session.undo_compaction(), t))
        case _ if option.startswith("--"):
            raise UserError(t("compact.usage", given=arguments))
        case _:
            return CommandResult("" if await context.session.compact(arguments) else t("compact.nothing"))


def _undone(tokens: int | None, t: Texts) -> str:
    if tokens is None:
        return t("compact.no_undo")
    return t("compact.undone", tokens=f"{tokens:,}")


def _shown(preview: CompactPreview, t: Texts) -> str:
    from agentcli.model.report import table

    rows = [(words.replace("|", "\\|"), f"~{count:,}") for words, count in preview.kept]
    figures = {"before": preview.before, "kept": preview.kept_tokens, "sent": preview.sent}
    head = t("compact.preview", **{name: f"{count:,}" for name, count in figures.items()})
    lines = [
        head,
        "",
        "````",
        preview.instruction,
        "````",
        "",
        *(table((t("compact.kept"), t("column.tokens")), rows) if rows else [t("compact.kept.none")]),
        "",
        t("compact.unchanged"),
    ]
    return "\n".join(lines)


COMMAND = Command(
    "compact", "Replace the conversation by a summary of it", run, argument_hint="[focus | --preview | --undo]"
)
