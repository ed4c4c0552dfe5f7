"""What the prompt cache did, request by request: for people with ``--verbose``, for programs in the result."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agentcli.events import Notice
from tests.api import ApiServer, reply, text, tool_use
from tests.e2e.harness import FIRST_PARTY, Stage
from tests.e2e.program import run


@pytest.fixture
def stage(home: Path, project: Path) -> Iterator[Stage]:
    with ApiServer() as api:
        yield Stage(api, home, project)
        assert api.refused == []


def lines(stage: Stage) -> list[str]:
    return [e.text for e in stage.heard if isinstance(e, Notice) and e.code == "request"]


def explore(words: str) -> Any:
    return reply(tool_use("Agent", {"description": "d", "prompt": words, "subagent_type": "explore"}))


async def test_a_line_for_each_request_with_its_break(stage: Stage) -> None:
    async with stage.session(verbose=True) as session:
        await stage.say(session, "one", "1")
        await stage.say(session, "two", "2")
        await session.set_model("opus")
        await stage.say(session, "three", "3")
    first, second, third = lines(stage)
    assert first.startswith("Request 1: ")
    assert " 0.0% read from the cache, " in first
    assert ";" not in first + second
    assert "; expected: model changed (claude-sonnet-5-5 to claude-opus-5-5): " in third
    assert " tokens paid again, $" in third


async def test_subagents_requests_are_named(stage: Stage) -> None:
    async with stage.session(settings=json.dumps({"verbose": True})) as session:
        await stage.say(session, "look", explore("look"), reply(text("seen")), "done")
    assert [line.split(":")[0] for line in lines(stage)] == ["Request 1", "Request 2 (explore)", "Request 3"]


async def test_nothing_is_said_unasked(stage: Stage) -> None:
    async with stage.session() as session:
        await stage.say(session, "one", "1")
    assert lines(stage) == []


def headless(api: ApiServer, project: Path, *arguments: str) -> Any:
    env = {"ANTHROPIC_BASE_URL": api.url, "ANTHROPIC_API_KEY": api.key, FIRST_PARTY: "1"}
    api.play(reply(tool_use("Glob", {"pattern": "*"})), "done")
    done = run("-p", "hi", *arguments, cwd=project, env=env)
    assert done.code == 0, done.err
    return done


def test_headless_says_it_on_standard_error_and_in_the_result(api: ApiServer, project: Path, home: Path) -> None:
    plain = headless(api, project, "--verbose")
    assert plain.out == "done\n"
    assert [line.split(":")[1] for line in plain.err.splitlines()] == [" Request 1", " Request 2"]
    result = headless(api, project, "--output-format", "json")
    assert result.err == ""
    cache = result.json["cache"]
    assert cache["read_share"] > 0.5
    assert cache["efficiency"] == 1.0
    assert (cache["lost_tokens"], cache["breaks"]) == (0, [])
    streamed = headless(api, project, "--output-format", "stream-json", "--verbose")
    assert (streamed.err, "Request 1" in streamed.out) == ("", False)
    assert json.loads(streamed.out.splitlines()[-1])["cache"]["efficiency"] == 1.0
    turn = json.loads(streamed.out.splitlines()[-1])["cache"]["turn"]
    assert (turn["efficiency"], turn["read_share"]) == (
        1.0,
        json.loads(streamed.out.splitlines()[-1])["cache"]["read_share"],
    )
    assert turn["saved_usd"] > 0 < turn["cost_usd"]
    (log, *_) = [p for p in home.rglob("*.jsonl") if "history" not in p.name]
    kept = [json.loads(line) for line in log.read_text().splitlines()]
    assert {"read", "readable", "lost", "lost_cost", "cost", "cause"} <= set(
        next(k for k in kept if k["kind"] == "cache")
    )
