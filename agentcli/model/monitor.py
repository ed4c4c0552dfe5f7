"""The cache monitor: what should have been read, what was, and why not.

For every conversation it knows the fingerprint of the request before, and therefore which tokens that request had left
in the cache.  What of them is not read again is *lost*; the cause is named, always recorded, and alerted only when
nobody intended it and it is worth a line (more than 5 % and 2,000 tokens).
"""

from __future__ import annotations

from collections import OrderedDict, deque
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from agentcli.clock import SystemClock
from agentcli.i18n import IN_ENGLISH, Texts
from agentcli.messages import Usage
from agentcli.model.breaks import ALERT_SHARE, ALERT_TOKENS, Last, Sent, Verdict, judge, lost_cost
from agentcli.model.catalog import model_info
from agentcli.model.figures import money, tokens
from agentcli.model.fingerprint import Fingerprint
from agentcli.model.usage import WRITE_1H, WRITE_5M, Category, Ledger, cost_of, prices, saved_of
from agentcli.ports.model import CacheReport, ModelInfo
from agentcli.ports.sessions import Clock

HISTORY = 2_000
CONVERSATIONS = 256
TOLD_BREAKS = 20


@dataclass(frozen=True, slots=True)
class Observation:
    """What the cache did for one request.  Tokens and US dollars.

    ``before`` is what the conversation's request before had left in the cache, ``readable`` the part of it that this
    prefix still contains, ``lost`` what of ``before`` was not read.  ``lost_cost`` is what the lost tokens cost more
    than a read would have.  ``api_cause`` is the API's own diagnosis, where it gave one.
    """

    number: int
    at: datetime
    conversation: str
    model: str
    category: Category
    usage: Usage
    cost: float | None
    saved: float | None
    before: int
    readable: int
    lost: int
    lost_cost: float | None
    cause: str = ""
    expected: bool = True
    alert: bool = False
    api_cause: str = ""

    @property
    def read_share(self) -> float:
        """Read tokens by total input, 0 to 1."""
        total = self.usage.total_input
        return self.usage.cache_read / total if total else 0.0

    def report(self) -> CacheReport:
        return CacheReport(
            self.usage,
            self.cost,
            self.saved,
            self.readable,
            self.cause,
            expected=self.expected,
            alert=self.alert,
            lost=self.lost,
            lost_cost=self.lost_cost,
        )

    def line(self, t: Texts = IN_ENGLISH) -> str:
        """One line for people; empty where nothing was lost."""
        if not self.cause:
            return ""
        return t(
            "cache.line",
            kind=t("cache.expected" if self.expected else "cache.unexpected"),
            cause=self.cause,
            tokens=tokens(self.lost),
            price=f", {money(self.lost_cost)}" if self.lost_cost is not None else "",
            diagnosis=t("cache.diagnosis", cause=self.api_cause) if self.api_cause else "",
        )


@dataclass(frozen=True, slots=True)
class SwitchPrice:
    """What it costs to go on with another model: ``tokens`` are read anew, ``cost`` is ``None`` without a price."""

    tokens: int
    cost: float | None

    def line(self, t: Texts = IN_ENGLISH) -> str:
        price = t("switch.about", price=money(self.cost)) if self.cost is not None else ""
        return t("switch.line", tokens=tokens(self.tokens), price=price)


@dataclass(slots=True)
class Totals:
    """Sums over a session.  ``efficiency`` is read tokens by those that were readable."""

    requests: int = 0
    usage: Usage = field(default_factory=Usage)
    readable: int = 0
    read_of_readable: int = 0
    lost: int = 0
    lost_unexpected: int = 0
    breaks: int = 0

    @property
    def read_share(self) -> float:
        total = self.usage.total_input
        return self.usage.cache_read / total if total else 0.0

    @property
    def efficiency(self) -> float | None:
        return self.read_of_readable / self.readable if self.readable else None


class CacheMonitor:
    """``observe`` one response after the other; ask for ``history``, ``totals``, ``last`` and prices at any time."""

    def __init__(self, *, clock: Clock | None = None, ledger: Ledger | None = None) -> None:
        self.clock = clock or SystemClock()
        self.ledger = ledger or Ledger()
        self.history: deque[Observation] = deque(maxlen=HISTORY)
        self.totals = Totals()
        self._last: OrderedDict[str, Last] = OrderedDict()

    @property
    def last(self) -> Observation | None:
        return self.history[-1] if self.history else None

    @property
    def breaks(self) -> list[Observation]:
        """Observations with a loss, expected ones too."""
        return [o for o in self.history if o.cause]

    def last_of(self, conversation: str) -> Observation | None:
        return next((o for o in reversed(self.history) if o.conversation == conversation), None)

    def observe(self, sent: Sent, usage: Usage, *, api_cause: str = "", began: datetime | None = None) -> Observation:
        """Takes note of a response that ended well.  ``began`` is when it began (entries live from then on)."""
        cost, saved = cost_of(usage, sent.info), saved_of(usage, sent.info)
        last = self._last.get(sent.conversation)
        verdict = judge(last, sent, usage) if last is not None else Verdict(0, 0, 0)
        unexpected = bool(verdict.cause) and not verdict.expected
        observation = Observation(
            number=self.totals.requests + 1,
            at=sent.at,
            conversation=sent.conversation,
            model=sent.info.id,
            category=sent.category,
            usage=usage,
            cost=cost,
            saved=saved,
            before=verdict.before,
            readable=verdict.readable,
            lost=verdict.lost,
            lost_cost=lost_cost(verdict.lost, sent.info, usage),
            cause=verdict.cause,
            expected=not unexpected,
            alert=unexpected and verdict.lost > ALERT_TOKENS and verdict.lost > ALERT_SHARE * verdict.before,
            api_cause=api_cause,
        )
        self._note(observation)
        cached = usage.cache_read + usage.cache_write
        self._last[sent.conversation] = Last(sent.fingerprint, usage, cached, began or sent.at)
        self._last.move_to_end(sent.conversation)
        if len(self._last) > CONVERSATIONS:
            self._last.popitem(last=False)
        return observation

    def summary(self) -> dict[str, Any]:
        """Totals of the session and its newest breaks, JSON-ready, for the result of a headless run."""
        totals = self.totals
        return {
            "read_share": round(totals.read_share, 4),
            "efficiency": None if totals.efficiency is None else round(totals.efficiency, 4),
            "lost_tokens": totals.lost,
            "unintended_lost_tokens": totals.lost_unexpected,
            "saved_usd": self.ledger.total.saved,
            "breaks": [
                {
                    "request": o.number,
                    "conversation": o.conversation,
                    "cause": o.cause,
                    "expected": o.expected,
                    "lost_tokens": o.lost,
                    "lost_usd": o.lost_cost,
                }
                for o in self.breaks[-TOLD_BREAKS:]
            ],
        }

    def _note(self, observation: Observation) -> None:
        self.history.append(observation)
        totals = self.totals
        totals.requests += 1
        totals.usage = totals.usage + observation.usage
        totals.readable += observation.readable
        totals.read_of_readable += min(observation.usage.cache_read, observation.readable)
        totals.lost += observation.lost
        if observation.cause and not observation.expected:
            totals.lost_unexpected += observation.lost
            totals.breaks += 1
        self.ledger.record(
            observation.model, observation.category, observation.usage, cost=observation.cost, saved=observation.saved
        )

    def restore(self, conversation: str, fingerprint: Fingerprint, usage: Usage, at: datetime) -> None:
        """A resumed conversation: its last request before, what that took, and when it was answered."""
        self._last[conversation] = Last(fingerprint, usage, usage.cache_read + usage.cache_write, at)

    def forget(self, conversation: str) -> None:
        """The conversation begins anew (``/clear``): nothing is expected of its next request."""
        self._last.pop(conversation, None)

    def switch_price(self, model: str, conversation: str = "main", *, info: ModelInfo | None = None) -> SwitchPrice:
        """What the next request costs more when it goes to ``model``, which has nothing of this conversation cached."""
        last = self._last.get(conversation)
        if last is None:
            return SwitchPrice(0, 0.0)
        count = last.usage.total_input + last.usage.output
        price = prices(info or model_info(model), count)
        factor = WRITE_1H if last.fingerprint.ttl == "1h" else WRITE_5M
        return SwitchPrice(count, None if price is None else count * factor * price[0] / 1_000_000)
