"""A compaction taken back: in the running engine and from the session file."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from agentcli.agent.compact_undo import KEPT
from agentcli.clock import SystemClock
from agentcli.errors import Bug
from agentcli.messages import message_to_api
from agentcli.model.scripted import call, say
from agentcli.sessions import FileJournal, load
from tests.agent.test_compact import big, worked
from tests.agent.world import make, standard_tools


async def test_everything_is_as_before() -> None:
    world = await worked(["THE SUMMARY", "After.", "Again."])
    state, cache = world.state, world.state.cache
    cache.sections["memory"], cache.choices["ttl"] = "told", "5m"
    cache.beta_headers.append("beta-1")
    cache.written.append("digest")
    before = (list(state.messages), state.context_tokens, state.measured, dict(cache.sections), list(cache.written))
    sent = [message_to_api(m) for m in state.messages]
    assert world.agent.undo_compaction() is None
    await world.agent.compact()
    cache.reset()
    await world.turn("since then")
    size = world.agent.undo_compaction()
    assert (state.messages, state.context_tokens, state.measured, cache.sections, cache.written) == before
    assert (cache.choices["ttl"], cache.beta_headers) == ("5m", ["beta-1"])
    assert size == state.context_tokens
    await world.turn("rather this")
    assert world.sent(-1)[: len(sent)] == sent
    assert world.requests[-1].intent == "compaction undone"
    assert world.agent.undo_compaction() is None


async def test_not_while_a_turn_runs() -> None:
    begun = asyncio.Event()

    async def slow(request: Any) -> str:
        begun.set()
        await asyncio.Event().wait()
        return ""

    world = await worked(["THE SUMMARY", slow])
    await world.agent.compact()
    turn = asyncio.create_task(world.turn("next"))
    await begun.wait()
    with pytest.raises(Bug):
        world.agent.undo_compaction()
    world.agent.interrupt()
    await turn
    assert world.agent.undo_compaction() is not None


async def test_several_are_taken_back_one_after_the_other_also_from_the_file(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    journal = FileJournal(path, clock=SystemClock())
    steps = [s for n in range(KEPT + 1) for s in (say(call("Big", id=f"b{n}")), f"Read {n}.", f"SUMMARY {n}")]
    world = make(steps, tools=standard_tools() | {"Big": big()}, journal=journal)
    stages = []
    for n in range(KEPT + 1):
        await world.turn(f"read {n}")
        stages.append(list(world.state.messages))
        await world.agent.compact()
    loaded = load(path)
    assert list(loaded.messages) == world.state.messages
    assert [list(e.messages) for e in loaded.earlier] == stages[1:]
    for expected in reversed(stages[1:]):
        assert world.agent.undo_compaction() is not None
        assert world.state.messages == expected
        loaded = load(path)
        assert list(loaded.messages) == expected
        assert [e.messages for e in loaded.earlier] == [e.messages for e in world.state.earlier]
        assert (loaded.written, loaded.prefix) == (tuple(world.state.cache.written), loaded.prefix)
    assert world.agent.undo_compaction() is None
    journal.close()


def test_a_file_that_undoes_nothing_is_read_with_a_note(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    journal = FileJournal(path, clock=SystemClock())
    journal.append("message", {"message": {"role": "user", "content": "hi"}})
    journal.append("rewind", {"undo": "compaction"})
    journal.close()
    loaded = load(path)
    assert [m.text() for m in loaded.messages] == ["hi"]
    assert "there is no compaction before it" in loaded.notes[0]
