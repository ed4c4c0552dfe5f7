from __future__ import annotations

from agentcli.events import TodosChanged
from agentcli.messages import TextBlock
from agentcli.ports.display import Todo, TodoDisplay
from agentcli.ports.tools import ToolResult
from agentcli.tools.todo_write import TodoWrite
from tests.tools.bench import Bench

ITEMS = [
    {"content": "Read", "status": "completed"},
    {"content": "Edit", "status": "in_progress", "activeForm": "Editing"},
    {"content": "Test", "status": "pending"},
]
TODOS = (Todo("Read", "completed"), Todo("Edit", "in_progress", "Editing"), Todo("Test", "pending"))


async def test_the_list_is_kept_shown_and_announced(bench: Bench) -> None:
    assert await bench.call("TodoWrite", todos=ITEMS) == ToolResult(
        (TextBlock("Todo list updated: 1 done, 1 in progress, 1 open."),), TodoDisplay(TODOS)
    )
    assert bench.todos.get() == TODOS
    assert bench.events == [TodosChanged(TODOS)]
    assert await bench.text("TodoWrite", todos=[]) == "The todo list is empty now."
    assert bench.todos.get() == ()


async def test_one_item_in_progress_is_advised_not_forced(bench: Bench) -> None:
    two = [{"content": c, "status": "in_progress"} for c in "ab"]
    assert (await bench.text("TodoWrite", todos=two)).endswith("Better keep only one item in progress.")
    assert len(bench.todos.get()) == 2


async def test_a_wrong_list_changes_nothing(bench: Bench) -> None:
    await bench.call("TodoWrite", todos=ITEMS)
    assert "must be one of pending, in_progress, completed" in await bench.error(
        "TodoWrite", todos=[{"content": "x", "status": "done"}]
    )
    assert "todos[1].content is empty" in await bench.error("TodoWrite", todos=[ITEMS[0], {**ITEMS[2], "content": " "}])
    assert bench.todos.get() == TODOS
    assert len(bench.events) == 1


def test_the_title_counts_and_never_fails() -> None:
    tool = TodoWrite()
    assert [tool.title(i) for i in ({"todos": ITEMS}, {"todos": "x"}, {}, {"todos": None})] == ["3 items", "", "", ""]
