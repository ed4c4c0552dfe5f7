"""The main thread in its plain modes, on the wire: interactive, print, and as an agent of its own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.api import ApiServer, Gate, after, reply, tool_use
from tests.e2e.harness import NEWEST, Stage, front
from tests.extend.worlds import agent

CORE = ["Bash", "Read", "Write", "Edit", "Glob", "Grep", "TodoWrite", "Agent"]
PRINT = {"interactive": False, "query_source": "print"}


@pytest.fixture
def stage(home: Path, project: Path) -> Iterator[Stage]:
    with ApiServer() as api:
        yield Stage(api, home, project)
        assert api.refused == []


def background(prompt: str) -> object:
    order = {"description": "x", "prompt": prompt, "run_in_background": True, "subagent_type": "explore"}
    return tool_use("Agent", order)


async def test_interactive_and_print_are_the_same_agent_and_share_the_cache(stage: Stage) -> None:
    async with stage.session() as session:
        await stage.say(session, "hi", "hello")
        assert await session.waking.next_if_any() is None  # the user begins every turn
    async with stage.session(**PRINT) as session:
        await stage.say(session, "hi", "hello")
    first, second = stage.requests
    assert first.system_text.startswith("You are agentcli, an interactive coding agent for the terminal.")
    for request in (first, second):
        assert request.tool_names[: len(CORE)] == CORE
        assert not {"Sleep", "SendMessage", "ExitPlanMode"} & set(request.tool_names)
    assert first.json["system"][0] == second.json["system"][0]
    assert first.tools == second.tools


async def test_who_waits_for_a_background_agent(stage: Stage) -> None:
    gate = Gate()
    stage.api.lane("slow work", after(gate, "The report."))
    async with stage.session() as session:
        # At a terminal the turn is over at once; the report begins one of its own.
        await stage.say(session, "go", reply(background("slow work")), "It runs.")
        gate.open()
        prompt = await session.waking.next_if_any()
        assert prompt is not None
        await stage.say(session, prompt.text, "It is back.")
    assert "The report." in stage.requests[-1].last_text
    stage.api.lane("more work", "Another report.")
    async with stage.session(**PRINT) as session:
        # Nobody would run another turn here, so this one waits.
        done = await stage.say(session, "go", reply(background("more work")), "It runs.", "It is back.")
    assert done.text == "It is back."
    assert any("Another report." in r.last_text for r in stage.requests)


async def test_an_agent_on_the_main_thread(stage: Stage) -> None:
    agent(stage.project, "guard", "You guard the gate.", tools="Read, Grep", model="haiku")
    write = tool_use("Write", {"file_path": str(stage.project / "a.txt"), "content": "x"})
    async with stage.session(agent="guard") as session:
        await stage.say(session, "who are you?", reply(write), "I guard.")
    first, second = stage.requests
    assert (first.system_text, first.model) == ("You guard the gate.", "claude-haiku-5-5")
    assert first.tool_names == ["Read", "Grep"]
    assert "There is no tool called 'Write'" in json.dumps(second.messages[-1])
    assert not (stage.project / "a.txt").exists()
    async with stage.session(resume=NEWEST) as session:  # it stays who it was
        await stage.say(session, "and now?", "Still I.")
    assert front(stage.requests[-1]) == front(first)


async def test_an_agent_of_the_command_line_and_one_that_there_is_not(stage: Stage) -> None:
    agents = json.dumps({"poet": {"description": "Writes", "prompt": "You write poems.", "tools": ["Read"]}})
    async with stage.session(agent="poet", agents=agents) as session:
        await stage.say(session, "write", "A poem.")
    assert stage.requests[-1].system_text == "You write poems."
    with pytest.raises(Exception, match="--agent nobody"):
        await stage.open(agent="nobody")
