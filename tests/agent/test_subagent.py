"""Subagents at the engine: budgets, what is left of one that was stopped, and who is told of an end."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from agentcli.agent import SessionState
from agentcli.agent.rooms import Limits
from agentcli.agent.subagent import Hire, Kit
from agentcli.agent.subagent_budget import Purse, narrower
from agentcli.agent.subagent_crew import KEPT, Crew, CrewReminders, Office
from agentcli.errors import ToolError
from agentcli.events import Event, FromSubagent, JobChanged, StepStarted, TurnFinished
from agentcli.messages import Usage
from agentcli.model.scripted import ScriptedClient, Step, call, say
from agentcli.ports.agents import AgentOrder
from agentcli.ports.permissions import HookVerdict
from agentcli.ports.prompt import Reminder
from agentcli.ports.tools import AgentBudget, ToolResult
from tests.agent.world import FakeTool, Hooks, World, make, standard_tools


@dataclass
class Bureau:
    """Outfits agents with scripted models: one script per kind."""

    scripts: dict[str, list[Step]]
    worlds: dict[str, World] = field(default_factory=dict)
    left: list[str] = field(default_factory=list)
    hooks: Hooks = field(default_factory=Hooks)
    emitted: list[Event] = field(default_factory=list)
    spent: list[Usage] = field(default_factory=list)
    closed: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.office = Office(outfit=self)
        self.crew = Crew(self.office, self.emitted.append)
        self.crew.account = lambda model, usage, cost: self.spent.append(usage)

    async def __call__(self, hire: Hire) -> Kit:
        script = self.scripts.get(hire.order.agent)
        if script is None:
            raise ToolError(f"there is no agent {hire.order.agent!r}")
        tools = standard_tools()
        spawn = FakeTool("Spawn", lambda given: self._spawn(hire.crew, given), "agent")
        tools["Spawn"] = spawn
        made = make(
            ScriptedClient(script, otherwise="I have no more to say."),
            tools=tools,
            state=SessionState("s", "claude-sonnet-5-5", "2026-11-30", query_source="subagent"),
            emit=hire.emit,
            hooks=self.hooks,
            outstanding=hire.crew.outstanding,
        )
        self.worlds[hire.id] = made

        async def close() -> list[str]:
            self.closed.append(hire.id)
            return [f"Ended with the agent: {', '.join(self.left)}."] if self.left else []

        return Kit(
            state=made.state,
            rooms=made.agent.rooms,
            limits=Limits(),
            name=hire.order.agent,
            close=close,
            spill=lambda text, suffix: Path("/nowhere") / f"whole{suffix}",
        )

    async def _spawn(self, crew: Crew, given: Any) -> ToolResult | str:
        desk = crew.for_call("inner")
        report = await desk.spawn(str(given["agent"]), "work", AgentBudget())
        return report.text

    def order(self, agent: str, **budget: Any) -> AgentOrder:
        return AgentOrder(agent=agent, prompt="work", description="some work", budget=AgentBudget(**budget))


def echo(count: int) -> list[Step]:
    return [say(f"step {n}", call("Echo", text="x")) for n in range(count)]


async def test_a_report_is_the_last_answer() -> None:
    bureau = Bureau({"worker": [*echo(2), "Found it."]})
    report = await bureau.crew.for_call("t1").run(bureau.order("worker"))
    assert (report.text, report.is_error, report.steps, report.id) == ("Found it.", False, 3, "agent_1")
    assert len(bureau.spent) == 3
    wrapped = [e for e in bureau.emitted if isinstance(e, FromSubagent)]
    assert {(e.agent, e.tool_use_id) for e in wrapped} == {("worker", "t1")}
    assert sum(isinstance(e.event, TurnFinished) for e in wrapped) == 1
    assert bureau.closed == ["agent_1"]


@pytest.mark.parametrize(
    ("budget", "reason"),
    [
        ({"turns": 2}, "its budget is used up (2 requests)"),
        ({"tokens": 10}, "of 10 tokens)"),
        ({"usd": 0.000001}, "of $0.00)"),
    ],
)
async def test_a_budget_ends_the_work_before_the_next_request(budget: dict[str, Any], reason: str) -> None:
    bureau = Bureau({"worker": echo(50)})
    report = await bureau.crew.for_call("t1").run(bureau.order("worker", **budget))
    assert report.is_error
    assert reason in report.text
    assert "Its last words:\nstep" in report.text
    assert report.steps <= 2


async def test_a_last_answer_that_uses_the_budget_up_is_a_report() -> None:
    bureau = Bureau({"worker": [*echo(1), "Found it."]})
    report = await bureau.crew.for_call("t1").run(bureau.order("worker", turns=2))
    assert (report.text, report.is_error) == ("Found it.", False)


async def test_time_ends_what_hangs() -> None:
    async def hang(request: object) -> str:
        await asyncio.Event().wait()
        return "never"

    bureau = Bureau({"worker": [hang]})
    report = await bureau.crew.for_call("t1").run(bureau.order("worker", seconds=0.05))
    assert report.text == "The agent stopped before it was done: its budget is used up (0.05 s)."


async def test_a_tree_has_one_budget() -> None:
    """The outer agent's bound counts what its own agents do, and ends them too."""
    bureau = Bureau({"outer": [say(call("Spawn", agent="inner")), "done"], "inner": echo(50)})
    report = await bureau.crew.for_call("t1").run(bureau.order("outer", turns=5))
    assert "its budget is used up (5 requests)" in report.text
    begun = [e for e in bureau.emitted if isinstance(_inner(e), StepStarted)]
    assert len(begun) == 6  # the sixth was begun, and not sent
    assert sum(len(w.requests) for w in bureau.worlds.values()) == 5
    assert bureau.office.working == set()


def _inner(event: Event) -> Event:
    while isinstance(event, FromSubagent):
        event = event.event
    return event


def test_bounds_are_joined_to_the_narrower() -> None:
    one, other = AgentBudget(turns=5, seconds=9.0), AgentBudget(turns=7, usd=1.0)
    assert narrower(one, other) == AgentBudget(turns=5, seconds=9.0, usd=1.0)


def test_an_unknown_price_bounds_nothing() -> None:
    stopped: list[bool] = []
    purse = Purse(AgentBudget(usd=0.01), lambda: stopped.append(True))
    purse.charge(Usage(input=10_000_000), None)
    purse.begin()
    assert (stopped, purse.cost) == ([], None)


async def test_hooks_hear_of_start_and_end_and_may_say_something() -> None:
    bureau = Bureau({"worker": ["Done."]})
    bureau.hooks.verdicts["SubagentStart"] = HookVerdict(context=("MARK_hook",))
    await bureau.crew.for_call("t1").run(bureau.order("worker"))
    assert [e.name for e in bureau.hooks.fired][:1] == ["SubagentStart"]
    assert bureau.hooks.fired[0].matcher == "worker"
    assert "MARK_hook" in str(bureau.worlds["agent_1"].sent(0))


async def test_what_is_left_running_is_named() -> None:
    bureau = Bureau({"worker": ["It runs."]}, left=["bash_1 (serve)"])
    report = await bureau.crew.for_call("t1").run(bureau.order("worker"))
    assert report.text == "It runs.\n\nEnded with the agent: bash_1 (serve)."


async def test_an_agent_without_words_is_told_so() -> None:
    bureau = Bureau({"worker": [say(), say()]})
    report = await bureau.crew.for_call("t1").run(bureau.order("worker"))
    assert report.text == "The agent ended without a report."


async def test_a_long_report_that_can_t_be_kept_is_cut_all_the_same() -> None:
    bureau = Bureau({"worker": ["word " * 10_000]})
    outfit = bureau.office.outfit

    async def broken(hire: Hire) -> Kit:
        def full(text: str, suffix: str) -> Path:
            raise OSError(28, "No space left on device")

        return replace(await outfit(hire), spill=full)

    bureau.office.outfit = broken
    report = await bureau.crew.for_call("t1").run(bureau.order("worker"))
    assert "it could not be kept: No space left on device" in report.text
    assert len(report.text) < 33_000


async def test_background_ends_are_told_once_to_whoever_started_them() -> None:
    bureau = Bureau({"worker": ["Found it."]})
    reminders = CrewReminders(bureau.crew)
    task = await bureau.crew.for_call("t1").start(bureau.order("worker"))
    assert (task.id, task.state, task.background) == ("agent_1", "running", True)
    await bureau.crew.wait_ended()
    told = await reminders.collect("before_step")
    assert told == [
        Reminder("agent:agent_1", "The agent agent_1 (worker: some work) reports after 1 step:\n\nFound it.")
    ]
    assert await reminders.collect("before_step") == []
    changes = [(e.job_id, e.state, e.exit_code) for e in bureau.emitted if isinstance(e, JobChanged)]
    assert changes == [("agent_1", "running", None), ("agent_1", "finished", 0)]
    (listed,) = await reminders.collect("after_compaction")
    assert "- agent_1 (worker: some work): finished" in listed.text


async def test_stopping_ends_the_whole_tree() -> None:
    gate = asyncio.Event()

    async def wait(request: object) -> str:
        gate.set()
        await asyncio.Event().wait()
        return "never"

    bureau = Bureau({"outer": [say("I ask.", call("Spawn", agent="inner")), "done"], "inner": [wait]})
    desk = bureau.crew.for_call("t1")
    await desk.start(bureau.order("outer"))
    await gate.wait()
    task = await desk.stop("agent_1")
    assert task.state == "stopped"
    assert bureau.office.working == set()
    assert sorted(bureau.closed) == ["agent_1", "agent_2"]
    assert bureau.crew.take_ended() == ()
    for world in bureau.worlds.values():
        assert [m.role for m in world.state.messages][-1:] != ["assistant"] or not world.state.messages[-1].tool_uses()
    again = await desk.stop("agent_1")
    assert again.state == "stopped"


async def test_a_stopped_agent_goes_on_where_it_was() -> None:
    bureau = Bureau({"worker": [*echo(1), "Half of it."]})
    desk = bureau.crew.for_call("t1")
    first = await desk.run(bureau.order("worker", turns=1))
    assert first.is_error
    second = await desk.go_on("agent_1", "and now?")
    assert second is not None
    assert (second.text, second.is_error) == ("Half of it.", False)
    sent = bureau.worlds["agent_1"].sent()
    assert [m["role"] for m in sent] == ["user", "assistant", "user"]
    assert "and now?" in str(sent[-1])


async def test_a_message_reaches_an_agent_at_work_between_two_steps() -> None:
    at_work, go_on = asyncio.Event(), asyncio.Event()

    async def slowly(request: object) -> Any:
        at_work.set()
        await go_on.wait()
        return say("I look.", call("Echo", text="x"))

    bureau = Bureau({"worker": [slowly, "I heard it."]})
    desk = bureau.crew.for_call("t1")
    await desk.start(bureau.order("worker"))
    await at_work.wait()
    assert await desk.go_on("agent_1", "also look at b.py") is None
    go_on.set()
    await bureau.crew.wait_ended()
    assert "also look at b.py" in str(bureau.worlds["agent_1"].sent(1))


async def test_too_deep_and_too_many_are_refused() -> None:
    bureau = Bureau({"outer": [say(call("Spawn", agent="outer")), "done"]})
    bureau.office.depth = 1
    await bureau.crew.for_call("t1").run(bureau.order("outer"))
    assert "Agents may nest 1 deep" in str(bureau.worlds["agent_1"].sent(1))
    bureau.office.concurrent = 0
    with pytest.raises(ToolError, match="0 agents are at work"):
        await bureau.crew.for_call("t1").run(bureau.order("outer"))


async def test_an_agent_that_can_t_be_made_takes_no_place() -> None:
    bureau = Bureau({})
    with pytest.raises(ToolError, match="there is no agent 'wizard'"):
        await bureau.crew.for_call("t1").run(bureau.order("wizard"))
    assert bureau.office.working == set()
    assert bureau.crew.list() == ()


async def test_only_so_many_ended_agents_are_kept() -> None:
    bureau = Bureau({"worker": ["Done."] * 2})
    for _ in range(KEPT + 3):
        await bureau.crew.for_call("t1").run(bureau.order("worker"))
    assert len(bureau.crew.list()) == KEPT
    with pytest.raises(ToolError, match="There is no agent 'agent_1'"):
        await bureau.crew.for_call("t1").go_on("agent_1", "hello")


async def test_a_fault_of_ours_in_the_background_is_told() -> None:
    bureau = Bureau({"worker": ["Done."]})
    outfit = bureau.office.outfit

    async def faulty(hire: Hire) -> Kit:
        async def close() -> list[str]:
            raise RuntimeError("kaputt")

        return replace(await outfit(hire), close=close)

    bureau.office.outfit = faulty
    await bureau.crew.for_call("t1").start(bureau.order("worker"))
    await bureau.crew.wait_ended()
    (end,) = bureau.crew.take_ended()
    assert "agent_1 failed unexpectedly (RuntimeError: kaputt)" in end.report.text
    assert bureau.office.working == set()


async def test_an_agent_that_is_ended_before_its_first_step_ends_like_any_other() -> None:
    async def hang(request: object) -> str:
        await asyncio.Event().wait()
        return "never"

    bureau = Bureau({"worker": [hang]})
    desk = bureau.crew.for_call("t1")
    await desk.start(bureau.order("worker"))
    assert (await asyncio.wait_for(desk.stop("agent_1"), 20)).state == "stopped"
    await desk.start(bureau.order("worker"))
    await asyncio.wait_for(bureau.crew.close(), 20)
    assert bureau.closed == ["agent_1", "agent_2"]
    assert bureau.crew.office.working == set()
