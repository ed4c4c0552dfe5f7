"""``/doctor``: what is found here, what is missing, and what to do about it."""

from __future__ import annotations

from agentcli.commands.base import Command, CommandContext, CommandResult

_STATES = {"note": "doctor.note", "missing": "doctor.missing"}


async def run(context: CommandContext, arguments: str) -> CommandResult:
    from agentcli.runtime.doctor import examine

    lines, t = [], context.texts
    for found in await examine(context.session.workspace.start, t):
        todo = f" → {found.todo}" if found.todo else ""
        state = "" if found.state == "ok" else f"{t(_STATES[found.state])}: "
        lines.append(f"- **{found.topic}:** {state}`{found.text}`{todo}")
    return CommandResult("\n".join(lines))


COMMAND = Command("doctor", "What is found here, what is missing, and what to do about it", run, while_running=True)
