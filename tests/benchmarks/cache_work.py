"""What the sessions of the cache benchmark are made of: the files, the words, and the answers of ordinary work."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeAlias

from tests.api import reply, text, thinking, tool_use
from tests.api.script import Reply, Step
from tests.e2e.harness import Stage

Play: TypeAlias = Callable[[Stage], Awaitable[None]]
LINES = 400
PROMPTS = (
    "Find where the parser loses its place, and mend it.",
    "Now the same for the writer; keep the public names as they are.",
    "Add a check for empty input to both.",
    "Read everything once more and say what is still open.",
)


def furnish(stage: Stage) -> None:
    """Files to work on: source files of some 16 KB."""
    for name in ("parser", "writer", "reader", "checks"):
        lines = [f"def {name}_{n}(value: int) -> int:  # part {n} of {name}" for n in range(LINES)]
        (stage.project / f"{name}.py").write_text("\n".join(lines) + "\n")


def step(stage: Stage, number: int) -> Reply:
    """The answer of one step of ordinary work: some thought, a word, one to three calls."""
    name = ("parser", "writer", "reader", "checks")[number % 4]
    path = str(stage.project / f"{name}.py")
    page = tool_use("Read", {"file_path": path, "offset": 1 + 40 * (number % 9), "limit": 40})
    grep = tool_use("Grep", {"pattern": f"{name}_{number}\\b", "output_mode": "content", "-n": True})
    edit = tool_use(
        "Edit",
        {"file_path": path, "old_string": f"# part {number} of {name}", "new_string": f"# mended {number} of {name}"},
    )
    calls = ([page], [page, grep], [page, edit])[number % 3]
    return reply(thinking(f"Step {number}: what does {name} do here? " * 6), text(f"I look at {name}."), *calls)


def work(stage: Stage, turn: int, *, steps: int = 10) -> list[Step]:
    """One prompt's answers: all but the last call tools."""
    return [*(step(stage, turn * steps + n) for n in range(steps - 1)), f"Prompt {turn + 1} is done."]
