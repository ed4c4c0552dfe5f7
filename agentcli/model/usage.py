"""Usage of responses, what it cost, and the session's ledger."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from agentcli.messages import Json, Usage
from agentcli.ports.model import ModelInfo, QuerySource

Category: TypeAlias = Literal["main", "subagent", "compaction", "side"]
CATEGORIES: tuple[Category, ...] = ("main", "subagent", "compaction", "side")
READ = 0.1
WRITE_5M = 1.25
WRITE_1H = 2.0
"""Price of a cache read, a 5-minute and a 1-hour write, in parts of the base input price (prompt-caching page)."""
WEB_SEARCH = 0.01
"""US dollars for a search of the API's web search tool: $10 per 1,000, a failed one is free (web-search-tool page)."""


def category(source: QuerySource) -> Category:
    """The cost category of a request."""
    match source:
        case "subagent":
            return "subagent"
        case "compact":
            return "compaction"
        case "side":
            return "side"
        case _:
            return "main"


def _count(raw: Mapping[str, Any], key: str) -> int | None:
    value = raw.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def usage_from_api(raw: Json | None, base: Usage | None = None) -> Usage:
    """Reads a ``usage`` object; missing fields keep ``base`` (``message_delta`` repeats only some, cumulative).

    A server without cache fields is fine.  Where only the sum of cache writes is given, it counts as 5-minute writes
    unless ``base`` knows the split.
    """
    known = base or Usage()
    given: Json = raw if isinstance(raw, Mapping) else {}
    detail = given.get("cache_creation")
    written = _count(given, "cache_creation_input_tokens")
    five, hour = known.cache_write_5m, known.cache_write_1h
    if isinstance(detail, Mapping):
        five = _count(detail, "ephemeral_5m_input_tokens") or 0
        hour = _count(detail, "ephemeral_1h_input_tokens") or 0
        if written is not None and five + hour < written:
            five = written - hour
    elif written is not None and written != five + hour:
        five, hour = written, 0
    served = given.get("server_tool_use")
    searches = _count(served, "web_search_requests") if isinstance(served, Mapping) else None
    entered, left, read = (_count(given, k) for k in ("input_tokens", "output_tokens", "cache_read_input_tokens"))
    return Usage(
        input=known.input if entered is None else entered,
        output=known.output if left is None else left,
        cache_read=known.cache_read if read is None else read,
        cache_write_5m=five,
        cache_write_1h=hour,
        web_searches=known.web_searches if searches is None else searches,
    )


def prices(info: ModelInfo, total_input: int) -> tuple[float, float] | None:
    """(input, output) in dollars per million tokens for a prompt of this size; ``None`` where unknown."""
    if info.input_price is None or info.output_price is None:
        return None
    if info.long_prompt and total_input > info.long_prompt[0]:
        return info.long_prompt[1], info.long_prompt[2]
    return info.input_price, info.output_price


def cost_of(usage: Usage, info: ModelInfo) -> float | None:
    """US dollars for one response; ``None`` for a model without known prices."""
    price = prices(info, usage.total_input)
    if price is None:
        return None
    weighted = usage.input + usage.cache_read * READ + usage.cache_write_5m * WRITE_5M + usage.cache_write_1h * WRITE_1H
    return (weighted * price[0] + usage.output * price[1]) / 1_000_000 + usage.web_searches * WEB_SEARCH


def saved_of(usage: Usage, info: ModelInfo) -> float | None:
    """US dollars that caching saved against sending the same request uncached; negative where writes cost more."""
    price = prices(info, usage.total_input)
    if price is None:
        return None
    gain = usage.cache_read * (1 - READ) - usage.cache_write_5m * (WRITE_5M - 1) - usage.cache_write_1h * (WRITE_1H - 1)
    return gain * price[0] / 1_000_000


@dataclass(slots=True)
class Line:
    """One line of the ledger.  ``cost`` covers the requests whose price is known; ``unpriced`` counts the others."""

    requests: int = 0
    usage: Usage = field(default_factory=Usage)
    cost: float = 0.0
    saved: float = 0.0
    unpriced: int = 0

    def add(self, usage: Usage, cost: float | None, saved: float | None) -> None:
        self.requests += 1
        self.usage = self.usage + usage
        if cost is None:
            self.unpriced += 1
        self.cost += cost or 0.0
        self.saved += saved or 0.0

    def to_record(self) -> dict[str, Any]:
        usage = self.usage
        return {
            "requests": self.requests,
            "inputTokens": usage.input,
            "outputTokens": usage.output,
            "cacheReadInputTokens": usage.cache_read,
            "cacheCreationInputTokens": usage.cache_write,
            "webSearchRequests": usage.web_searches,
            "costUSD": self.total_cost,
            "savedUSD": self.saved,
            "unpriced": self.unpriced,
        }

    @property
    def total_cost(self) -> float | None:
        """The cost, or ``None`` when no request of this line has a known price."""
        return None if self.requests and self.unpriced == self.requests else self.cost


class Ledger:
    """What a session used and cost, by model and category."""

    def __init__(self) -> None:
        self._lines: dict[tuple[str, Category], Line] = {}

    def record(
        self, model: str, category: Category, usage: Usage, *, cost: float | None, saved: float | None = None
    ) -> None:
        self._lines.setdefault((model, category), Line()).add(usage, cost, saved)

    def _sum(self, *, model: str | None = None, category: Category | None = None) -> Line:
        total = Line()
        for (name, kind), line in self._lines.items():
            if model in (None, name) and category in (None, kind):
                total.requests += line.requests
                total.usage = total.usage + line.usage
                total.cost += line.cost
                total.saved += line.saved
                total.unpriced += line.unpriced
        return total

    @property
    def total(self) -> Line:
        return self._sum()

    def by_model(self) -> dict[str, Line]:
        """Per model, in the order in which they were used first."""
        return {name: self._sum(model=name) for name in dict.fromkeys(m for m, _ in self._lines)}

    def by_category(self) -> dict[Category, Line]:
        """Per category that occurred, in fixed order."""
        used = {kind for _, kind in self._lines}
        return {kind: self._sum(category=kind) for kind in CATEGORIES if kind in used}

    def to_record(self) -> dict[str, Any]:
        return {
            "total": self.total.to_record(),
            "models": {m: line.to_record() for m, line in self.by_model().items()},
            "categories": {c: line.to_record() for c, line in self.by_category().items()},
        }
