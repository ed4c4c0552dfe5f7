"""``/theme [name]``: the interface's colours, kept in the user's settings."""

from __future__ import annotations

from agentcli.commands.base import Command, CommandContext, CommandResult
from agentcli.errors import SettingsError, UserError
from agentcli.ports.frontend import Choice
from agentcli.settings.edit import set_value

THEMES = ("dark", "light", "daltonised", "none")


async def run(context: CommandContext, arguments: str) -> CommandResult:
    t, files = context.texts, context.session.world.files
    now = context.session.world.settings.text("theme") or ""
    wanted: str | None = arguments.strip().lower()
    if not wanted:
        choices = [Choice(name, name, t(f"theme.{name}")) for name in THEMES]
        wanted = await context.dialogs.choose(t("theme.which"), choices, current=now)
    if not wanted:
        return CommandResult()
    if wanted not in THEMES:
        raise UserError(t("theme.unknown", name=wanted, known=", ".join(THEMES)))
    path = next((s.path for s in files.sources if s.scope == "user" and s.path), None)
    if path is None:
        return CommandResult(t("theme.session", name=wanted), theme=wanted)
    try:
        set_value(path, "theme", wanted)
    except SettingsError as error:
        return CommandResult(f"{t('theme.session', name=wanted)} {error}", theme=wanted)
    return CommandResult(t("theme.kept", name=wanted, path=path), theme=wanted)


COMMAND = Command("theme", "Choose the colours of the interface", run, argument_hint="[name]", while_running=True)
