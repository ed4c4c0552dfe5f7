"""Interruption at every moment leaves a valid conversation with everything that was finished."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentcli.agent import Limits
from agentcli.agent.agent import INTERRUPTION
from agentcli.events import (
    AssistantMessage,
    TextDelta,
    ToolCallStarted,
    ToolFinished,
    ToolStarted,
    TurnFinished,
)
from agentcli.messages import INTERRUPTED, Json, TextBlock, assistant, repair, user
from agentcli.model.scripted import ScriptedClient, call, say
from agentcli.ports.frontend import UserInput
from agentcli.ports.permissions import HookEvent, HookVerdict
from tests.agent.test_loop import reminder
from tests.agent.world import FakeTool, World, make, result_texts, standard_tools

NOT_STARTED = "Interrupted by the user before it was started. Nothing was run."


async def forever(input: Json) -> str:
    await asyncio.Event().wait()
    raise AssertionError("never")


def tools() -> dict[str, FakeTool]:
    return standard_tools() | {"Hang": FakeTool("Hang", forever), "HangW": FakeTool("HangW", forever, "write")}  # type: ignore[return-value,operator]  # all are


async def test_finished_results_stay_and_the_others_say_interrupted() -> None:
    script = [say(call("Hang", id="a"), call("Echo", id="b", text="x"), call("Put", id="c")), "Fine."]
    world = make(script, tools=tools())
    turn = asyncio.create_task(world.turn())
    await world.until(ToolFinished)
    world.agent.interrupt()
    finished = await turn
    assert finished.outcome == "interrupted"
    assert result_texts(world.state.messages[2]) == [
        ("a", INTERRUPTED, True),
        ("b", "echo x", False),
        ("c", NOT_STARTED, True),
    ]
    assert sorted(e.tool_use_id for e in world.seen(ToolFinished)) == ["a", "b", "c"]
    assert [e.interrupted for e in world.seen(ToolFinished)] == [False, True, True]
    await world.turn("go on")
    assert [b for b in world.state.messages[2].content if isinstance(b, TextBlock)] == [
        reminder(INTERRUPTION),
        TextBlock("go on"),
    ]
    assert not repair(world.state.messages).notes


async def test_an_interrupt_withdraws_an_open_question() -> None:
    world = make([say(call("Put", id="a")), "Fine."])
    world.policy.asks.add("Put")
    turn = asyncio.create_task(world.turn())
    await world.person.waiting.wait()
    world.agent.interrupt()
    assert (await turn).outcome == "interrupted"
    assert result_texts(world.state.messages[2]) == [("a", NOT_STARTED, True)]
    assert world.seen(ToolStarted) == []


async def test_half_streamed_text_is_kept_and_a_half_written_call_is_not() -> None:
    world = make([say("Some words first. ", call("Put", id="a", text="x" * 400)), "Fine."], delay=0.002)
    turn = asyncio.create_task(world.turn())
    await world.until(ToolCallStarted)
    world.agent.interrupt()
    finished = await turn
    assert (finished.outcome, finished.text) == ("interrupted", "Some words first. ")
    assert world.state.messages == [user("go"), assistant("Some words first. ")]
    kept = world.seen(AssistantMessage)
    assert [(m.message, m.partial) for m in kept] == [(assistant("Some words first. "), True)]
    await world.turn("go on")
    assert world.state.messages[2:] == [user(reminder(INTERRUPTION), "go on"), assistant("Fine.")]


async def test_a_whole_call_in_a_half_streamed_answer_gets_a_result() -> None:
    world = make([say(call("Put", id="a"), "and then some more words " * 20), "Fine."], delay=0.002)
    turn = asyncio.create_task(world.turn())
    await world.until(TextDelta)
    world.agent.interrupt()
    await turn
    assert result_texts(world.state.messages[2]) == [("a", NOT_STARTED, True)]
    assert [e.tool_use_id for e in world.seen(ToolFinished)] == ["a"]


async def test_an_interrupt_before_the_answer_leaves_the_prompt() -> None:
    waiting = asyncio.Event()

    async def never(request: object) -> str:
        waiting.set()
        await asyncio.Event().wait()
        return ""

    world = make([never, "Fine."])
    turn = asyncio.create_task(world.turn("one"))
    await waiting.wait()
    world.agent.interrupt()
    world.agent.interrupt()
    assert (await turn).outcome == "interrupted"
    await world.turn("two")
    assert world.state.messages == [user("one", reminder(INTERRUPTION), "two"), assistant("Fine.")]


async def test_an_interrupt_without_a_turn_changes_nothing() -> None:
    world = make(["Fine."])
    world.agent.interrupt()
    assert (await world.turn()).outcome == "completed"


async def test_cancelled_from_outside_the_turn_is_closed_and_the_cancellation_goes_on() -> None:
    world = make([say(call("HangW", id="a"))], tools=tools())
    turn = asyncio.create_task(world.turn())
    await world.until(ToolStarted)
    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn
    assert world.seen(TurnFinished)[-1].outcome == "interrupted"
    assert result_texts(world.state.messages[2]) == [("a", INTERRUPTED, True)]
    assert not world.agent.busy


async def test_a_result_that_came_before_the_interrupt_is_kept_even_while_a_hook_runs() -> None:
    reached = asyncio.Event()

    class Slow:
        async def fire(self, event: HookEvent) -> HookVerdict:
            if event.name == "PostToolUse":
                reached.set()
                await asyncio.Event().wait()
            return HookVerdict()

    world = make([say(call("Echo", id="a", text="x"))], hooks=Slow())
    turn = asyncio.create_task(world.turn())
    await reached.wait()
    world.agent.interrupt()
    assert (await turn).outcome == "interrupted"
    assert result_texts(world.state.messages[2]) == [("a", "echo x", False)]


def script() -> list[object]:
    return [
        say("I look at it. ", call("Echo", text="1"), call("Hop"), call("Put")),
        say("More. ", call("HopW"), call("Echo", text="2"), call("Hop")),
        "The end, with a few words.",
    ]


async def hop(input: Json) -> str:
    for _ in range(3):
        await asyncio.sleep(0)
    return "hopped"


def hopping() -> World:
    extra = {"Hop": FakeTool("Hop", hop), "HopW": FakeTool("HopW", hop, "write")}
    model = ScriptedClient([*script(), *script(), *script()], chunk=4, delay=1e-9)  # type: ignore[list-item]  # steps
    return make(model, tools=standard_tools() | extra, limits=Limits())  # type: ignore[operator]  # tools


@given(st.lists(st.integers(min_value=0, max_value=160), min_size=1, max_size=3))
@settings(max_examples=40, deadline=None)
def test_interrupted_anywhere_the_conversation_is_valid_and_only_grows(points: list[int]) -> None:
    async def play() -> None:
        world = hopping()
        for point in points:
            before = list(world.state.messages)
            turn = asyncio.create_task(world.agent.run_turn(UserInput("go")))
            for _ in range(point):
                await asyncio.sleep(0)
            world.agent.interrupt()
            await turn
            messages = world.state.messages
            assert not repair(messages).notes
            assert all(
                new.content[: len(old.content)] == old.content for old, new in zip(before, messages, strict=False)
            )
            shown = "".join(e.text for e in world.seen(TextDelta))
            said = [b for m in messages if m.role == "assistant" for b in m.content]
            kept = "".join(b.text for b in said if isinstance(b, TextBlock))
            assert shown == kept
            calls = [c.id for e in world.seen(AssistantMessage) for c in e.message.tool_uses()]
            assert sorted(e.tool_use_id for e in world.seen(ToolFinished)) == sorted(calls)

    asyncio.run(play())
