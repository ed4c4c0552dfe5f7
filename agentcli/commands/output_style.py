"""``/output-style [NAME]``: how the agent talks.  The choice is kept in the local settings."""

from __future__ import annotations

from agentcli.commands.base import Command, CommandContext, CommandResult
from agentcli.extend.output_styles import DEFAULT
from agentcli.extend.room import Extensions
from agentcli.ports.frontend import Choice
from agentcli.settings.edit import set_value


async def run(context: CommandContext, arguments: str) -> CommandResult:
    room: Extensions | None = getattr(context.session, "extensions", None)
    if room is None:
        return CommandResult(context.texts("extensions.off"))
    room.refresh()
    t = context.texts
    now = room.output_style()
    current = now.name if now else DEFAULT
    wanted: str | None = arguments
    if not arguments:
        choices = [Choice(DEFAULT, DEFAULT, t("style.default"))]
        choices += [Choice(s.name, s.name, s.description) for s in room.styles.values()]
        wanted = await context.dialogs.choose(t("style.which"), choices, current=current)
    if not wanted or wanted.lower() == current.lower():
        return CommandResult(t("style.stays", name=current))
    style = room.output_style(wanted)
    name = style.name if style else DEFAULT
    path = next(s.path for s in context.session.world.files.sources if s.scope in ("local", "user") and s.path)
    set_value(path, "outputStyle", name)
    return CommandResult(t("style.chosen", name=name, path=path))


COMMAND = Command("output-style", "Choose how the agent talks", run, argument_hint="[name]")
