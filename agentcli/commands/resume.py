"""``/resume [words]``: goes on with an earlier session of this directory."""

from __future__ import annotations

from datetime import datetime
from functools import partial
from pathlib import Path

from agentcli.commands.base import Command, CommandContext, CommandResult
from agentcli.errors import UserError
from agentcli.ports.frontend import Choice

_SHOWN = 12
"""Few enough that there is room for a look into the one that is chosen."""


async def run(context: CommandContext, arguments: str) -> CommandResult:
    from agentcli.sessions import search

    session, t = context.session, context.texts
    others = [info for info in session.store.list() if info.id != session.id and info.first_prompt]
    found = search(others, arguments) if arguments else others
    if not found:
        raise UserError(t("resume.no_match", words=arguments) if arguments else t("resume.none"))
    if len(found) == 1 and arguments:
        return CommandResult(resume=found[0].id)
    choices = [Choice(i.id, i.label, _when(i.modified), partial(_preview, i.path)) for i in found[:_SHOWN]]
    picked = await context.dialogs.choose(t("resume.which"), choices)
    return CommandResult(resume=picked) if picked else CommandResult()


def _preview(path: Path) -> list[str]:
    """The conversation's last words."""
    from agentcli.sessions import last_words

    return [f"{'❯' if role == 'user' else '·'} {text}" for role, text in last_words(path)]


def _when(seconds: float) -> str:
    return datetime.fromtimestamp(seconds).astimezone().strftime("%Y-%m-%d %H:%M")


COMMAND = Command("resume", "Go on with an earlier session", run, aliases=("continue",), argument_hint="[words]")
