"""What ``/cost`` and ``/cache`` say, as Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agentcli.events import CacheObserved, TurnFinished
from agentcli.model.figures import money, tokens
from agentcli.model.monitor import CacheMonitor, Observation
from agentcli.model.usage import WEB_SEARCH, Ledger, Line
from agentcli.text import plural

SHOWN_REQUESTS = 12
SHOWN_BREAKS = 20
_KINDS = {"main": "conversation", "subagent": "subagents", "compaction": "compaction", "side": "side questions"}


def cost_report(ledger: Ledger, monitor: CacheMonitor, turn: TurnFinished | None = None) -> str:
    """Money and tokens of the session by model and by what they were spent for; what the last ``turn`` took."""
    total = ledger.total
    if not total.requests:
        return "Nothing has been asked yet: no cost."
    lines = [f"**{_cost(total)}** for {plural(total.requests, 'request')}{_saving(total)}.", ""]
    lines += [_turn_line(turn), ""] if turn is not None and turn.steps else []
    lines += _cost_table("model", {f"`{name}`": line for name, line in ledger.by_model().items()})
    kinds = ledger.by_category()
    if len(kinds) > 1:
        lines += ["", *_cost_table("for", {_KINDS[kind]: line for kind, line in kinds.items()})]
    searches = total.usage.web_searches
    if searches:
        lines += ["", f"Web searches: {searches:,} ({money(searches * WEB_SEARCH)} at list price)."]
    lost = monitor.totals
    if lost.breaks:
        price = sum(o.lost_cost or 0 for o in monitor.breaks if not o.expected)
        lines += [
            "",
            f"Cache breaks: {lost.breaks}, {tokens(lost.lost_unexpected)} tokens paid again ({money(price)}).",
        ]
    if total.unpriced:
        lines += ["", f"Not in the sum: {plural(total.unpriced, 'request')} to models without a known price."]
    lines += ["", "Prices are list prices of the API; the bill of your provider decides."]
    return "\n".join(lines)


def _turn_line(turn: TurnFinished) -> str:
    """The conversation's own part of a turn; subagents are in the sums."""
    line = f"Last turn: {money(turn.cost)} for {plural(turn.steps, 'request')}"
    if turn.read_share is not None:
        line += f", {turn.read_share:.1%} read from the cache"
    if turn.efficiency is not None:
        line += f" ({turn.efficiency:.1%} of what was readable)"
    return f"{line}{f', {money(turn.saved)} saved' if turn.saved and turn.saved > 0 else ''}."


def cache_report(monitor: CacheMonitor) -> str:
    """What the prompt cache did: totals, every break with its cause and price, the last requests."""
    totals = monitor.totals
    if not totals.requests:
        return "Nothing has been asked yet."
    efficiency = "" if totals.efficiency is None else f", {totals.efficiency:.1%} of what was readable"
    whole, lost, unintended = map(tokens, (totals.usage.total_input, totals.lost, totals.lost_unexpected))
    lines = [
        f"**{totals.read_share:.1%}** of {whole} input tokens were read from the cache{efficiency}.",
        f"Lost: {lost} tokens, {unintended} of them unintended ({plural(totals.breaks, 'break')}).",
    ]
    breaks = monitor.breaks[-SHOWN_BREAKS:]
    if breaks:
        lines += ["", *[f"- request {o.number} ({_whose(o)}): {o.line()}" for o in breaks]]
    lines += ["", *_request_table(list(monitor.history)[-SHOWN_REQUESTS:])]
    return "\n".join(lines)


def request_line(number: int, seen: CacheObserved, *, agent: str = "") -> str:
    """What a request took, in one line; with what was paid again, and why."""
    whole = seen.read + seen.written + seen.uncached
    share = seen.read / whole if whole else 0.0
    name = f"Request {number} ({agent})" if agent else f"Request {number}"
    line = (
        f"{name}: {tokens(whole)} in, {share:.1%} read from the cache, {tokens(seen.written)} written, "
        f"{tokens(seen.uncached)} uncached, {money(seen.cost)}"
    )
    if not seen.cause:
        return line
    price = f", {money(seen.lost_cost)}" if seen.lost_cost is not None else ""
    kind = "expected" if seen.expected else "cache break"
    return f"{line}; {kind}: {seen.cause}: {tokens(seen.lost)} tokens paid again{price}"


def _whose(observation: Observation) -> str:
    return observation.conversation if observation.category == "subagent" else _KINDS[observation.category]


def _request_table(history: Sequence[Observation]) -> list[str]:
    rows = [
        (
            str(o.number),
            _whose(o),
            tokens(o.usage.total_input),
            tokens(o.usage.cache_read),
            tokens(o.usage.cache_write),
            tokens(o.usage.input),
            tokens(o.lost) if o.lost else "",
            money(o.cost),
        )
        for o in history
    ]
    return table(("request", "of", "input", "read", "written", "uncached", "lost", "cost"), rows, left=2)


def _cost_table(head: str, parts: Mapping[str, Line]) -> list[str]:
    rows = []
    for name, line in parts.items():
        usage = line.usage
        figures = (usage.input, usage.cache_read, usage.cache_write, usage.output)
        cost = "unknown" if line.total_cost is None else money(line.total_cost)
        rows.append((name, str(line.requests), *map(tokens, figures), cost))
    return table((head, "requests", "input", "cache read", "cache written", "output", "cost"), rows, left=1)


def _cost(line: Line) -> str:
    return "Unknown cost" if line.total_cost is None else money(line.total_cost)


def _saving(line: Line) -> str:
    if line.total_cost is None or not line.saved:
        return ""
    if line.saved > 0:
        return f"; caching saved {money(line.saved)}"
    return f"; caching cost {money(-line.saved)} more so far"


def table(head: Sequence[str], rows: Sequence[Sequence[str]], *, left: int = 1) -> list[str]:
    """A Markdown table; the first ``left`` columns are aligned left, the others right."""
    rule = ["---" if i < left else "---:" for i in range(len(head))]
    return ["| " + " | ".join(cells) + " |" for cells in (head, rule, *rows)]
