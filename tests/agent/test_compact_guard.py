"""When the automatic compaction runs, and what stops it."""

from __future__ import annotations

from typing import Any

import pytest

from agentcli.agent import Limits
from agentcli.events import Compacted, Notice
from agentcli.messages import ToolResultBlock, user
from agentcli.model.scripted import call, say
from tests.agent.test_compact import big, window, worked
from tests.agent.world import FakeTool, World, make, standard_tools


@pytest.mark.parametrize(
    ("size", "output", "percent", "threshold"),
    [
        (200_000, 32_000, None, 155_000),
        (200_000, 32_000, 50, 100_000),
        (200_000, 32_000, 100, 155_000),
        (32_000, 32_000, None, 16_000),
    ],
)
def test_the_threshold(size: int, output: int, percent: int | None, threshold: int) -> None:
    """A share of the window never goes over what the answer and the summary need."""
    world = make([], info=window(size, output), limits=Limits(compact_percent=percent))
    assert world.agent.compact_threshold == threshold


def test_a_smaller_window_may_be_set_for_it() -> None:
    for wished, threshold in ((100_000, 55_000), (900_000, 155_000)):
        world = make([], info=window(200_000, 32_000), limits=Limits(compact_window=wished))
        assert world.agent.compact_threshold == threshold


def test_switched_off_or_unknown_there_is_none() -> None:
    assert make([], info=window(200_000), limits=Limits(auto_compact=False)).agent.compact_threshold is None
    assert make([]).agent.compact_threshold is None


def refilling(limits: Limits | None = None) -> World:
    """A model that reads the large thing again and again, whatever it was told."""
    tools = standard_tools() | {"Big": FakeTool("Big", lambda i: "longer text " * 9_000)}
    number = 0

    def answer(request: Any) -> Any:
        nonlocal number
        number += 1
        return "Nothing." if request.query_source == "compact" else say(call("Big", id=f"b{number}"))

    world = make([], tools=tools, info=window(40_000, 2_000), limits=limits or Limits(max_turns=12))
    world.model.otherwise = answer  # type: ignore[attr-defined]  # a ScriptedClient
    return world


async def test_a_window_that_fills_up_at_once_stops_it_after_three() -> None:
    world = refilling()
    assert (await world.turn()).outcome == "max_turns"
    assert len(world.seen(Compacted)) == 3
    told = [n for n in world.seen(Notice) if n.code == "compaction_loop"]
    assert len(told) == 1
    assert told[0].severity == "warning"
    assert "at once after each of 3 compactions" in told[0].text
    assert "What fills it: Big (" in told[0].text


async def test_what_is_done_by_hand_lets_it_run_again() -> None:
    world = refilling()
    await world.turn()
    await world.agent.compact()
    before = len(world.seen(Compacted))
    await world.turn("again")
    assert len(world.seen(Compacted)) == before + 3


async def test_compactions_far_apart_are_no_loop() -> None:
    tools = standard_tools() | {"Big": big("longer text")}
    number = 0

    def answer(request: Any) -> Any:
        nonlocal number
        number += 1
        if request.query_source == "compact":
            return "Nothing."
        return say(call("Big" if number % 3 == 0 else "Echo", id=f"b{number}"))

    world = make([], tools=tools, info=window(80_000, 2_000), limits=Limits(max_turns=90))
    world.model.otherwise = answer  # type: ignore[attr-defined]  # a ScriptedClient
    await world.turn()
    assert len(world.seen(Compacted)) > 3
    assert not [n for n in world.seen(Notice) if n.code == "compaction_loop"]


async def test_after_failures_a_new_conversation_begins_anew() -> None:
    world = await worked([], info=window(8_000))
    world.agent.limits.compact_percent = 10
    world.model.otherwise = lambda request: say("") if request.query_source == "compact" else "Fine."  # type: ignore[attr-defined]  # a ScriptedClient
    for _ in range(4):
        await world.turn("more")
    assert len([n for n in world.seen(Notice) if n.code == "compaction_failed"]) == 3
    world.state.replace((), intent="")
    await world.turn("new")
    world.state.append(user("x " * 9_000))
    await world.turn("more")
    assert len([n for n in world.seen(Notice) if n.code == "compaction_failed"]) == 4
    assert not any(isinstance(b, ToolResultBlock) for m in world.state.messages for b in m.content)
