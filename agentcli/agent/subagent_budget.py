"""What a subagent and everything below it may use."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import fields

from agentcli.events import Event, ToolFinished, ToolStarted
from agentcli.messages import Usage
from agentcli.ports.tools import AgentBudget


class Purse:
    """Counts against an ``AgentBudget`` and calls ``stop`` once: when the time is over, or when a request is to begin
    although another bound is reached.

    ``reason`` says then which one.  ``turns``, ``tokens`` and ``cost`` are what was used so far.
    """

    def __init__(self, budget: AgentBudget, stop: Callable[[], None]) -> None:
        self.budget = budget
        self.reason = ""
        self.turns = 0
        self.tokens = 0
        self.cost: float | None = 0.0
        self._stop = stop
        self._timer: asyncio.TimerHandle | None = None

    def open(self) -> None:
        """The time begins to run.  Real time: it must end an agent that hangs, whatever its clock says."""
        seconds = self.budget.seconds
        if seconds is not None:
            reason = f"{seconds:g} s"
            self._timer = asyncio.get_running_loop().call_later(max(seconds, 0), self.exhaust, reason)

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def charge(self, usage: Usage, cost: float | None) -> None:
        """One paid request."""
        self.tokens += usage.total_input + usage.output
        self.cost = None if cost is None or self.cost is None else self.cost + cost

    def begin(self) -> None:
        """A request is about to be sent, here or below: the place where a used-up budget ends the work."""
        budget = self.budget
        if budget.turns is not None and self.turns >= budget.turns:
            self.exhaust(f"{budget.turns:,} requests")
        elif budget.tokens is not None and self.tokens >= budget.tokens:
            self.exhaust(f"{self.tokens:,} of {budget.tokens:,} tokens")
        elif budget.usd is not None and self.cost is not None and self.cost >= budget.usd:
            self.exhaust(f"${self.cost:.2f} of ${budget.usd:.2f}")
        else:
            self.turns += 1

    def exhaust(self, reason: str) -> None:
        if not self.reason:
            self.reason = reason
            self._stop()


class Watch:
    """Calls ``stop`` once when a working agent has given no sign of life for ``seconds`` (0: never), although no call
    of it runs: calls have bounds of their own, and a question may wait for the user.  ``reason`` says so then."""

    def __init__(self, seconds: float, stop: Callable[[], None]) -> None:
        self.reason = ""
        self._seconds = seconds
        self._stop = stop
        self._calls: set[str] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._watching = False

    def open(self) -> None:
        self._watching = self._seconds > 0
        self._calls.clear()
        self._again()

    def close(self) -> None:
        self._watching = False
        self._again()

    def heard(self, event: Event) -> None:
        match event:
            case ToolStarted(tool_use_id=id):
                self._calls.add(id)
            case ToolFinished(tool_use_id=id):
                self._calls.discard(id)
            case _:
                pass
        self._again()

    def _again(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        waits = self._watching and not self._calls
        self._timer = asyncio.get_running_loop().call_later(self._seconds, self._late) if waits else None

    def _late(self) -> None:
        self.reason = f"there was no sign of life for {self._seconds:g} s"
        self._stop()


def narrower(one: AgentBudget, other: AgentBudget) -> AgentBudget:
    """For each bound the smaller of the two."""

    def least(name: str) -> float | None:
        given = [v for v in (getattr(one, name), getattr(other, name)) if v is not None]
        return min(given, default=None)

    return AgentBudget(**{f.name: least(f.name) for f in fields(AgentBudget)})  # type: ignore[arg-type]  # each its own type
