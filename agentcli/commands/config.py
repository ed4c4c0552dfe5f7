"""``/config [KEY[=VALUE]]``: the settings in force and the files they come from.  A value goes to the user's file."""

from __future__ import annotations

import json

from agentcli.commands.base import Command, CommandContext, CommandResult
from agentcli.errors import UserError
from agentcli.settings.merged import Value

SCOPE = "user"


async def run(context: CommandContext, arguments: str) -> CommandResult:
    from agentcli.runtime.configure import write_setting

    world, t = context.session.world, context.texts
    key, given, text = (part.strip() for part in arguments.partition("="))
    if given:
        value, path = write_setting(world, key, text, scope=SCOPE)
        shown = json.dumps(value, ensure_ascii=False)
        return CommandResult(t("config.set", name=key, value=shown, path=path))
    values = world.settings.values()
    if key:
        values = tuple(v for v in values if v.key == key or v.key.startswith(f"{key}."))
        if not values:
            raise UserError(t("config.unset", name=key))
    return CommandResult("\n".join(map(_line, values)) or t("config.none"))


def _line(value: Value) -> str:
    return f"- `{value.key}` = `{json.dumps(value.value, ensure_ascii=False)}` ({', '.join(value.origins)})"


COMMAND = Command(
    "config",
    "The settings, and where each comes from; KEY=VALUE sets one for you",
    run,
    aliases=("settings",),
    argument_hint="[KEY[=VALUE]]",
    while_running=True,
)
