"""TodoWrite: the model's list of what is to be done, kept outside the window."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from agentcli.errors import ToolError
from agentcli.events import TodosChanged
from agentcli.messages import Json, TextBlock
from agentcli.ports.display import Todo, TodoDisplay
from agentcli.ports.tools import Todos, ToolContext, ToolResult
from agentcli.text import clean, plural
from agentcli.tools.base import BuiltinTool
from agentcli.tools.schema import param


@dataclass(frozen=True, slots=True)
class TodoItem:
    content: str = param()
    status: Literal["pending", "in_progress", "completed"] = param()
    active_form: str = param('While it is done: "Running tests"', default="", name="activeForm")


@dataclass(frozen=True, slots=True)
class TodoParams:
    todos: tuple[TodoItem, ...] = param()


class TodoList:
    """The list of one conversation, kept in memory (``ports.tools.Todos``)."""

    def __init__(self, todos: Sequence[Todo] = ()) -> None:
        self._todos = tuple(todos)

    def get(self) -> tuple[Todo, ...]:
        return self._todos

    def set(self, todos: Sequence[Todo]) -> None:
        self._todos = tuple(todos)


class TodoWrite(BuiltinTool[TodoParams]):
    """The list lives in ``ctx.services["todos"]`` (``ports.tools.Todos``)."""

    name = "TodoWrite"
    code = __file__
    key = "todos"
    kind = "write"

    def __init__(self) -> None:
        super().__init__(TodoParams)

    def title(self, input: Json) -> str:
        todos = input.get("todos") if hasattr(input, "get") else None
        return plural(len(todos), "item") if isinstance(todos, list | tuple) else ""

    async def call(self, params: TodoParams, ctx: ToolContext) -> ToolResult:
        todos = tuple(Todo(clean(t.content), t.status, clean(t.active_form)) for t in params.todos)
        empty = [i for i, t in enumerate(todos) if not t.content.strip()]
        if empty:
            raise ToolError(f"todos[{empty[0]}].content is empty. Say what is to be done. The list is unchanged.")
        kept: Todos = ctx.services["todos"]
        kept.set(todos)
        ctx.emit(TodosChanged(todos))
        return ToolResult((TextBlock(_report(todos)),), TodoDisplay(todos))


def _report(todos: tuple[Todo, ...]) -> str:
    if not todos:
        return "The todo list is empty now."
    counts = {s: sum(t.status == s for t in todos) for s in ("completed", "in_progress", "pending")}
    said = (
        f"Todo list updated: {counts['completed']} done, {counts['in_progress']} in progress, {counts['pending']} open."
    )
    if counts["in_progress"] > 1:
        said += " Better keep only one item in progress."
    return said
