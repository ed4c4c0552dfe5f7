"""``/doctor``: what is found here, what is missing, and what to do about it."""

from __future__ import annotations

from agentcli.commands.base import Command, CommandContext, CommandResult


async def run(context: CommandContext, arguments: str) -> CommandResult:
    from agentcli.runtime.doctor import examine

    lines = []
    for found in await examine(context.session.workspace.start):
        todo = f" → {found.todo}" if found.todo else ""
        state = "" if found.state == "ok" else f"{found.state.upper()}: "
        lines.append(f"- **{found.topic}:** {state}`{found.text}`{todo}")
    return CommandResult("\n".join(lines))


COMMAND = Command("doctor", "What is found here, what is missing, and what to do about it", run, while_running=True)
