"""The prompt cache, simulated by the API's documented rules.

- An entry is written for each marked block: it stands for the whole prefix up to that block, and belongs to the API key
  (or, with ``scope: global``, to everybody).  Prefixes below the model's minimum are never written.
- From each marked block the lookup goes back block by block, 20 blocks at most (the marked one included); the longest
  entry that any of them finds is read.
- An entry can be read once the response that wrote it has begun, until its time to live is over; each read renews it,
  and so does a request that marks the same block again.
- ``total = input + creation + read``.  Creation is what lies between the read prefix and the last marked block.

Prices: a read 0.1, a 5-minute write 1.25, a 1-hour write 2 times the input price.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

from tests.api.clock import VirtualClock
from tests.api.models import Model
from tests.api.render import ChainBlock

LOOKBACK = 20
Space = tuple[str, str]
"""(API key or ``*`` for everybody, digest of the prefix)."""


@dataclass(frozen=True, slots=True)
class CacheFigures:
    """What the cache did for one request; all figures are tokens, costs US dollars."""

    read: int
    written_5m: int
    written_1h: int
    uncached: int
    common: int
    """Longest prefix that this request shares with the conversation's request before."""
    previous: int
    """Total input of the conversation's request before; 0 for the first."""
    cost: float
    """Of the input."""
    cost_uncached: float
    """What the same input costs without a cache."""

    @property
    def written(self) -> int:
        return self.written_5m + self.written_1h

    @property
    def total(self) -> int:
        return self.read + self.written + self.uncached

    @property
    def lost(self) -> int:
        """Tokens that the conversation's request before had sent and this one did not read."""
        return max(0, self.previous - self.read)

    @property
    def missed(self) -> int:
        """Tokens that stayed the same since the request before and were not read all the same."""
        return max(0, self.common - self.read)

    def usage(self) -> dict[str, Any]:
        """The input side of the API's usage."""
        return {
            "input_tokens": self.uncached,
            "cache_creation_input_tokens": self.written,
            "cache_read_input_tokens": self.read,
            "cache_creation": {
                "ephemeral_5m_input_tokens": self.written_5m,
                "ephemeral_1h_input_tokens": self.written_1h,
            },
        }


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums over requests; costs of the input only."""

    requests: int
    total: int
    read: int
    written: int
    uncached: int
    lost: int
    missed: int
    cost: float
    cost_uncached: float

    @property
    def read_share(self) -> float:
        return self.read / self.total if self.total else 0.0


def totals(figures: Iterable[CacheFigures]) -> Totals:
    every = list(figures)

    def add(name: str) -> int:
        return sum(getattr(f, name) for f in every)

    return Totals(
        requests=len(every),
        total=add("total"),
        read=add("read"),
        written=add("written"),
        uncached=add("uncached"),
        lost=add("lost"),
        missed=add("missed"),
        cost=sum(f.cost for f in every),
        cost_uncached=sum(f.cost_uncached for f in every),
    )


@dataclass(slots=True)
class _Entry:
    ttl: int
    expires: float


@dataclass(slots=True)
class Lookup:
    """One request on its way through the cache: computed when it is accepted, written when its answer begins."""

    figures: CacheFigures
    entries: dict[Space, int]
    """Entries that become readable when the answer begins, with their time to live in seconds."""
    conversation: tuple[str, str]
    chain: Sequence[ChainBlock]


@dataclass(slots=True)
class Cache:
    """``history`` holds the figures of every request whose answer began, in that order."""

    clock: VirtualClock
    history: list[CacheFigures] = field(default_factory=list)
    _entries: dict[Space, _Entry] = field(default_factory=dict)
    _last: dict[tuple[str, str], Sequence[ChainBlock]] = field(default_factory=dict)

    def look(self, chain: Sequence[ChainBlock], *, key: str, model: Model, opening: str) -> Lookup:
        """Computes what is read and what will be written.  ``opening`` tells one conversation from another."""
        sums = list(accumulate(b.tokens for b in chain))
        marked = [i for i, b in enumerate(chain) if b.marker]
        hit = self._longest(chain, marked, key)
        read = sums[hit] if hit >= 0 else 0
        writable = [i for i in marked if sums[i] >= model.cache_minimum]
        written = {300: 0, 3600: 0}
        reached = read
        for i in writable:
            marker = chain[i].marker
            if marker is not None and sums[i] > reached:
                written[marker.ttl] += sums[i] - reached
                reached = sums[i]
        total = sums[-1] if sums else 0
        conversation = (key, opening)
        before = self._last.get(conversation, ())
        figures = CacheFigures(
            read=read,
            written_5m=written[300],
            written_1h=written[3600],
            uncached=total - reached,
            common=_common(before, chain),
            previous=sum(b.tokens for b in before),
            cost=_cost(model, total, read, written[300], written[3600], total - reached),
            cost_uncached=_cost(model, total, 0, 0, 0, total),
        )
        entries = {_space(chain[i], key): m.ttl for i in writable if (m := chain[i].marker)}
        if hit >= 0:
            for space in ((key, chain[hit].digest), ("*", chain[hit].digest)):
                if self._readable(space):
                    entries.setdefault(space, self._entries[space].ttl)
        return Lookup(figures, entries, conversation, chain)

    def begin(self, lookup: Lookup) -> None:
        """The answer begins: its entries can be read from now on, and those that it read are renewed."""
        now = self.clock.now()
        for space, ttl in lookup.entries.items():
            entry = self._entries.get(space)
            if entry is None or entry.expires <= now:
                self._entries[space] = _Entry(ttl, now + ttl)
            else:
                entry.expires = now + entry.ttl
        self._last[lookup.conversation] = lookup.chain
        self.history.append(lookup.figures)

    def evict(self) -> None:
        """Throws every entry away, as a server may at any time."""
        self._entries.clear()

    def __len__(self) -> int:
        """Entries that can be read now."""
        return sum(1 for space in self._entries if self._readable(space))

    def _longest(self, chain: Sequence[ChainBlock], marked: Sequence[int], key: str) -> int:
        """Index of the last block of the longest entry that a lookup finds; -1 for none."""
        for start in sorted(marked, reverse=True):
            for i in range(start, max(-1, start - LOOKBACK), -1):
                digest = chain[i].digest
                if self._readable((key, digest)) or self._readable(("*", digest)):
                    return i
        return -1

    def _readable(self, space: Space) -> bool:
        entry = self._entries.get(space)
        return entry is not None and self.clock.now() < entry.expires


def _space(block: ChainBlock, key: str) -> Space:
    return ("*" if block.marker and block.marker.scope == "global" else key, block.digest)


def _common(before: Sequence[ChainBlock], chain: Sequence[ChainBlock]) -> int:
    tokens = 0
    for old, new in zip(before, chain, strict=False):
        if old.digest != new.digest:
            break
        tokens += new.tokens
    return tokens


def output_cost(model: Model, figures: CacheFigures, tokens: int) -> float:
    """US dollars for so many output tokens behind this input."""
    return _prices(model, figures.total)[1] / 1_000_000 * tokens


def _cost(model: Model, total: int, read: int, short: int, long: int, plain: int) -> float:
    return _prices(model, total)[0] / 1_000_000 * (plain + 0.1 * read + 1.25 * short + 2 * long)


def _prices(model: Model, total: int) -> tuple[float, float]:
    if model.long_prompt and total > model.long_prompt[0]:
        return model.long_prompt[1:]
    return model.input_price, model.output_price
