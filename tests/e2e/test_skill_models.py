"""Model and effort that skills and custom commands bring: on the wire for their turn, named, priced, and gone after."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agentcli.events import FromSubagent, ModelChanged, Notice
from agentcli.ports.frontend import UserInput
from agentcli.runtime.session import Session
from agentcli.sessions import load
from tests.api import ApiServer, Gate, Request, after, reply, tool_use
from tests.e2e.harness import NEWEST, Stage, until
from tests.extend.worlds import command, skill

SONNET, OPUS, HAIKU = "claude-sonnet-5-5", "claude-opus-5-5", "claude-haiku-5-5"
LONG = "A long question about the code of this place. " * 300


@pytest.fixture
def stage(home: Path, project: Path) -> Iterator[Stage]:
    command(project, "review", "---\ndescription: Reviews\nmodel: opus\neffort: high\n---\nReview $ARGUMENTS.")
    command(project, "think", "---\neffort: high\n---\nThink hard.")
    command(project, "odd", "---\nmodel: no such model\n---\nGo on.")
    skill(project, "quick", "Be quick.", description="Quick work", model="haiku")
    skill(project, "apart", "Work apart.", description="Apart", model="haiku", effort="low", context="fork")
    with ApiServer() as api:
        yield Stage(api, home, project)
        assert api.refused == []


async def typed(session: Session, line: str) -> UserInput:
    found = await session.extensions.typed(line)
    assert found is not None
    return UserInput(found.text)


def effort(request: Request) -> Any:
    return (request.json.get("output_config") or {}).get("effort")


def told(stage: Stage) -> list[str]:
    return [e.text for e in stage.heard if isinstance(e, Notice) and e.code == "skill_model"]


async def test_a_command_s_model_and_effort_hold_for_its_turn_alone(stage: Stage) -> None:
    async with stage.session(model="sonnet") as session:
        await stage.say(session, LONG, "I have read it.")
        price = session.switch_price("opus")
        stage.play(reply(tool_use("Glob", {"pattern": "*.py"})), "Reviewed.")
        assert (await session.run(await typed(session, "/review a.py"))).text == "Reviewed."
        named = [o.cause for o in session.monitor.breaks]
        await stage.say(session, "thanks", "You are welcome.")
        back = session.monitor.last
        assert (session.state.model, session.state.effort) == (SONNET, None)
    requests = stage.requests
    assert [(r.model, effort(r)) for r in requests] == [
        (SONNET, None),
        (OPUS, "high"),
        (OPUS, "high"),
        (SONNET, None),
    ]
    assert told(stage) == [f"review runs the rest of this turn on {OPUS}, effort high; that {price.line()}."]
    assert price.tokens > 1_000
    assert named == [f"model changed ({SONNET} to {OPUS}) by the skill review"]
    assert back is not None
    assert back.cause in ("", f"model changed ({OPUS} to {SONNET}) by the end of the skill's turn")
    changed = [(e.model, e.effort, e.for_turn) for e in stage.heard if isinstance(e, ModelChanged)]
    assert changed == [(OPUS, "high", True), (SONNET, None, False)]
    # What the session's own model had cached before is still its own.
    assert requests[3].cache is not None
    assert requests[3].cache.read >= requests[0].cache.written > 0  # type: ignore[union-attr]
    # The prompt names the model that reads it.
    assert OPUS in requests[1].system_text
    assert requests[3].system_text == requests[0].system_text


async def test_an_effort_alone_is_a_switch_too(stage: Stage) -> None:
    async with stage.session(model="sonnet") as session:
        await stage.say(session, LONG, "I have read it.")
        stage.play("Thought.")
        await session.run(await typed(session, "/think"))
        assert session.monitor.breaks[-1].cause == "effort changed (default to high) by the skill think"
        await stage.say(session, "and?", "That is all.")
    assert [(r.model, effort(r)) for r in stage.requests] == [(SONNET, None), (SONNET, "high"), (SONNET, None)]


async def test_a_skill_that_the_model_invokes_changes_the_rest_of_the_turn(stage: Stage) -> None:
    async with stage.session(model="sonnet") as session:
        await stage.say(session, "be quick", reply(tool_use("Skill", {"skill": "quick"})), "Done.")
        await stage.say(session, "and now?", "Slowly again.")
    assert [r.model for r in stage.requests] == [SONNET, HAIKU, SONNET]


async def test_the_turn_that_is_interrupted_gives_it_back_too(stage: Stage) -> None:
    async with stage.session(model="sonnet") as session:
        stage.api.play(after(Gate(), "never"))
        prompt = await typed(session, "/review a.py")
        stage.heard.clear()
        turn = asyncio.create_task(session.run(prompt))
        await until(lambda: bool(stage.api.requests))
        session.interrupt()
        assert (await turn).outcome == "interrupted"
        await stage.say(session, "never mind", "Fine.")
    assert [r.model for r in stage.api.requests] == [OPUS, SONNET]


async def test_a_model_that_there_is_not_is_told_and_the_turn_goes_on(stage: Stage) -> None:
    async with stage.session(model="sonnet") as session:
        stage.play("Going.")
        assert (await session.run(await typed(session, "/odd"))).text == "Going."
    assert [r.model for r in stage.requests] == [SONNET]
    (warning,) = told(stage)
    assert warning.startswith("The front matter of odd is not followed: ")
    assert warning.endswith(f"The turn runs on {SONNET}.")


async def test_a_skill_of_a_subagent_changes_the_model_of_its_task_and_of_nothing_else(stage: Stage) -> None:
    stage.api.lane("use the skill", reply(tool_use("Skill", {"skill": "quick"})), "Used.", "Went on.")
    work = tool_use("Agent", {"description": "x", "prompt": "use the skill", "subagent_type": "general-purpose"})
    async with stage.session(model="sonnet") as session:
        await stage.say(session, "delegate", reply(work), "It did.")
        more = tool_use("SendMessage", {"to": "agent_1", "message": "go on"})
        await stage.say(session, "more", reply(more), "It did.")
        assert session.state.model == SONNET
    theirs = [r for r in stage.requests if "use the skill" in json.dumps(r.messages[0])]
    assert [r.model for r in theirs] == [SONNET, HAIKU, SONNET]
    assert [HAIKU in r.system_text for r in theirs] == [False, True, False]
    assert {r.model for r in stage.requests if r not in theirs} == {SONNET}
    named = [e.event.text for e in stage.heard if isinstance(e, FromSubagent) and isinstance(e.event, Notice)]
    assert [text.partition(";")[0] for text in named] == [f"quick runs the rest of this turn on {HAIKU}"]


async def test_the_environment_s_model_for_subagents_is_kept(stage: Stage) -> None:
    stage.environment["CLAUDE_CODE_SUBAGENT_MODEL"] = "opus"
    stage.api.lane("use the skill", reply(tool_use("Skill", {"skill": "quick"})), "Used.")
    work = tool_use("Agent", {"description": "x", "prompt": "use the skill", "subagent_type": "general-purpose"})
    async with stage.session(model="sonnet") as session:
        await stage.say(session, "delegate", reply(work), "It did.")
    assert [r.model for r in stage.requests] == [SONNET, OPUS, OPUS, SONNET]


async def test_a_forked_skill_takes_model_and_effort_along_to_its_subagent(stage: Stage) -> None:
    stage.api.lane("Work apart.", "Worked.")
    async with stage.session(model="sonnet") as session:
        await stage.say(session, "go", reply(tool_use("Skill", {"skill": "apart"})), "It did.")
    assert [(r.model, effort(r)) for r in stage.requests] == [(SONNET, None), (HAIKU, "low"), (SONNET, None)]


async def test_a_session_that_died_in_such_a_turn_resumes_with_its_own_model(stage: Stage) -> None:
    async with stage.session(model="sonnet") as session:
        await stage.say(session, "hello", "Hello.")
        stage.play("Reviewed.")
        await session.run(await typed(session, "/review a.py"))
        path = session.opened.path
        assert path is not None
    lines = path.read_text().splitlines()
    models = [n for n, line in enumerate(lines) if json.loads(line)["kind"] == "model"]
    assert len(models) == 2
    path.write_text("\n".join(lines[: models[1]]) + "\n")  # as a kill in the turn leaves it
    assert (load(path).model, load(path).effort) == (SONNET, None)
    async with stage.session(resume=NEWEST) as again:
        await stage.say(again, "go on", "Going on.")
    assert stage.requests[-1].model == SONNET
