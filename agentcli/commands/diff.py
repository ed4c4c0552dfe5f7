"""``/diff``: what the session changed since it began; ``/diff turn``: since the last message."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agentcli.commands._files import counts, shown_path
from agentcli.commands.base import Command, CommandContext, CommandResult
from agentcli.errors import UserError
from agentcli.ports.checkpoints import FileDifference
from agentcli.text import clean

FILE_LINES = 300
ALL_LINES = 1_500
LONGEST_LINE = 500
_STEPS = {
    "created": "diff.created",
    "changed": "diff.changed",
    "removed": "diff.removed",
    "mode": "diff.mode",
}


async def run(context: CommandContext, arguments: str) -> CommandResult:
    room, t = context.session.checkpoints, context.texts
    match arguments:
        case "":
            found = await room.differences()
        case "turn":
            turns = [p for p in room.points() if p.kind == "turn"]
            found = await room.differences(turns[-1].position) if turns else ()
        case _:
            raise UserError(t("diff.usage", given=arguments))
    return CommandResult(_shown(found, context) if found else t("diff.none"))


def _shown(found: Sequence[FileDifference], context: CommandContext) -> str:
    added, removed = sum(f.added or 0 for f in found), sum(f.removed or 0 for f in found)
    parts = [f"**{context.texts('diff.files', count=len(found))}{counts(added, removed)}**"]
    room = ALL_LINES
    for file in found:
        lines, cut = _cut(file.lines, min(FILE_LINES, room))
        room -= len(lines)
        parts.append(_about(file, context))
        if lines:
            parts.append(_fenced(lines))
        if cut:
            parts.append(context.texts("diff.cut", count=f"{cut:,}"))
    return "\n\n".join(parts)


def _about(file: FileDifference, context: CommandContext) -> str:
    t = context.texts
    words = f"{shown_path(file.path, context.session)}: {t(_STEPS[file.step])}{counts(file.added, file.removed)}"
    if file.mode:
        words += t("diff.bits", before=file.mode[0], after=file.mode[1])
    if file.note:
        words += t("diff.binary" if file.note == "binary" else "diff.content")
    return words + (t("diff.foreign") if file.foreign else "")


def _cut(lines: Sequence[str], most: int) -> tuple[list[str], int]:
    """So many lines, and how many more there are."""
    shown = lines if len(lines) <= most else lines[: max(most, 0)]
    return [clean(line[:LONGEST_LINE]) + ("…" if len(line) > LONGEST_LINE else "") for line in shown], len(lines) - len(
        shown
    )


def _fenced(lines: Sequence[str]) -> str:
    longest = max((len(m) for line in lines for m in re.findall(r"`{3,}", line)), default=2)
    fence = "`" * (longest + 1)
    return "\n".join([f"{fence}diff", *lines, fence])


COMMAND = Command("diff", "Show what the session changed", run, argument_hint="[turn]", while_running=True)
