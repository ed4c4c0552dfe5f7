"""Why readable tokens were not read: one request judged against the one before it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from agentcli.messages import Usage
from agentcli.model.cache import TTL_SECONDS
from agentcli.model.figures import duration
from agentcli.model.fingerprint import Change, Fingerprint, compare
from agentcli.model.usage import READ, WRITE_1H, WRITE_5M, Category, prices
from agentcli.ports.model import ModelInfo

ALERT_SHARE = 0.05
ALERT_TOKENS = 2_000


@dataclass(frozen=True, slots=True)
class Sent:
    """A request that is about to be observed: what it was, of which conversation, and when it was sent."""

    fingerprint: Fingerprint
    conversation: str
    info: ModelInfo
    category: Category
    at: datetime
    intent: str = ""


@dataclass(frozen=True, slots=True)
class Last:
    """The conversation's request before: ``cached`` tokens of it were in the cache when its answer began at ``at``."""

    fingerprint: Fingerprint
    usage: Usage
    cached: int
    at: datetime


@dataclass(frozen=True, slots=True)
class Verdict:
    """Tokens that were there, that the new prefix still holds, and that were lost; why, and whether on purpose."""

    before: int
    readable: int
    lost: int
    cause: str = ""
    expected: bool = True


def judge(last: Last, sent: Sent, usage: Usage) -> Verdict:
    """Compares what was read with what the request before had left."""
    if not last.cached:
        return Verdict(0, 0, 0, *_never_cached(last, sent))
    change = compare(last.fingerprint, sent.fingerprint)
    readable = last.cached if change is None else _share(last, change)
    lost = max(0, last.cached - usage.cache_read)
    if not lost:
        return Verdict(last.cached, readable, 0)
    cause, expected = _cause(last, sent, change, read=usage.cache_read, readable=readable)
    return Verdict(last.cached, readable, lost, cause, expected)


def _never_cached(last: Last, sent: Sent) -> tuple[str, bool]:
    if not sent.fingerprint.marks:
        return "", True
    total = last.usage.total_input
    if 0 < total < sent.info.cache_minimum:
        return f"prefix under the model's minimum of {sent.info.cache_minimum:,} tokens", True
    return "", True


def _share(last: Last, change: Change) -> int:
    """Tokens of the unchanged beginning, estimated by its share of the bytes."""
    size = last.fingerprint.size
    return min(last.cached, last.cached * change.kept // size) if size else 0


def _cause(last: Last, sent: Sent, change: Change | None, *, read: int, readable: int) -> tuple[str, bool]:
    """(cause, whether somebody intended it)."""
    if not sent.fingerprint.marks:
        return "prompt caching was switched off", True
    idle = (sent.at - last.at).total_seconds()
    ttl = TTL_SECONDS["1h" if last.fingerprint.ttl == "1h" else "5m"]
    gone = read < readable - max(ALERT_TOKENS, ALERT_SHARE * readable)
    if idle > ttl and (change is None or gone):
        words = f"idle {duration(idle)} > TTL {duration(ttl)}"
        return (f"{words}; {_because(change, sent.intent)}" if change else words), True
    if change is None:
        return "prefix unchanged: evicted by the server", False
    cause = _because(change, sent.intent)
    intended = change.expected or (bool(sent.intent) and change.level == "messages")
    if intended and gone:
        return f"{cause}; the unchanged part in front of it was evicted by the server", False
    return cause, intended or bool(sent.intent)


def _because(change: Change, intent: str) -> str:
    """The cause with its intent, unless that only says the same ("model changed by model switch")."""
    same = not intent or change.cause.startswith(intent.partition(" ")[0])
    return change.cause if same else f"{change.cause} by {intent}"


def lost_cost(lost: int, info: ModelInfo, usage: Usage) -> float | None:
    """What lost tokens cost more than reading them would have: they were written again, or paid in full."""
    price = prices(info, usage.total_input)
    if price is None:
        return None
    short = min(lost, usage.cache_write_5m)
    long = min(lost - short, usage.cache_write_1h)
    plain = min(lost - short - long, usage.input)
    extra = short * (WRITE_5M - READ) + long * (WRITE_1H - READ) + plain * (1 - READ)
    return extra * price[0] / 1_000_000
