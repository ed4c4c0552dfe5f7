"""What subagents may do at most: which kinds, how much, how long, and how much of a report comes back."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.api import ApiServer, Gate, after, reply, tool_use
from tests.api.script import ToolUse
from tests.e2e.harness import Stage, until
from tests.e2e.test_subagents import RUNAWAY, _command, endlessly, of, results, task, whole


@pytest.fixture
def stage(home: Path, project: Path) -> Iterator[Stage]:
    with ApiServer() as api:
        yield Stage(api, home, project)
        assert api.refused == []


BOUNDS = {
    "turns": (12, "its budget is used up (12 requests)"),
    "tokens": (60_000, "of 60,000 tokens)"),
    "seconds": (4, "its budget is used up (4 s)"),
    "usd": (0.1, "of $0.10)"),
}


@pytest.mark.parametrize("bound", BOUNDS)
async def test_endless_spawning_is_stopped_by_each_kind_of_budget(stage: Stage, bound: str) -> None:
    most, said = BOUNDS[bound]
    stage.api.lane("spawn for ever", *[endlessly] * 400)
    for number in range(1, 80):
        for child in range(3):
            stage.api.lane(f"go on {number}.{child}", *[endlessly] * 400)
    async with stage.session(settings=json.dumps({"agentBudget": {bound: most}})) as session:
        finished = await stage.say(session, "go", reply(task("spawn for ever")), "That did not end.")
        assert finished.text == "That did not end."
        whole(session)
        assert said in results(of(stage, '"go"')[1])[0]
        assert session.crew.office.working == set()
        assert session.toolbox.processes.running == ()
    assert not [p for p in Path("/proc").glob("[0-9]*") if RUNAWAY in _command(p)]


def define(stage: Stage, name: str, front: str) -> None:
    folder = stage.home / ".claude" / "agents"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.md").write_text(f"---\nname: {name}\ndescription: works\n{front}\n---\nYou work.\n")


async def test_an_agent_starts_only_the_kinds_that_its_tools_name(stage: Stage) -> None:
    define(stage, "lead", "tools: Read, Agent(Helper, explore)")
    define(stage, "helper", "tools: Read")
    calls: list[ToolUse] = [task("help", "helper"), task("plan it", "plan"), task("anything")]
    stage.api.lane("lead them", reply(*calls), "Led.")
    stage.api.lane("help", "Helped.")
    async with stage.session() as session:
        await stage.say(session, "go", reply(task("lead them", "lead")), "Good.")
    assert of(stage, "lead them")[0].tool_names == ["Read", "Agent"]
    helped, planned, other = results(of(stage, "lead them")[1])
    assert "Helped." in helped
    assert "You can't start 'plan'. Kinds of agents that you may start: explore, helper." in planned
    assert "You can't start 'general-purpose'" in other


async def test_the_main_agent_is_bound_by_its_tools_too(stage: Stage) -> None:
    define(stage, "lead", "tools: Read, Agent(explore)")
    async with stage.session(agent="lead") as session:
        await stage.say(session, "go", reply(task("plan it", "plan")), "Good.")
    assert of(stage, '"go"')[0].tool_names == ["Read", "Agent"]
    assert "You can't start 'plan'" in results(of(stage, '"go"')[1])[0]


@pytest.mark.parametrize("rule", ["Agent(explore)", "Agent(Explore)", "Task(explore)"])
async def test_a_kind_that_is_denied_is_not_started_however_it_is_called(stage: Stage, rule: str) -> None:
    skill = stage.project / ".claude" / "skills" / "survey" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\nname: survey\ndescription: surveys\ncontext: fork\nagent: explore\n---\nSurvey it.\n")
    calls = [task("look", "explore"), task("look", "EXPLORE"), tool_use("Skill", {"skill": "survey"})]
    async with stage.session(disallowed_tools=(rule,)) as session:
        await stage.say(session, "go", reply(*calls), "No.")
    assert [f"{rule} (command line)" in text for text in results(of(stage, '"go"')[1])] == [True] * 3


async def test_nobody_waits_for_a_skill_in_the_background(stage: Stage) -> None:
    skill = stage.home / ".claude" / "skills" / "survey" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\nname: survey\ndescription: surveys\ncontext: fork\nbackground: true\n---\nSurvey it.\n")
    gate = Gate()
    stage.api.lane("Survey it.", after(gate, "Surveyed."))
    async with stage.session() as session:
        await stage.say(session, "go", reply(tool_use("Skill", {"skill": "survey"})), "It runs.")
        gate.open()
        await asyncio.wait_for(session.crew.wait_ended(), 20)
        await stage.say(session, "and?", "It reported.")
    assert "agent_1 has started; its report comes by itself." in results(of(stage, '"go"')[1])[0]
    assert "Surveyed." in of(stage, '"go"')[-1].last_text


async def test_the_kind_that_is_meant_where_none_is_named_can_be_denied(stage: Stage) -> None:
    nameless = tool_use("Agent", {"description": "a task", "prompt": "work"})
    async with stage.session(disallowed_tools=("Agent(general-purpose)",)) as session:
        await stage.say(session, "go", reply(nameless), "No.")
    assert "Agent(general-purpose)" in results(of(stage, '"go"')[1])[0]


async def test_what_an_agent_s_commands_left_running_ends_with_it_and_nothing_else_does(stage: Stage) -> None:
    def serving(name: str) -> ToolUse:
        return tool_use("Bash", {"command": f"sleep 987 & echo $! > {stage.project}/{name}"})

    def alive(name: str) -> bool:
        return Path(f"/proc/{int((stage.project / name).read_text())}").exists()

    stage.api.lane("serve", reply(serving("theirs")), "It serves.")
    async with stage.session() as session:
        await stage.say(session, "go", reply(serving("ours")), reply(task("serve")), "Good.")
        assert (alive("ours"), alive("theirs")) == (True, False)
    assert "Ended with the agent: what 1 command left running." in results(of(stage, '"go"')[2])[0]


async def test_the_environment_names_the_model_of_every_agent(stage: Stage) -> None:
    stage.environment["CLAUDE_CODE_SUBAGENT_MODEL"] = "haiku"
    stage.api.lane("work", "Done.")
    async with stage.session() as session:
        await stage.say(session, "go", reply(task("work", model="opus")), "Good.")
    assert of(stage, "work")[0].model.startswith("claude-haiku")


async def test_a_background_agent_without_a_sign_of_life_is_ended(stage: Stage) -> None:
    stage.environment["CLAUDE_ASYNC_AGENT_STALL_TIMEOUT_MS"] = "300"
    stage.api.lane("hang", after(Gate(), "never"))
    async with stage.session() as session:
        await stage.say(session, "go", reply(task("hang", run_in_background=True)), "It runs.")
        await asyncio.wait_for(session.crew.wait_ended(), 30)
        (end,) = session.crew.take_ended()
        assert session.crew.office.working == set()
    assert end.task.state == "failed"
    assert end.report.text == "The agent stopped before it was done: there was no sign of life for 0.3 s."


async def test_the_environment_says_how_much_of_a_report_comes_back(stage: Stage) -> None:
    stage.environment["TASK_MAX_OUTPUT_LENGTH"] = "1000"
    stage.api.lane("tell all", "word " * 1_000)
    async with stage.session() as session:
        await stage.say(session, "go", reply(task("tell all")), "Long.")
    (said,) = results(of(stage, '"go"')[1])
    assert len(said) < 1_600
    kept = Path(said.partition("the whole report is in ")[2].partition("]")[0])
    assert kept.read_text() == ("word " * 1_000).strip()


async def test_the_main_agent_s_first_prompt_stands_in_front_of_the_users_or_alone(stage: Stage) -> None:
    define(stage, "lead", "initialPrompt: Begin with MARK_first.")
    async with stage.session(agent="lead") as session:
        await stage.say(session, "then this", "Begun.")
        await stage.say(session, "and that", "Good.")
    first, second = stage.requests
    assert first.last_text.endswith("Begin with MARK_first.\n\nthen this")
    assert second.last_text == "and that"
    async with stage.session(agent="lead") as session:
        stage.play("Begun.")
        prompt = await asyncio.wait_for(session.waking.next(), 20)
        await session.run(prompt)
    assert stage.requests[-1].last_text.endswith("Begin with MARK_first.")


async def test_what_an_agent_does_now_can_be_seen(stage: Stage) -> None:
    define(stage, "worker", "color: Blue")
    waiting = tool_use("Bash", {"command": f"touch {stage.project}/begun; exec sleep 987"})
    stage.api.lane("work", reply(waiting))
    async with stage.session() as session:
        await stage.say(session, "go", reply(task("work", "worker", run_in_background=True)), "It runs.")
        await until((stage.project / "begun").exists, seconds=30)
        (now,) = session.crew.list()
    assert now.doing.startswith("Bash touch")
    assert (now.agent, now.color, now.state, now.steps) == ("worker", "blue", "running", 1)
    assert now.tokens > 0
    assert now.call_id
