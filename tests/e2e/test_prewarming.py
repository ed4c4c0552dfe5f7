"""``promptCachePrewarm``: the prefix is written before the first question, and paid visibly."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.api import ApiServer
from tests.e2e.harness import Stage, until

ON = '{"promptCachePrewarm": true}'


@pytest.fixture
def stage(home: Path, project: Path) -> Iterator[Stage]:
    with ApiServer() as api:
        yield Stage(api, home, project)
        assert api.refused == []


async def test_the_first_question_reads_what_was_written_before(stage: Stage) -> None:
    async with stage.session(settings=ON) as session:
        session.start()
        await until(lambda: len(stage.requests) == 1, seconds=30)
        await until(lambda: bool(session.state.cost), seconds=30)
        paid = session.state.cost
        assert session.ledger.by_category()["side"].cost == paid
        await stage.say(session, "hello", "Hi.")
    before, first = stage.requests
    assert before.json["max_tokens"] == 0
    assert before.cache is not None
    assert first.cache is not None
    assert first.cache.read == before.cache.written > 2000
    assert session.state.cost is not None
    assert paid is not None
    assert session.state.cost > paid


async def test_nothing_is_sent_unasked_without_the_setting_or_in_a_script(stage: Stage) -> None:
    for given in ({"settings": "{}"}, {"settings": ON, "interactive": False}):
        async with stage.session(**given) as session:
            session.start()
            await stage.say(session, "hello", "Hi.")
    assert len(stage.requests) == 2
