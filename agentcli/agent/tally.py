"""What a turn has used, and whether that is enough."""

from __future__ import annotations

from dataclasses import dataclass, field

from agentcli.agent.rooms import Limits
from agentcli.agent.stops import Ending
from agentcli.agent.turn import Answer
from agentcli.messages import Usage
from agentcli.text import plural


@dataclass(slots=True)
class Tally:
    """``cost`` is ``None`` once a request without a known price was in it."""

    steps: int = 0
    usage: Usage = field(default_factory=Usage)
    cost: float | None = 0.0
    api_seconds: float = 0.0
    text: str = ""
    stop_reason: str | None = None
    readable: int = 0
    read_of_readable: int = 0
    saved: float | None = 0.0

    def add(self, answer: Answer) -> None:
        cost = answer.report.cost if answer.report else None
        self.usage = self.usage + answer.usage
        self.cost = None if cost is None or self.cost is None else self.cost + cost
        self._cached(answer)
        self.stop_reason = answer.stop_reason
        self.text = answer.message.text()

    def _cached(self, answer: Answer) -> None:
        saved = answer.report.saved if answer.report else None
        self.saved = None if saved is None or self.saved is None else self.saved + saved
        if answer.report is not None:
            self.readable += answer.report.readable
            self.read_of_readable += min(answer.usage.cache_read, answer.report.readable)


def limit_reached(limits: Limits, tally: Tally, spent: float | None) -> Ending | None:
    """Judged before each step: the steps of this turn, and what the session has spent (``None``: unknown, no limit)."""
    most, budget = limits.max_turns, limits.max_budget_usd
    if most is not None and tally.steps >= most:
        return Ending("max_turns", f"Stopped after {plural(most, 'step')} (--max-turns).", "max_turns")
    if budget is not None and spent is not None and spent >= budget:
        return Ending("budget", f"Stopped: ${spent:.4g} of ${budget:g} are spent (--max-budget-usd).", "budget")
    if reason := limits.exhausted():
        return Ending("budget", f"Stopped: {reason}.", "budget")
    return None
