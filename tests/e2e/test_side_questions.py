"""``/btw``: read from the cache, answered in words, gone afterwards."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentcli.errors import TurnError
from agentcli.ports.frontend import UserInput
from tests.api import ApiServer, Gate, after, reply, tool_use
from tests.e2e.harness import Stage, appended, blocks


@pytest.fixture
def stage(home: Path, project: Path) -> Iterator[Stage]:
    with ApiServer() as api:
        yield Stage(api, home, project)
        assert api.refused == []


async def test_it_reads_what_was_sent_and_leaves_no_trace(stage: Stage) -> None:
    async with stage.session() as session:
        await stage.say(session, "first", "One. " * 2000)
        await stage.say(session, "second", "Two.")
        before = blocks(stage.requests[-1])
        stage.play("The flag is --fast.")
        assert await session.ask_aside("what was the flag?") == "The flag is --fast."
        aside = stage.requests[-1]
        await stage.say(session, "third", "Three.")
    assert blocks(aside)[: len(before)] == before
    assert "what was the flag?" in aside.last_text
    assert aside.cache is not None
    assert aside.cache.read > 2000
    assert aside.cache.written + aside.cache.uncached < 300
    following = stage.requests[-1]
    new = "".join(appended(stage.requests[1], following))
    assert "third" in new
    assert "flag" not in new
    assert following.cache is not None
    assert following.cache.written + following.cache.uncached < 300
    stored = next((stage.home / ".agentcli").rglob("*.jsonl")).read_text()
    assert "what was the flag?" in stored
    assert all(not o.alert for o in session.monitor.history)


async def test_it_is_answered_while_a_call_runs(stage: Stage) -> None:
    gate = Gate()
    async with stage.session() as session:
        stage.api.play(reply(tool_use("Bash", {"command": "touch begun; while [ ! -e go ]; do sleep 0.05; done"})))
        turn = asyncio.create_task(session.run(UserInput("work")))
        while not (stage.project / "begun").exists():
            await asyncio.sleep(0.01)
        stage.api.play("Still at it.")
        assert await session.ask_aside("how far?") == "Still at it."
        stage.api.play(after(gate, "Done."))
        (stage.project / "go").touch()
        gate.open()
        assert (await turn).text == "Done."
    assert "how far?" not in "".join(blocks(stage.requests[-1]))


async def test_an_answer_without_words_is_an_error(stage: Stage) -> None:
    async with stage.session() as session:
        stage.play(reply(tool_use("Bash", {"command": "touch made"})))
        with pytest.raises(TurnError, match="no answer in words"):
            await session.ask_aside("do it")
        assert session.state.messages == []
    assert not (stage.project / "made").exists()
