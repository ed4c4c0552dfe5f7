"""The prompt-cache contract, through the whole product: every byte that was sent before is read from the cache."""

from __future__ import annotations

import asyncio
from functools import partial
from itertools import pairwise

import pytest

from agentcli.events import CacheObserved
from tests.api import Request
from tests.api.tokens import count_json, count_text
from tests.benchmarks.cache import Played, played
from tests.benchmarks.cache_sessions import SESSIONS, two_directories
from tests.e2e.harness import blocks, front

QUICK = ("3 bursts of 25 calls", "5 parallel siblings", "rewind")


@pytest.mark.parametrize("name", [n for n in SESSIONS if n != "rewind"])
def test_nothing_that_was_sent_is_paid_again(sessions: dict[str, Played], name: str) -> None:
    """Not even behind a compaction, whose new conversation begins with the old one's front."""
    found = sessions[name].figures
    assert (found.lost, found.breaks) == (0, 0)
    assert found.read_of_readable == found.readable


@pytest.mark.parametrize("name", SESSIONS)
def test_every_loss_has_a_name_and_was_meant(sessions: dict[str, Played], name: str) -> None:
    causes = {
        "compaction": (("(history rewritten at message 1 by compaction)", 1),),
        "rewind": (("(history rewritten at message 17 by rewind)", 1),),
    }
    assert sessions[name].figures.causes == causes.get(name, ())


@pytest.mark.parametrize("name", ["compaction", "rewind", "failures and retries"])
def test_front_ends_hear_what_the_monitor_says(sessions: dict[str, Played], name: str) -> None:
    stage = sessions[name].stage
    heard = [(e.read, e.readable, e.cause, e.expected) for e in stage.heard if isinstance(e, CacheObserved)]
    seen = [o for s in stage.sessions for o in s.monitor.history]
    assert heard == [(o.usage.cache_read, o.readable, o.cause, o.expected) for o in seen]


def test_a_rewind_reads_all_that_it_keeps(sessions: dict[str, Played]) -> None:
    """What is not read is the answer in front of the prompt that was taken back: no entry ends behind it."""
    losing = [r.cache for r in sessions["rewind"].requests if r.cache and r.cache.lost]
    assert len(losing) == 1
    assert losing[0].missed <= count_text("Prompt 2 is done.")


def test_forty_steps_cost_the_floor(sessions: dict[str, Played]) -> None:
    """Every byte written once, and read at a tenth ever after; also where the session is resumed in between."""
    found = sessions["40 steps, one process"].figures
    assert found.requests == 40
    assert found.cost == pytest.approx(found.floor, rel=1e-9)
    reopened = sessions["40 steps, reopened 3 times"].figures
    assert (reopened.total, reopened.read, reopened.cost) == (found.total, found.read, pytest.approx(found.cost))


def static_tokens(request: Request) -> int:
    """Tokens of the tools and of the system prompt up to its first mark."""
    last = next(i for i, block in enumerate(request.system) if "cache_control" in block)
    rendered = [tool for tool in request.tools if not tool.get("defer_loading")]
    return sum(map(count_json, rendered)) + sum(count_text(b["text"]) for b in request.system[: last + 1])


def test_ten_fresh_sessions_share_tools_and_static_region(sessions: dict[str, Played]) -> None:
    first, *others = sessions["10 fresh, 10 directories"].requests
    assert first.cache is not None
    assert (first.cache.read, len(others)) == (0, 9)
    for other in others:
        assert other.cache is not None
        assert other.cache.read == static_tokens(other) > 0.75 * other.cache.total


def test_of_five_siblings_only_the_first_pays(sessions: dict[str, Played]) -> None:
    first, *others = sessions["5 parallel siblings"].requests
    assert first.cache is not None
    shared = first.cache.total - count_text(first.messages[0]["content"][-1]["text"])
    assert first.cache.read == 0
    assert [r.cache.read for r in others if r.cache] == [shared] * 4


def test_a_compaction_request_reads_all_that_was_sent(sessions: dict[str, Played]) -> None:
    requests = sessions["compaction"].requests
    number = next(i for i, (a, b) in enumerate(pairwise(requests)) if len(b.messages) < len(a.messages))
    before, asking, new = requests[number - 1 : number + 2]
    assert before.cache is not None
    assert asking.cache is not None
    assert new.cache is not None
    assert front(asking) == front(before)
    assert blocks(asking)[: len(blocks(before))] == blocks(before)
    assert asking.cache.read == before.cache.total
    assert front(new) == front(before)
    assert new.cache.read >= new.cache.total - sum(count_text(b["text"]) for b in new.blocks())


def test_a_retry_sends_the_same_bytes(sessions: dict[str, Played]) -> None:
    every = sessions["failures and retries"].stage.api.requests
    repeated = [(a, b) for a, b in pairwise(every) if not a.finished]
    assert len(repeated) == 4
    assert all(a.body == b.body for a, b in repeated)


def test_the_same_command_gives_the_same_figures(sessions: dict[str, Played]) -> None:
    async def again() -> list[object]:
        return [(await played(name, SESSIONS[name])).figures for name in QUICK]

    assert asyncio.run(again()) == [sessions[name].figures for name in QUICK]


@pytest.mark.parametrize("path", [1, 3])
def test_the_split_layout_shares_more_where_the_scope_is_not_global(path: int) -> None:
    async def both() -> list[Played]:
        return [
            await played(layout, partial(two_directories, layout=layout, mcp=path == 1), first_party=path != 3)
            for layout in ("split", "documented")
        ]

    split, documented = [p.figures for p in asyncio.run(both())]
    assert (split.lost, split.breaks, documented.lost, documented.breaks) == (0, 0, 0, 0)
    assert split.total == documented.total
    assert split.cost < documented.cost
