"""What it costs to rewrite history on purpose, and what it saves."""

from __future__ import annotations

from functools import partial

from tests.benchmarks.cache import Played, played
from tests.benchmarks.cache_sessions import long_with_a_pause
from tests.benchmarks.cache_work import Play


async def plays(play: Play) -> Played:
    return await played("long", partial(play, steps=12))


async def test_clearing_behind_a_pause_costs_nothing_and_saves() -> None:
    plain = await plays(long_with_a_pause)
    cleared = await plays(partial(long_with_a_pause, clearing=True))
    assert plain.figures.requests == cleared.figures.requests
    assert cleared.figures.total < 0.85 * plain.figures.total
    assert cleared.figures.cost < 0.9 * plain.figures.cost
    assert (plain.figures.breaks, cleared.figures.breaks) == (0, 0)
    rewriting = "history rewritten at message 3 by tool result clearing"
    assert cleared.figures.causes == ((f"(idle 7 min > TTL 5 min; {rewriting})", 1),)
    assert plain.figures.causes == (("(idle 7 min > TTL 5 min)", 1),)
