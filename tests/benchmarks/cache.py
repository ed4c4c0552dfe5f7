"""What the prompt cache does for whole sessions: ``python -m tests.benchmarks.cache``.

Real sessions against the strict server with its simulated cache, on a clock that only the script moves: the same
command gives the same figures.

Columns.  requests; total input tokens; read: their share that was read from the cache; efficiency: read tokens by those
that were readable, in the monitor's words; lost: tokens that the conversation's request before had sent and this one
did not read; cost: US dollars of all requests, output too; saved: against the same requests without a cache; breaks:
unexpected ones, and every cause that the monitor named (expected ones in brackets).
"""

from __future__ import annotations

import asyncio
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tests.api import ApiServer, Request, totals
from tests.benchmarks.cache_sessions import (
    PROCESSES,
    REWRITES,
    SESSIONS,
    answered,
    start_of,
    two_directories,
)
from tests.benchmarks.cache_work import Play, furnish
from tests.e2e.harness import Stage, plain_environment

READ, WRITE = 0.1, 1.25


@dataclass(frozen=True)
class Figures:
    """Of one session.  ``floor``: every byte written once, and read at a tenth ever after; output as it was."""

    name: str
    requests: int
    total: int
    read: int
    readable: int
    read_of_readable: int
    lost: int
    cost: float
    saved: float
    floor: float
    breaks: int
    causes: tuple[tuple[str, int], ...]

    @property
    def share(self) -> float:
        return self.read / self.total if self.total else 0.0

    @property
    def efficiency(self) -> float | None:
        """``None`` where no monitor of this process saw anything readable."""
        return self.read_of_readable / self.readable if self.readable else None


@dataclass(frozen=True)
class Played:
    figures: Figures
    stage: Stage
    requests: tuple[Request, ...]
    """Those whose answer began."""


async def played(name: str, play: Play, *, first_party: bool = True) -> Played:
    """Plays the session in directories and on a server of its own."""
    with tempfile.TemporaryDirectory(prefix="cache-") as root:
        home, project = Path(root) / "home", Path(root) / "project"
        home.mkdir()
        project.mkdir()
        with plain_environment(home):
            async with ApiServer() as api:
                stage = Stage(api, home, project, start=start_of(name), first_party=first_party)
                furnish(stage)
                await play(stage)
                api.assert_clean()
                return Played(figures(name, stage), stage, tuple(answered(api.requests)))


def figures(name: str, stage: Stage) -> Figures:
    sent = answered(stage.api.requests)
    sums = totals(r.cache for r in sent if r.cache)
    monitors = [s.monitor for s in stage.sessions]
    seen = [o for m in monitors for o in m.history]
    causes = Counter(f"({o.cause})" if o.expected else o.cause for o in seen if o.cause)
    cost = sum(r.cost if r.cost is not None else r.cache.cost for r in sent if r.cache)
    return Figures(
        name=name,
        requests=sums.requests,
        total=sums.total,
        read=sums.read,
        readable=sum(o.readable for o in seen),
        read_of_readable=sum(min(o.usage.cache_read, o.readable) for o in seen),
        lost=sums.lost,
        cost=cost,
        saved=sums.cost_uncached - sums.cost,
        floor=floor(sent) + cost - sums.cost,
        breaks=sum(m.totals.breaks for m in monitors),
        causes=tuple(sorted(causes.items())),
    )


def floor(sent: Sequence[Request]) -> float:
    """US dollars of the input, had every token been written once and read at a tenth in each later request."""
    cost, before = 0.0, 0
    for request in sent:
        assert request.cache is not None
        price = request.cache.cost_uncached / request.cache.total
        kept = min(before, request.cache.total)
        cost += price * (READ * kept + WRITE * (request.cache.total - kept))
        before = request.cache.total
    return cost


def row(f: Figures) -> str:
    efficiency = "-" if f.efficiency is None else f"{f.efficiency:.2%}"
    causes = "; ".join(f"{n} x {c}" if n > 1 else c for c, n in f.causes)
    return (
        f"{f.name:<28}{f.requests:>9}{f.total:>11,}{f.share:>8.1%}{efficiency:>12}{f.lost:>8,}"
        f"{f.cost:>10.4f}{f.saved:>10.4f}  {f.breaks}{' ' + causes if causes else ''}"
    )


HEAD = (
    f"{'':<28}{'requests':>9}{'input':>11}{'read':>8}{'efficiency':>12}{'lost':>8}{'cost $':>10}{'saved $':>10}  breaks"
)


def summed(every: Sequence[Figures]) -> Figures:
    return Figures(
        "all together",
        *(
            sum(getattr(f, name) for f in every)
            for name in ("requests", "total", "read", "readable", "read_of_readable", "lost", "cost", "saved", "floor")
        ),
        breaks=sum(f.breaks for f in every),
        causes=(),
    )


async def main() -> None:
    every: list[Figures] = []
    print(HEAD)
    for name, play in {**SESSIONS, **PROCESSES}.items():
        every.append((await played(name, play)).figures)
        print(row(every[-1]), flush=True)
    print(row(summed(every)))
    forty = every[0]
    print(
        f"\n{forty.name}: ${forty.cost:.4f}; the floor (every byte written once, read at a tenth ever after) is "
        f"${forty.floor:.4f}, {forty.cost / forty.floor - 1:+.2%}"
    )
    print("\nForty steps with a pause longer than the cache lives, and a compaction that is taken back at once")
    print(HEAD)
    for name, play in REWRITES.items():
        print(row((await played(name, play)).figures), flush=True)
    print("\nTwo directories, ten steps in each, by layout and path (1: MCP tool in front, 2: global scope, 3: others)")
    print(HEAD)
    for layout in ("split", "documented"):
        for path in (1, 2, 3):
            play = partial(two_directories, layout=layout, mcp=path == 1)
            result = await played(f"{layout}, path {path}", play, first_party=path != 3)
            print(row(result.figures), flush=True)


if __name__ == "__main__":
    asyncio.run(main())
