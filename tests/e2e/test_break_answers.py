"""What a model should never send, and sends: the session goes on, and the request that follows is one the API takes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.api import ApiServer, reply, tool_use
from tests.e2e.harness import Stage

DEEP = '{"command": ' + "[" * 400 + "]" * 400 + "}"


@pytest.fixture
def stage(api: ApiServer, home: Path, project: Path) -> Stage:
    return Stage(api, home, project)


@pytest.mark.parametrize(
    ("name", "kept"), [("", "unnamed"), ("Ba sh\n", "Ba_sh_"), ("größe." * 50, "gr__e_" * 21 + "gr")]
)
async def test_a_call_without_a_usable_name_does_not_poison_the_conversation(
    name: str, kept: str, stage: Stage
) -> None:
    async with stage.session() as session:
        await stage.say(session, "go", reply(tool_use(name, {})), "I see.")
    _, second = stage.requests
    assert [b["name"] for b in second.blocks(role="assistant") if b["type"] == "tool_use"] == [kept]
    assert [r["is_error"] for r in second.tool_results] == [True]


async def test_an_input_without_a_bottom_is_an_error_for_the_model(stage: Stage) -> None:
    async with stage.session() as session:
        await stage.say(session, "go", reply(tool_use("Bash", raw=DEEP)), "I see.")
    assert "deeper than 100 levels" in stage.requests[1].last_text


async def test_a_path_with_a_nul_character_is_an_error_for_the_model(stage: Stage) -> None:
    calls = [
        tool_use("Read", {"file_path": "a\0b"}),
        tool_use("Edit", {"file_path": "a\0b", "old_string": "x", "new_string": "y"}),
        tool_use("Write", {"file_path": "a\0b", "content": "x"}),
        tool_use("Glob", {"pattern": "*", "path": "a\0b"}),
        tool_use("Grep", {"pattern": "x", "path": "a\0b"}),
        tool_use("NotebookEdit", {"notebook_path": "a\0b.ipynb", "new_source": "x"}),
    ]
    async with stage.session() as session:
        await stage.say(session, "go", reply(*calls), "I see.")
    told = [r["content"][0]["text"] for r in stage.requests[1].tool_results]
    assert told == ["The path holds a NUL character. Give the path without it."] * len(calls)


async def test_a_pattern_with_a_nul_character_is_an_error_for_the_model(stage: Stage) -> None:
    calls = [tool_use("Grep", {"pattern": "a\0b"}), tool_use("Glob", {"pattern": "/\0/*"})]
    async with stage.session() as session:
        await stage.say(session, "go", reply(*calls), "I see.")
    told = [r["content"][0]["text"] for r in stage.requests[1].tool_results]
    assert told[0] == r"A NUL character can't be searched for as it is. In the pattern, write \x00."
    assert all("fault of the tool" not in t for t in told)
