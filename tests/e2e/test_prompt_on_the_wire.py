"""The system prompt as a server gets it: every byte explained, and changed by nothing but what may change it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agentcli.runtime.explain import explain
from tests.api import ApiServer, Request, reply, text
from tests.e2e.harness import Stage, front

LIMIT = 14 * 1024
DAY = 24 * 3600


@pytest.fixture
def stage(home: Path, project: Path) -> Iterator[Stage]:
    with ApiServer() as api:
        yield Stage(api, home, project)
        assert api.refused == []


def system_text(request: Request) -> list[str]:
    return [block["text"] for block in request.json["system"]]


async def test_a_bare_sessions_first_request_is_small(stage: Stage) -> None:
    async with stage.session() as session:
        await stage.say(session, "hi", "hello")
    assert len(stage.requests[0].body) <= LIMIT


@pytest.mark.parametrize("given", [{}, {"append_system_prompt": "Be kind."}, {"system_prompt": "You are a parrot."}])
@pytest.mark.parametrize("first_party", [True, False])
async def test_every_byte_of_the_prompt_is_accounted_for(
    stage: Stage, given: dict[str, Any], first_party: bool
) -> None:
    stage.first_party = first_party
    (stage.project / "CLAUDE.md").write_text("Use tabs. 탭\n")
    async with stage.session(**given) as session:
        await stage.say(session, "hi", "hello")
        explained = await explain(session)
    sent = stage.requests[0].json["system"]
    told = explained.report.to_json()
    parts = sum(s["bytes"] for s in told["sections"] if s["included"])
    assert sum(len(b["text"].encode()) for b in sent) == parts + explained.report.separator_bytes
    assert [b["text"] for b in told["blocks"]] == [b["text"] for b in sent]
    assert [b["cache_control"] for b in told["blocks"]] == [b.get("cache_control") for b in sent]


@pytest.mark.parametrize("layout", ["split", "documented"])
@pytest.mark.parametrize("name", ["DISABLE_PROMPT_CACHING", "CLAUDE_CODE_DISABLE_EXPERIMENTAL_BETAS"])
async def test_a_scope_that_is_given_up_is_not_shown(stage: Stage, name: str, layout: str) -> None:
    stage.environment[name] = "1"
    async with stage.session(settings=json.dumps({"promptCacheLayout": layout})) as session:
        await stage.say(session, "hi", "hello")
        explained = await explain(session)
    sent = stage.requests[0].json["system"]
    told = explained.report.to_json()
    assert told["path"] == 3
    assert [b["text"] for b in told["blocks"]] == [b["text"] for b in sent]
    assert {s["scope"] for s in told["sections"]} <= {None, "org"}


async def test_memory_is_sent_once_whichever_level_wins(stage: Stage) -> None:
    (stage.project / "CLAUDE.md").write_text("MARK_memory\n")
    (stage.project / ".claude" / "agents").mkdir(parents=True)
    parrot = "---\nname: parrot\ndescription: repeats\n---\nYou are a parrot.\n"
    (stage.project / ".claude" / "agents" / "parrot.md").write_text(parrot)
    for given in ({}, {"system_prompt": "custom"}, {"agent": "parrot"}, {"append_system_prompt": "more"}):
        async with stage.session(**given) as session:
            await stage.say(session, "hi", "hello")
        assert json.dumps(stage.requests[-1].json).count("MARK_memory") == 1, given


async def test_news_reaches_the_model_without_a_changed_prompt(stage: Stage) -> None:
    memory = stage.project / "CLAUDE.md"
    memory.write_text("Use tabs.\n")
    async with stage.session() as session:
        await stage.say(session, "one", "1")
        memory.write_text("Use spaces.\n")
        await stage.say(session, "two", "2")
        stage.clock.advance(DAY)
        await stage.say(session, "three", "3")
        session.set_mode("plan")
        await stage.say(session, "four", "4")
    requests = stage.requests
    assert {front(r) for r in requests} == {front(requests[0])}
    assert "Use spaces." in requests[1].last_text
    assert "2026-12-01" in requests[2].last_text
    assert "Plan mode" in requests[3].last_text


async def test_a_model_switch_changes_the_environment_section_alone(stage: Stage) -> None:
    async with stage.session() as session:
        await stage.say(session, "one", "1")
        before = dict(session.state.cache.sections)
        await session.set_model("opus")
        await stage.say(session, "two", "2")
        after = dict(session.state.cache.sections)
    assert {name for name in after if after[name] != before.get(name)} == {"env_info_simple"}
    assert "claude-opus-5-5" in str(after["env_info_simple"])


async def test_clear_and_compaction_read_everything_again(stage: Stage) -> None:
    memory = stage.project / "CLAUDE.md"
    memory.write_text("MARK_one\n")
    async with stage.session() as session:
        await stage.say(session, "one", "a long story " * 400)
        memory.write_text("MARK_two\n")
        stage.play(reply(text("A summary of what was said.")))
        assert await session.compact() is not None
        await stage.say(session, "two", "2")
        assert "MARK_two" in "".join(system_text(stage.requests[-1]))
        memory.write_text("MARK_three\n")
        await session.clear()
        await stage.say(session, "three", "3")
    assert "MARK_three" in "".join(system_text(stage.requests[-1]))
    assert len(stage.requests[-1].messages) == 1


async def test_the_stub_for_small_models(stage: Stage) -> None:
    stage.environment["CLAUDE_CODE_SIMPLE"] = "1"
    (stage.project / "CLAUDE.md").write_text("MARK_memory\n")
    async with stage.session() as session:
        await stage.say(session, "hi", "hello")
    (only,) = system_text(stage.requests[0])
    assert only.count("\n") == 2
    assert str(stage.project) in only
    assert "MARK_memory" not in json.dumps(stage.requests[0].json)
