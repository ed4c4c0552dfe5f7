"""``/help``: commands and keys."""

from __future__ import annotations

from agentcli.commands.base import Command, CommandContext, CommandResult

_KEYS = ("newline", "first", "escape", "cancel", "mode", "history", "editor", "todos")


async def run(context: CommandContext, arguments: str) -> CommandResult:
    t = context.texts
    wanted = [c for c in context.commands if not arguments or arguments.lstrip("/") in (c.name, *c.aliases)]
    lines = [f"**{t('help.commands')}**", ""]
    for command in wanted or context.commands:
        name = f"/{command.name} {command.argument_hint}".rstrip()
        others = "".join(f", `/{alias}`" for alias in command.aliases)
        lines.append(f"- `{name}`{others}: {t.optional(f'command.{command.name}', command.description)}")
    if not arguments:
        lines += ["", f"**{t('help.keys')}**", "", *(f"- {t(f'help.key.{key}')}" for key in _KEYS)]
    return CommandResult("\n".join(lines))


COMMAND = Command("help", "Commands and keys", run, argument_hint="[command]", while_running=True)
