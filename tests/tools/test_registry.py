"""What the model reads of the tools; the goldens show every byte of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from agentcli.ports.tools import Tool
from agentcli.processes import ProcessManager
from agentcli.tools.bash_shell import Shell
from agentcli.tools.jobs import JobTable
from agentcli.tools.registry import builtin_tools

MAX_BYTES = 7 * 1024


@pytest.fixture
def tools(project: Path) -> tuple[Tool, ...]:
    manager = ProcessManager(directory=project)
    shell = Shell(manager, project)
    return builtin_tools(shell, JobTable(shell, manager, lambda event: None))


def rendered(tool: Tool) -> dict[str, Any]:
    spec = tool.spec
    return {"name": spec.name, "description": spec.description, "input_schema": spec.input_schema}


def test_the_order_is_fixed(tools: tuple[Tool, ...]) -> None:
    front = ["Bash", "Read", "Write", "Edit", "Glob", "Grep", "TodoWrite", "Agent", "Skill"]
    behind = [
        "BashOutput",
        "KillShell",
        "NotebookEdit",
        "WebFetch",
        "WebSearch",
        "SendMessage",
        "TaskStop",
        "AskUserQuestion",
        "ExitPlanMode",
    ]
    assert [t.spec.name for t in tools] == [*front, *behind, "Sleep"]
    assert [t.spec.name for t in tools if t.spec.deferred] == behind


def test_what_the_model_reads(tools: tuple[Tool, ...], golden: Callable[[str, str], None]) -> None:
    golden("tools.json", json.dumps([rendered(t) for t in tools], indent=2, ensure_ascii=False) + "\n")


def test_the_tools_in_front_are_small_together(tools: tuple[Tool, ...]) -> None:
    front = [rendered(t) for t in tools if not t.spec.deferred]
    assert len(json.dumps(front, ensure_ascii=False).encode()) <= MAX_BYTES


def test_schemas_are_valid_and_bytes_are_constant(tools: tuple[Tool, ...]) -> None:
    for tool in tools:
        jsonschema.Draft202012Validator.check_schema(tool.spec.input_schema)
        assert json.dumps(rendered(tool)) == json.dumps(rendered(tool))
        assert tool.spec.description == tool.spec.description.strip()


@pytest.mark.parametrize("input", [{}, {"file_path": 3, "command": None, "todos": [1], "pattern": ["x"]}])
def test_titles_never_fail(tools: tuple[Tool, ...], input: dict[str, Any]) -> None:
    for tool in tools:
        assert "\n" not in tool.title(input)
        assert tool.effect(input) in ("read", "write", "agent")


def test_every_tool_has_its_words_beside_its_code() -> None:
    folder = Path(__file__).parents[2] / "agentcli" / "tools"
    for words in folder.glob("*.md"):
        assert words.with_suffix(".py").exists()
