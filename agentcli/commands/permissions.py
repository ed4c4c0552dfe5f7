"""``/permissions [test CALL]``: which rules hold and where they come from; what would be decided for a call."""

from __future__ import annotations

from agentcli.commands.base import Command, CommandContext, CommandResult
from agentcli.errors import UserError

_ORDER = ("deny", "ask", "allow")
"""In which rules are looked at: the first list that matches decides."""


async def run(context: CommandContext, arguments: str) -> CommandResult:
    word, _, call = arguments.partition(" ")
    if word == "test" and call.strip():
        return CommandResult(_test(context, call.strip()))
    if arguments:
        raise UserError(context.texts("rules.usage", given=arguments))
    gate, t = context.session.gate, context.texts
    lines = [t("rules.mode", mode=gate.mode, about=t(f"mode.{gate.mode}"))]
    for behavior in _ORDER:
        found = [rule for rule in gate.rules if rule.behavior == behavior]
        if found:
            lines += ["", f"**{behavior}**", "", *(f"- `{rule.text}` ({rule.origin})" for rule in found)]
    if not gate.rules:
        lines += ["", t("rules.none")]
    roots = context.session.workspace.roots
    lines += ["", f"**{t('rules.directories')}**", "", *(f"- `{root}`" for root in roots)]
    lines += [f"\n**{t('rules.warning')}** {text}" for text in gate.warnings]
    return CommandResult("\n".join(lines))


def _test(context: CommandContext, call: str) -> str:
    from agentcli.permissions.explain import explain

    return f"```\n{explain(call, context.session.gate.policy())}\n```"


COMMAND = Command(
    "permissions",
    "Which rules hold, and where they come from",
    run,
    aliases=("allowed-tools",),
    argument_hint="[test CALL]",
    while_running=True,
)
