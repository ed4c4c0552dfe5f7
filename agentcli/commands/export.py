"""``/export [file]``: writes the conversation as Markdown (``.json``: as it was sent)."""

from __future__ import annotations

import os
from pathlib import Path

from agentcli.commands.base import Command, CommandContext, CommandResult
from agentcli.errors import UserError


async def run(context: CommandContext, arguments: str) -> CommandResult:
    from agentcli.sessions import load, to_json, to_markdown

    session, t = context.session, context.texts
    found = next((info for info in session.store.list() if info.id == session.id), None)
    if found is None:
        raise UserError(t("export.unstored"))
    name = arguments or f"session-{session.id[:8]}.md"
    path = session.workspace.resolve(name)
    if os.path.exists(path) and not await context.dialogs.confirm(t("export.overwrite", path=path)):
        return CommandResult(t("export.nothing"))
    loaded = load(found.path)
    try:
        _write(path, to_json(loaded) if path.suffix == ".json" else to_markdown(loaded))
    except OSError as error:
        raise UserError(t("export.failed", path=path, error=error.strerror or error)) from error
    return CommandResult(t("export.written", path=path))


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", errors="replace")


COMMAND = Command("export", "Write the conversation to a file", run, argument_hint="[file]")
