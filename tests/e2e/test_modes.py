"""Coordinator, loop, plan and proactive mode on the wire: the right prompt, the right tools, and who takes a turn."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from agentcli.events import Notice
from agentcli.modes.coordinator import COORDINATOR_TOOLS, coordinator_system_prompt
from agentcli.modes.loop import Loop, LoopPlan
from agentcli.modes.proactive import proactive_words
from agentcli.ports.frontend import UserInput
from agentcli.ports.tools import Question
from agentcli.runtime.looping import SessionTurns
from agentcli.runtime.options import Resume
from agentcli.runtime.session import Session
from agentcli.tools.exit_plan_mode import ACCEPT_EDITS, ASK_EDITS, REFUSE
from tests.api import ApiServer, Gate, Request, after, reply, tool_use
from tests.e2e.harness import Stage, until
from tests.e2e.program import run

COORDINATOR = {"AGENTCLI_FEATURE_COORDINATOR_MODE": "1", "CLAUDE_CODE_COORDINATOR_MODE": "1"}


@pytest.fixture
def stage(home: Path, project: Path) -> Iterator[Stage]:
    with ApiServer() as api:
        yield Stage(api, home, project)
        assert api.refused == []


class Person:
    """Answers every question with the same words."""

    def __init__(self, answer: str) -> None:
        self.answer = answer
        self.asked: list[tuple[str, str]] = []

    async def ask(self, questions: Sequence[Question]) -> Mapping[str, Any]:
        self.asked += [(q.question, q.about) for q in questions]
        return {q.question: self.answer for q in questions}


def result(request: Request) -> str:
    return json.dumps(request.messages[-1]["content"])


# --- coordinator ----------------------------------------------------------------------------------------------------


async def test_a_coordinator_delegates_and_its_workers_have_everything(stage: Stage) -> None:
    stage.environment |= COORDINATOR
    (stage.project / "CLAUDE.md").write_text("MARK_memory\n")
    write = tool_use("Write", {"file_path": str(stage.project / "new.txt"), "content": "x\n"})
    stage.api.lane("write new.txt", reply(write), "Written.")
    work = tool_use("Agent", {"description": "write", "prompt": "write new.txt"})
    async with stage.session() as session:
        await stage.say(session, "make new.txt", reply(work), "A worker wrote it.")
        by_itself = tool_use("Write", {"file_path": str(stage.project / "own.txt"), "content": "x\n"})
        await stage.say(session, "and own.txt yourself", reply(by_itself), "I can't.")
    requests = stage.requests
    main, worker = requests[0], requests[1]
    assert main.system_text == await coordinator_system_prompt()
    assert set(main.tool_names) == set(COORDINATOR_TOOLS)
    assert "MARK_memory" in json.dumps(main.messages[0])
    assert {"Bash", "Write", "Edit"} <= set(worker.tool_names)
    assert (stage.project / "new.txt").exists()
    assert not (stage.project / "own.txt").exists()
    assert "There is no tool called 'Write'" in result(requests[-1])


# --- loop -----------------------------------------------------------------------------------------------------------


def loop_of(session: Session, **plan: Any) -> Loop:
    turns = SessionTurns(session, session.agent, session.ledger)
    return Loop(turns, LoopPlan(prompt="mend a test", **plan), session.world.clock)


async def looping(stage: Stage) -> Session:
    return await stage.open(loop=LoopPlan(prompt="mend a test"))


async def test_a_loop_runs_until_the_model_says_that_it_is_done(stage: Stage) -> None:
    session = await looping(stage)
    stage.play("One mended.", "Another mended.", "All pass.\n\nLOOP_DONE")
    end = await loop_of(session).run()
    await session.close()
    assert (end.reason, end.rounds) == ("done", 3)
    requests = stage.requests
    assert requests[0].system_text.startswith("You are agentcli, a coding agent, and you run in a loop")
    assert f"Primary working directory: {stage.project}" in requests[0].system_text
    assert [m["content"][0]["text"] for m in requests[2].messages if m["role"] == "user"] == ["mend a test"] * 3
    assert [r.cache.lost for r in requests if r.cache] == [0, 0, 0]


@pytest.mark.parametrize(
    ("plan", "reason", "rounds"),
    [
        ({"rounds": 2}, "rounds", 2),
        ({"usd": 0.001}, "money", 1),
        ({"seconds": 25.0}, "time", 3),
        ({"interval": 600.0, "seconds": 1000.0}, "time", 2),
    ],
)
async def test_a_loop_keeps_its_bounds(stage: Stage, plan: dict[str, Any], reason: str, rounds: int) -> None:
    session = await looping(stage)
    stage.play(*["Not yet."] * 5)
    end = await loop_of(session, **plan).run()
    await session.close()
    assert (end.reason, end.rounds) == (reason, rounds)


async def test_an_interrupted_round_ends_the_loop(stage: Stage) -> None:
    session = await looping(stage)
    stage.play(after(Gate(), "never"))
    task = asyncio.create_task(loop_of(session).run())
    await until(lambda: bool(stage.api.requests))
    session.interrupt()
    end = await task
    await session.close()
    assert (end.reason, end.rounds) == ("stopped", 1)


async def test_a_front_end_runs_the_rounds_of_a_loop_that_forks_the_conversation(stage: Stage) -> None:
    async with stage.session() as first:
        await stage.say(first, "remember 42", "Remembered.")
    plan = LoopPlan(prompt="mend a test", interval=60)
    async with stage.session(loop=plan, resume=Resume(query=first.id, fork=True)) as session:
        for words in ("One.", "Two.\nLOOP_DONE"):
            prompt = await asyncio.wait_for(session.waking.next(), 60)
            await stage.say(session, prompt.text, words)
        last = asyncio.create_task(session.waking.next())
        await until(lambda: any(isinstance(e, Notice) and e.code == "ticks_over" for e in stage.heard))
        last.cancel()
        assert session.waking.ticker is not None
        assert session.waking.ticker.over == "The loop has ended after 2 rounds: done."
        assert session.id != first.id
    requests = stage.requests
    assert requests[1].system_text.startswith("You are agentcli, a coding agent, and you run in a loop")
    assert "remember 42" in json.dumps(requests[1].messages[0])
    assert requests[2].at - requests[1].at >= 60


def test_the_loop_of_the_command_line(stage: Stage) -> None:
    env = {"HOME": str(stage.home), "ANTHROPIC_BASE_URL": stage.api.url, "ANTHROPIC_API_KEY": stage.api.key}
    stage.api.play("One.", "Two.\nLOOP_DONE")
    done = run("loop", "count up", "--rounds", "5", cwd=stage.project, env=env)
    assert (done.code, done.out) == (0, "One.\nTwo.\nLOOP_DONE\n")
    assert "done after 2 rounds" in done.err
    bad = run("loop", "x", "--every", "soon", cwd=stage.project, env=env)
    assert (bad.code, bad.out) == (2, "")
    assert "'soon' is no interval" in bad.err


# --- plan -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "mode", "told"),
    [
        (ASK_EDITS, "default", "The user agreed to the plan"),
        (ACCEPT_EDITS, "acceptEdits", "The user agreed to the plan"),
        (REFUSE, "plan", "The user wants to keep planning"),
        ("Use sqlite instead.", "plan", "They say:\\nUse sqlite instead."),
    ],
)
async def test_a_plan_is_agreed_to_refused_or_changed(stage: Stage, answer: str, mode: str, told: str) -> None:
    person = Person(answer)
    propose = tool_use("ExitPlanMode", {"plan": "# Plan\n\n1. Write it."})
    async with stage.session(permission_mode="plan") as session:
        session.questions.front = person
        found = tool_use("ToolSearch", {"query": "select:ExitPlanMode"})
        await stage.say(session, "how?", reply(found), reply(propose), "So.")
        assert session.gate.mode == mode
    assert person.asked == [("Go ahead with this plan?", "# Plan\n\n1. Write it.")]
    requests = stage.requests
    assert "select:ExitPlanMode" in json.dumps(requests[0].messages[0])
    assert "ExitPlanMode" not in requests[0].tool_names
    assert "ExitPlanMode" in requests[1].tool_names
    assert told in result(requests[2])
    assert [r.cache.lost for r in requests if r.cache] == [0, 0, 0]


async def test_without_a_person_the_plan_is_the_answer(stage: Stage) -> None:
    propose = tool_use("ExitPlanMode", {"plan": "1. Write it."})
    async with stage.session(permission_mode="plan", interactive=False) as session:
        await stage.say(session, "how?", reply(propose), "The plan: 1. Write it.")
    assert "Nobody can agree to a plan in this session" in result(stage.requests[1])


async def test_a_question_reaches_the_user_and_its_answer_the_model(stage: Stage) -> None:
    person = Person("sqlite")
    options = [{"label": "sqlite", "description": "one file"}, {"label": "postgres"}]
    ask = tool_use(
        "AskUserQuestion", {"questions": [{"question": "Which one?", "header": "Database", "options": options}]}
    )
    async with stage.session() as session:
        session.questions.front = person
        await stage.say(session, "go", reply(ask), "sqlite it is.")
        session.questions.front = None
        await stage.say(session, "again", reply(ask), "I take sqlite.")
    assert "Which one?\\n\\u2192 sqlite" in result(stage.requests[1])
    assert "Nobody can answer in this session" in result(stage.requests[3])


# --- proactive ------------------------------------------------------------------------------------------------------

PROACTIVE = {"AGENTCLI_FEATURE_PROACTIVE": "1"}


async def test_ticks_wake_an_idle_agent_until_its_budget_is_used_up(stage: Stage) -> None:
    stage.environment |= PROACTIVE
    settings = json.dumps({"proactive": {"idle": 60, "seconds": 250}})
    async with stage.session(proactive=True, settings=settings) as session:
        session.waking.focus = False
        for number in range(2):
            tick = await asyncio.wait_for(session.waking.next(), 60)
            await stage.say(session, tick.text, f"Looked {number}.")
        assert session.waking.ticker is not None
        stage.clock.advance(200)
        late = asyncio.create_task(session.waking.next())
        await until(lambda: bool(session.waking.ticker and session.waking.ticker.over))
        late.cancel()
        assert session.waking.ticker.over == "The agent no longer works on its own: 250 s are over."
    first = stage.requests[0]
    words = proactive_words()
    assert first.system_text.startswith(words.identity)
    assert words.section in first.system_text
    assert "Sleep" in first.tool_names
    assert "(tick) Nothing is running. It is 2026-11-30 09:01. Left of the budget: 3 minutes." in first.last_text
    assert "The user is away." in json.dumps(first.messages[0])
    assert "The user is away." not in json.dumps(stage.requests[1].messages[-1])


async def test_escape_ends_the_ticks(stage: Stage) -> None:
    stage.environment |= PROACTIVE
    async with stage.session(proactive=True) as session:
        assert session.waking.alive
        session.interrupt()
        assert not session.waking.alive
        assert session.waking.ticker is not None
        assert session.waking.ticker.over == "The agent no longer works on its own: stopped by the user."


async def test_a_sleeping_agent_wakes_when_the_time_is_over_or_the_user_writes(stage: Stage) -> None:
    stage.environment |= PROACTIVE
    async with stage.session(proactive=True) as session:
        await stage.say(session, "rest", reply(tool_use("Sleep", {"seconds": 3600})), "Rested.")
        assert "The time is over." in result(stage.requests[1])
        gate = asyncio.Event()

        async def sleep(seconds: float) -> None:
            await gate.wait()

        session.world.clock.sleep = sleep  # type: ignore[method-assign]  # a clock that stands
        stage.play(reply(tool_use("Sleep", {"seconds": 3600})), "Here.")
        turn = asyncio.create_task(session.run(UserInput("rest again")))
        await until(lambda: len(stage.requests) == 3)
        session.steer(UserInput("wake up"))
        assert (await turn).text == "Here."
    assert "The user wrote something." in result(stage.requests[-1])
    assert "wake up" in result(stage.requests[-1])


async def test_without_the_flag_nothing_of_it_is_there(stage: Stage) -> None:
    async with stage.session(proactive=True) as session:
        await stage.say(session, "hi", "hello")
        assert session.waking.ticker is None
    assert "Sleep" not in stage.requests[0].tool_names
    assert "interactive coding agent" in stage.requests[0].system_text


async def test_a_background_report_begins_a_turn_by_itself(stage: Stage) -> None:
    gate = Gate()
    stage.api.lane("take your time", after(gate, "Here is the report."))
    background = tool_use(
        "Agent", {"description": "x", "prompt": "take your time", "run_in_background": True, "subagent_type": "explore"}
    )
    async with stage.session() as session:
        await stage.say(session, "go", reply(background), "It runs.")
        waiting = asyncio.create_task(session.waking.next())
        gate.open()
        prompt = await asyncio.wait_for(waiting, 60)
        await stage.say(session, prompt.text, "It reported.")
    assert "Here is the report." in stage.requests[-1].last_text
