"""What the cache did in one turn, by the server's own count: in the event and in what ``/cost`` says."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from agentcli.model.report import cost_report
from tests.api import ApiServer, reply, tool_use
from tests.e2e.harness import Stage

LONG = "A long question about the code of this place. " * 300


@pytest.fixture
def stage(home: Path, project: Path) -> Iterator[Stage]:
    with ApiServer() as api:
        yield Stage(api, home, project)
        assert api.refused == []


async def test_each_turn_tells_its_own_share_and_efficiency(stage: Stage) -> None:
    async with stage.session(model="sonnet") as session:
        first = await stage.say(session, LONG, "I have read it.")
        second = await stage.say(session, "look", reply(tool_use("Glob", {"pattern": "*.py"})), "Nothing.")
        report = cost_report(session.ledger, session.monitor, session.last_turn)
    assert first.efficiency is None
    counted = [r.cache for r in stage.requests[1:]]
    read = sum(c.read for c in counted if c is not None)
    assert second.usage.cache_read == read > 0
    assert second.read_share == read / second.usage.total_input
    assert second.efficiency == 1.0
    assert second.saved is not None
    assert second.saved > 0
    assert "Last turn: $0.0" in report
    assert f" for 2 requests, {second.read_share:.1%} read from the cache (100.0% of what was readable), $" in report
