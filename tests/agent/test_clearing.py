"""Old tool results give way to notes: which, when, and what stays."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from agentcli.agent import Limits
from agentcli.agent.clearing import NEWEST, without_old_results
from agentcli.agent.measure import tokens
from agentcli.events import Compacted, Notice
from agentcli.messages import (
    ImageBlock,
    Message,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
    assistant,
    repair,
    user,
)
from agentcli.model.scripted import call, say
from tests.agent.test_compact import window
from tests.agent.test_images import PIXEL
from tests.agent.world import FakeTool, World, make, standard_tools

LONG = "a line of a file\n" * 700
CLEAR = Limits(clear_results=True)


def step(id: str, name: str, text: str = LONG, *, error: bool = False, **input: Any) -> list[Message]:
    return [
        assistant(ThinkingBlock(f"thought {id}", "sig"), ToolUseBlock(id, name, input)),
        user(ToolResultBlock(id, (TextBlock(text),), error)),
    ]


def result(messages: tuple[Message, ...], id: str) -> str:
    found = next(r for m in messages for r in m.tool_results() if r.tool_use_id == id)
    return "\n".join(c.text for c in found.content if isinstance(c, TextBlock))


NEW = [m for n in range(NEWEST) for m in step(f"n{n}", "Read", file_path=f"/n{n}")]
SAMPLE = [
    user("go"),
    *step("1", "TodoWrite"),
    *step("2", "Read", file_path="/src/a.py", offset=41, limit=40),
    *step("3", "Bash", LONG + "3 passed in 2.1s\n", command="pytest -q"),
    *step("4", "Bash", "E " + LONG, error=True, command="make"),
    *step("5", "Edit", file_path="/src/a.py"),
    *step("6", "mcp__db__query", query="all rows"),
    *step("7", "Grep", "few\n", pattern="x"),
    *step(
        "8",
        "Bash",
        f"head\n\n[… 90 left out here. The whole output (9 characters) is in /h/0001.txt: page …]\n{LONG}",
        command="ls",
    ),
    *NEW,
    user(ToolResultBlock("none", ())),
]


def test_what_goes_and_what_stays() -> None:
    cleared = without_old_results(SAMPLE[:-1])
    assert cleared is not None
    kept = ["1", "4", "5", "7", *(f"n{n}" for n in range(NEWEST))]
    assert [result(cleared.messages, i) for i in kept] == [result(tuple(SAMPLE), i) for i in kept]
    assert cleared.count == 4
    assert result(cleared.messages, "2") == (
        "[The result of Read `/src/a.py` (offset 41, limit 40) was cleared to save room (about 3,400 tokens). "
        "Call again if it is needed.]"
    )
    assert result(cleared.messages, "3") == (
        "[The result of Bash `pytest -q` was cleared to save room (about 3,405 tokens). Its last line was "
        '"3 passed in 2.1s". Run it again if it is needed and safe to repeat.]'
    )
    assert 'Its last line was "a line of a file". The whole is in /h/0001.txt. Run' in result(cleared.messages, "8")
    assert tokens(SAMPLE[:-1]) - tokens(cleared.messages) >= cleared.freed > 13_000


def test_thinking_behind_the_first_change_goes_and_in_front_of_it_stays() -> None:
    cleared = without_old_results(SAMPLE[:-1])
    assert cleared is not None
    thoughts = [b.thinking for m in cleared.messages for b in m.content if isinstance(b, ThinkingBlock)]
    assert thoughts == ["thought 1", "thought 2"]
    assert not repair(cleared.messages).notes


def test_a_second_time_finds_nothing() -> None:
    cleared = without_old_results(SAMPLE[:-1])
    assert cleared is not None
    assert without_old_results(cleared.messages) is None


def test_little_is_not_worth_it() -> None:
    assert without_old_results([user("go"), *step("1", "Read"), *NEW]) is None


def test_images_in_results_go_too() -> None:
    shown = [
        m
        for n in range(4)
        for m in (
            assistant(ToolUseBlock(f"i{n}", "Read", {"file_path": f"/{n}.png"})),
            user(ToolResultBlock(f"i{n}", (ImageBlock("image/png", PIXEL),))),
        )
    ]
    cleared = without_old_results([user("go"), *shown, *NEW])
    assert cleared is not None
    assert cleared.count == 4
    assert not any(isinstance(c, ImageBlock) for m in cleared.messages for r in m.tool_results() for c in r.content)


async def worker(limits: Limits, *, size: int = 200_000, steps: int = 9) -> World:
    """A world in which nine files were read."""
    tools = standard_tools() | {"Read": FakeTool("Read", lambda i: f"{i['file_path']}\n{LONG}")}
    script = [*(say(call("Read", id=f"r{n}", file_path=f"/{n}")) for n in range(steps)), "Read all."]
    world = make([], tools=tools, limits=limits, info=window(size, 2_000))
    world.model.otherwise = lambda request: "Words." if not script else script.pop(0)  # type: ignore[attr-defined]  # a ScriptedClient
    await world.turn("read them")
    return world


def cleared_results(world: World) -> int:
    texts = [
        c.text for m in world.state.messages for r in m.tool_results() for c in r.content if isinstance(c, TextBlock)
    ]
    return sum("was cleared to save room" in t for t in texts)


@pytest.mark.parametrize(
    ("limits", "ttl", "idle", "count"),
    [
        (CLEAR, "5m", 301, 4),
        (CLEAR, "5m", 299, 0),
        (CLEAR, "1h", 301, 0),
        (CLEAR, "1h", 3_601, 4),
        (Limits(), "5m", 999, 0),
    ],
)
async def test_only_when_the_cache_is_cold(limits: Limits, ttl: str, idle: int, count: int) -> None:
    world = await worker(limits)
    world.state.cache.choices["ttl"] = ttl
    world.clock.date += timedelta(seconds=idle)
    await world.turn("go on")
    assert cleared_results(world) == count
    entries = [e for e in world.journal.entries if e["kind"] == "clearing"]
    assert [e["intent"] for e in entries] == ["tool result clearing"] * (count > 0)
    assert [r.intent for r in world.requests][-1] == ("tool result clearing" if count else "")
    assert len([n for n in world.seen(Notice) if n.code == "results_cleared"]) == (count > 0)
    assert not repair(world.state.messages).notes


async def test_it_comes_in_place_of_a_compaction_where_it_makes_room() -> None:
    world = await worker(CLEAR, size=44_000)
    assert cleared_results(world) >= 3
    assert world.seen(Compacted) == []
    plain = await worker(Limits(), size=44_000)
    assert len(plain.seen(Compacted)) == 1


async def test_where_it_makes_too_little_room_the_compaction_runs() -> None:
    world = await worker(CLEAR, size=30_000, steps=7)
    assert len(world.seen(Compacted)) == 1
