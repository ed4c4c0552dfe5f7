"""Working directories that come and go while the session runs: the model is told, and the prompt stays as it is."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentcli.ports.permissions import PermissionUpdate
from agentcli.runtime.options import Resume
from agentcli.runtime.session import Session
from tests.api import ApiServer, reply, text, tool_use
from tests.e2e.harness import Stage, front
from tests.e2e.test_subagents import task

COME = "You may work in this directory too, now: "
GONE = "This is no working directory any more: "


@pytest.fixture
def stage(home: Path, project: Path) -> Iterator[Stage]:
    with ApiServer() as api:
        yield Stage(api, home, project)
        assert api.refused == []


@pytest.fixture
def other(tmp_path: Path) -> Path:
    path = tmp_path / "other"
    path.mkdir()
    return path


def sent(stage: Stage, words: str) -> int:
    return json.dumps(stage.requests[-1].messages).count(words)


def add(session: Session, path: Path) -> None:
    session.gate.apply((PermissionUpdate("addDirectories", directories=(str(path),)),))


async def test_one_that_is_there_from_the_start_stands_in_the_prompt_alone(stage: Stage, other: Path) -> None:
    async with stage.session(add_dirs=(other,)) as session:
        await stage.say(session, "one", "1")
        await stage.say(session, "two", "2")
    assert str(other) in front(stage.requests[-1])
    assert sent(stage, COME) == 0
    async with stage.session(resume=Resume(query=session.id), add_dirs=(other,)) as again:
        await stage.say(again, "three", "3")
    assert sent(stage, COME) == 0


async def test_added_and_removed_ones_are_told_once_and_the_prompt_stays(stage: Stage, other: Path) -> None:
    async with stage.session() as session:
        add(session, other)
        await stage.say(session, "one", "1")
        await stage.say(session, "two", "2")
        assert sent(stage, f"{COME}{other}") == 1
        session.gate.apply((PermissionUpdate("removeDirectories", directories=(str(other),)),))
        await stage.say(session, "three", "3")
        assert sent(stage, f"{GONE}{other}") == 1
    assert len({front(r) for r in stage.requests}) == 1


async def test_subagents_know_of_those_that_came_meanwhile(stage: Stage, other: Path, tmp_path: Path) -> None:
    late = tmp_path / "late"
    late.mkdir()
    stage.api.lane("look there", "Looked.", "Looked again.")
    async with stage.session() as session:
        add(session, other)
        await stage.say(session, "delegate", reply(task("look there")), "Done.")
        add(session, late)
        more = tool_use("SendMessage", {"to": "agent_1", "message": "and there"})
        await stage.say(session, "go on", reply(more), "Done.")
    first, second = (r for r in stage.requests if "look there" in json.dumps(r.messages[0]))
    assert f"Additional working directories: {other}\\n" in json.dumps(first.json["system"])
    assert COME not in json.dumps(first.messages)
    assert first.json["system"] == second.json["system"]
    assert json.dumps(second.messages).count(f"{COME}{late}") == 1
    assert COME + str(other) not in json.dumps(second.messages)


async def test_a_compacted_conversation_has_them_in_its_prompt(stage: Stage, other: Path) -> None:
    async with stage.session() as session:
        await stage.say(session, "one", "a long story " * 400)
        add(session, other)
        await stage.say(session, "two", "2")
        stage.play(reply(text("A summary.")))
        assert await session.compact() is not None
        await stage.say(session, "three", "3")
    assert f"Additional working directories: {other}" in stage.requests[-1].json["system"][-1]["text"]
    assert sent(stage, COME) == 0


async def test_a_resumed_session_is_told_of_another_one(stage: Stage, other: Path) -> None:
    async with stage.session() as session:
        await stage.say(session, "one", "1")
    async with stage.session(resume=Resume(query=session.id), add_dirs=(other,)) as again:
        await stage.say(again, "two", "2")
        await stage.say(again, "three", "3")
    assert sent(stage, f"{COME}{other}") == 1


async def test_where_the_prompt_is_replaced_the_head_names_them(stage: Stage, other: Path) -> None:
    async with stage.session(system_prompt="You are a parrot.", add_dirs=(other,)) as session:
        await stage.say(session, "one", "1")
    assert sent(stage, f"Additional working directories: {other}") == 1
