"""Whatever happens beside a session, what was sent stays as it was, and each event is told once, behind it."""

from __future__ import annotations

from itertools import pairwise

import pytest

from tests.benchmarks.cache import Played
from tests.e2e.harness import Stage, appended, blocks, front

TOLD = {
    "a file that was read is changed outside": "These files were changed on disk",
    "instructions are edited": "CLAUDE.md was edited. From now on it says:",
    "a directory with instructions of its own is entered": "Inner code is generated.",
    "midnight passes": "The date has changed: today is 2026-12-01.",
    "the mode becomes plan": "Plan mode is on.",
    "plan mode is left": "Plan mode is off",
    "a background job ends": "Background job bash_1 ended with exit code 0",
}


@pytest.fixture(scope="module")
def stage(sessions: dict[str, Played]) -> Stage:
    """A session of forty steps around midnight during which everything changes."""
    return sessions["40 steps of changes"].stage


def test_every_request_begins_with_the_one_before(stage: Stage) -> None:
    assert len(stage.requests) == 40
    for before, after in pairwise(stage.requests):
        assert front(after) == front(before)
        assert appended(before, after)
        assert after.betas == before.betas


@pytest.mark.parametrize("event", TOLD)
def test_each_event_is_told_once(stage: Stage, event: str) -> None:
    told = [b for b in blocks(stage.requests[-1]) if TOLD[event] in b and "<system-reminder>" in b]
    assert len(told) == 1, [b for b in blocks(stage.requests[-1]) if "<system-reminder>" in b]


def test_an_idle_todo_list_is_recalled(stage: Stage) -> None:
    told = [b for b in blocks(stage.requests[-1]) if "todo list has not been updated" in b]
    assert 1 <= len(told) <= 3


def test_nothing_is_lost_and_nothing_unexplained(stage: Stage) -> None:
    assert [r.cache.lost for r in stage.requests if r.cache] == [0] * 40
    (session,) = stage.sessions
    assert [o.cause for o in session.monitor.history] == [""] * 40
    assert session.monitor.totals.efficiency == 1.0
