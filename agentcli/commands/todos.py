"""``/todos``: the agent's todo list."""

from __future__ import annotations

from agentcli.commands.base import Command, CommandContext, CommandResult

_BOX = {"pending": "[ ]", "in_progress": "[>]", "completed": "[x]"}


async def run(context: CommandContext, arguments: str) -> CommandResult:
    todos = context.session.state.todos
    if not todos:
        return CommandResult(context.texts("todos.none") + ".")
    return CommandResult("\n".join(f"- {_BOX[t.status]} {t.content}" for t in todos))


COMMAND = Command("todos", "Show the todo list", run, while_running=True)
