"""What ``/cost``, ``/cache`` and ``/context`` tell."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from agentcli.i18n import Texts
from agentcli.messages import TextBlock, ToolResultBlock, ToolUseBlock, Usage, assistant, user
from agentcli.model.breaks import Sent
from agentcli.model.catalog import model_info
from agentcli.model.monitor import CacheMonitor
from agentcli.model.report import cache_report, cost_report
from agentcli.model.usage import Ledger
from agentcli.model.window import WindowUse, context_report, window_use
from tests.model.clock import VirtualClock
from tests.model.worlds import MCP_A, READ, ask, build, prompt, reminder


def monitor() -> CacheMonitor:
    """Three requests: one that writes, one that reads, one whose memory section changed."""
    watched = CacheMonitor(clock=VirtualClock())
    asked = ask(user("hi"))
    at = datetime(2026, 11, 30, 12, tzinfo=UTC)
    steps = (
        (asked, Usage(input=3, output=50, cache_write_5m=20_000)),
        (asked, Usage(input=4, output=80, cache_read=20_000, cache_write_5m=900)),
        (replace(asked, system=prompt(memory="other")), Usage(output=10, cache_read=1_500, cache_write_5m=19_000)),
    )
    for request, usage in steps:
        sent = Sent(build(request).fingerprint, "main", model_info(request.model), "main", at)
        watched.observe(sent, usage)
    side = Sent(build(ask(model="qwen")).fingerprint, "side", model_info("qwen"), "side", at)
    watched.observe(side, Usage(input=900, output=5))
    return watched


def test_cost_report(golden) -> None:
    watched = monitor()
    golden("cost.md", cost_report(watched.ledger, watched) + "\n")


def test_cache_report(golden) -> None:
    golden("cache.md", cache_report(monitor()) + "\n")


def test_reports_in_korean(golden) -> None:
    t, watched = Texts("ko"), monitor()
    reports = cost_report(watched.ledger, watched, t=t), cache_report(watched, t=t), context_report(sample_use(), t=t)
    golden("reports.ko.md", "\n\n".join(reports) + "\n")


def test_reports_of_nothing() -> None:
    assert cost_report(Ledger(), CacheMonitor()) == "Nothing has been asked yet: no cost."
    assert cache_report(CacheMonitor()) == "Nothing has been asked yet."


def sample_use(counted: int | None = None) -> WindowUse:
    call = ToolUseBlock("t1", "Read", {"path": "big.py"})
    asked = ask(
        user(reminder("today"), "hi " * 500),
        assistant("ho", call),
        user(ToolResultBlock("t1", (TextBlock("x = 1\n" * 20_000),))),
        tools=(READ, MCP_A, replace(MCP_A, name="mcp__a__late", deferred=True)),
    )
    return window_use(asked, window=200_000, reserved=45_000, counted=counted)


def test_context_report(golden) -> None:
    golden("context.md", context_report(sample_use()) + "\n")


def test_the_apis_count_decides_the_sum() -> None:
    use = sample_use(41_234)
    assert use.used == 41_234
    assert use.used + use.free + use.reserved == 200_000
    assert "**41k of 200k tokens (21%)**, counted by the API" in context_report(use)


def test_a_full_window_still_draws() -> None:
    use = WindowUse((("conversation", 250_000),), 200_000, 45_000, measured=False)
    assert use.free == 0
    assert "/compact" in context_report(use)
