"""What ``/cost`` and ``/cache`` say, as Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agentcli.events import CacheObserved, TurnFinished
from agentcli.i18n import IN_ENGLISH, Texts
from agentcli.model.figures import money, tokens
from agentcli.model.monitor import CacheMonitor, Observation
from agentcli.model.usage import WEB_SEARCH, Ledger, Line

SHOWN_REQUESTS = 12
SHOWN_BREAKS = 20


def cost_report(
    ledger: Ledger, monitor: CacheMonitor, turn: TurnFinished | None = None, *, t: Texts = IN_ENGLISH
) -> str:
    """Money and tokens of the session by model and by what they were spent for; what the last ``turn`` took."""
    total = ledger.total
    if not total.requests:
        return t("cost.none")
    asked = t.count("count.request", total.requests)
    lines = [t("cost.sum", cost=_cost(total, t), requests=asked, saving=_saving(total, t)), ""]
    lines += [_turn_line(turn, t), ""] if turn is not None and turn.steps else []
    lines += _cost_table(t("column.model"), {f"`{name}`": line for name, line in ledger.by_model().items()}, t)
    kinds = ledger.by_category()
    if len(kinds) > 1:
        lines += ["", *_cost_table(t("column.for"), {t(f"kind.{kind}"): line for kind, line in kinds.items()}, t)]
    searches = total.usage.web_searches
    if searches:
        lines += ["", t("cost.searches", count=f"{searches:,}", price=money(searches * WEB_SEARCH))]
    lost = monitor.totals
    if lost.breaks:
        price = money(sum(o.lost_cost or 0 for o in monitor.breaks if not o.expected))
        lines += ["", t("cost.breaks", count=lost.breaks, tokens=tokens(lost.lost_unexpected), price=price)]
    if total.unpriced:
        lines += ["", t("cost.unpriced", requests=t.count("count.request", total.unpriced))]
    return "\n".join([*lines, "", t("cost.prices")])


def _turn_line(turn: TurnFinished, t: Texts) -> str:
    """The conversation's own part of a turn; subagents are in the sums."""
    more = "" if turn.read_share is None else t("cost.turn.read", share=f"{turn.read_share:.1%}")
    if turn.efficiency is not None:
        more += t("cost.turn.efficiency", share=f"{turn.efficiency:.1%}")
    if turn.saved and turn.saved > 0:
        more += t("cost.turn.saved", price=money(turn.saved))
    return t("cost.turn", price=_price(turn.cost, t), requests=t.count("count.request", turn.steps), more=more)


def cache_report(monitor: CacheMonitor, *, t: Texts = IN_ENGLISH) -> str:
    """What the prompt cache did: totals, every break with its cause and price, the last requests."""
    totals = monitor.totals
    if not totals.requests:
        return t("cache.none")
    efficiency = "" if totals.efficiency is None else t("cache.efficiency", share=f"{totals.efficiency:.1%}")
    whole, lost, unintended = map(tokens, (totals.usage.total_input, totals.lost, totals.lost_unexpected))
    lines = [
        t("cache.share", share=f"{totals.read_share:.1%}", tokens=whole, efficiency=efficiency),
        t("cache.lost", lost=lost, unintended=unintended, breaks=t.count("count.break", totals.breaks)),
    ]
    breaks = monitor.breaks[-SHOWN_BREAKS:]
    if breaks:
        told = (f"{t('cache.request', number=o.number, whose=_whose(o, t))}: {o.line(t)}" for o in breaks)
        lines += ["", *(f"- {line}" for line in told)]
    lines += ["", *_request_table(list(monitor.history)[-SHOWN_REQUESTS:], t)]
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


def _whose(observation: Observation, t: Texts) -> str:
    kind = observation.category
    return observation.conversation if kind == "subagent" else t(f"kind.{kind}")


def _request_table(history: Sequence[Observation], t: Texts) -> list[str]:
    rows = [
        (
            str(o.number),
            _whose(o, t),
            tokens(o.usage.total_input),
            tokens(o.usage.cache_read),
            tokens(o.usage.cache_write),
            tokens(o.usage.input),
            tokens(o.lost) if o.lost else "",
            _price(o.cost, t),
        )
        for o in history
    ]
    columns = ("request", "of", "input", "read", "written", "uncached", "lost", "cost")
    return table(_head(columns, t), rows, left=2)


def _cost_table(head: str, parts: Mapping[str, Line], t: Texts) -> list[str]:
    rows = []
    for name, line in parts.items():
        usage = line.usage
        figures = (usage.input, usage.cache_read, usage.cache_write, usage.output)
        rows.append((name, str(line.requests), *map(tokens, figures), _price(line.total_cost, t)))
    columns = ("requests", "input", "cache_read", "cache_written", "output", "cost")
    return table((head, *_head(columns, t)), rows, left=1)


def _head(columns: Sequence[str], t: Texts) -> list[str]:
    return [t(f"column.{name}") for name in columns]


def _price(amount: float | None, t: Texts) -> str:
    return t("price.unknown") if amount is None else money(amount)


def _cost(line: Line, t: Texts) -> str:
    return t("cost.unknown") if line.total_cost is None else money(line.total_cost)


def _saving(line: Line, t: Texts) -> str:
    if line.total_cost is None or not line.saved:
        return ""
    return t("cost.saved", price=money(line.saved)) if line.saved > 0 else t("cost.more", price=money(-line.saved))


def table(head: Sequence[str], rows: Sequence[Sequence[str]], *, left: int = 1) -> list[str]:
    """A Markdown table; the first ``left`` columns are aligned left, the others right."""
    rule = ["---" if i < left else "---:" for i in range(len(head))]
    return ["| " + " | ".join(cells) + " |" for cells in (head, rule, *rows)]
