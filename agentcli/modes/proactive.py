"""Proactive mode: the texts of an agent that works on its own, and what wakes it.

Loaded only where the feature ``PROACTIVE`` or ``KAIROS`` is on and the mode is active.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from agentcli.events import TurnFinished
from agentcli.ports.frontend import UserInput
from agentcli.ports.prompt import Moment, Reminder
from agentcli.ports.sessions import Clock
from agentcli.ports.turns import Turns
from agentcli.prompt.context import ProactiveWords
from agentcli.prompt.words import read_words


def proactive_words() -> ProactiveWords:
    """Identity with the security instruction, and the section that closes the prompt."""
    here = Path(__file__)
    return ProactiveWords(
        identity=read_words(here.with_name("proactive_identity.md")), section=read_words(here.with_suffix(".md"))
    )


TOOL = "Sleep"
IDLE = 30.0
"""Seconds without a turn after which a tick comes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Endurance:
    """How long an agent works on its own; ``None`` is unbounded.  ``tokens`` count input (cached too) and output."""

    idle: float = IDLE
    tokens: int | None = None
    seconds: float | None = None
    usd: float | None = None


class Ticker:
    """Makes the ticks of one session.  ``over`` says why there are no more; empty while there are.

    With ``bounds_all`` the budget ends every turn of the session, not only those that a tick began: nobody is there to
    ask for more.
    """

    def __init__(self, endurance: Endurance, turns: Turns, clock: Clock) -> None:
        self.over = ""
        self.bounds_all = False
        self._endurance = endurance
        self._turns = turns
        self._clock = clock
        self._began = clock.monotonic()
        self._stopped = asyncio.Event()
        self._own = False
        """Whether the running turn was begun by a tick."""

    async def next(self) -> UserInput | None:
        """Waits until the session has been idle long enough, and returns what wakes it; ``None`` when the budget is
        used up or it was stopped."""
        while not self._used_up():
            before = self._turns.count
            await self._turns.idle()
            await self._pause(self._endurance.idle)
            if self.over:
                return None
            if self._turns.count == before and not self._turns.running:
                return self.tick()
        return None

    def tick(self) -> UserInput:
        """What wakes the agent, without any waiting."""
        self._own = True
        return UserInput(self._words())

    def hear(self, turn: TurnFinished) -> None:
        """Whatever a turn came to, the next tick asks again."""
        self._own = False

    def stop(self, reason: str = "stopped by the user") -> None:
        """No more ticks."""
        self.over = self.over or f"The agent no longer works on its own: {reason}."
        self._stopped.set()

    def exhausted(self) -> str:
        """Why the running turn may take no further step; empty while it may."""
        return self._bound() if self._own or self.bounds_all else ""

    def next_at(self) -> datetime | None:
        """Nothing: a tick comes when the session has been idle."""
        return None

    def remaining(self) -> float | None:
        seconds = self._endurance.seconds
        return None if seconds is None else max(seconds - self._passed(), 0.0)

    async def _pause(self, seconds: float) -> None:
        """So long, or until it is stopped."""
        ways = [asyncio.ensure_future(self._clock.sleep(seconds)), asyncio.ensure_future(self._stopped.wait())]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()

    def _used_up(self) -> bool:
        if reason := self._bound():
            self.stop(reason)
        return bool(self.over)

    def _bound(self) -> str:
        """What of the budget is used up; empty while nothing is."""
        bounds, spent = self._endurance, self._turns.spent
        if bounds.tokens is not None and self._turns.tokens >= bounds.tokens:
            return f"{bounds.tokens:,} tokens are used"
        if bounds.seconds is not None and self._passed() >= bounds.seconds:
            return f"{bounds.seconds:g} s are over"
        if bounds.usd is not None and spent is not None and spent >= bounds.usd:
            return f"${bounds.usd:.2f} are spent"
        return ""

    def _passed(self) -> float:
        return self._clock.monotonic() - self._began

    def _words(self) -> str:
        bounds, spent, left = self._endurance, self._turns.spent, []
        if bounds.tokens is not None:
            left.append(f"{max(bounds.tokens - self._turns.tokens, 0):,} tokens")
        if bounds.seconds is not None:
            left.append(f"{max(bounds.seconds - self._passed(), 0) / 60:.0f} minutes")
        if bounds.usd is not None and spent is not None:
            left.append(f"${max(bounds.usd - spent, 0):.2f}")
        budget = f" Left of the budget: {', '.join(left)}." if left else ""
        return f"(tick) Nothing is running. It is {self._clock.now():%Y-%m-%d %H:%M}.{budget}"


@dataclass(slots=True)
class FocusSource:
    """Whether the user is there: told at the start and at each change.  ``focus`` is ``None`` where nobody knows."""

    focus: Callable[[], bool | None]
    _told: bool | None = None

    async def collect(self, moment: Moment, *, paths: Sequence[Path] = ()) -> list[Reminder]:
        if moment == "file_touched":
            return []
        now = self.focus()
        if moment == "after_compaction":
            self._told = None
        if now is None or now == self._told:
            return []
        self._told = now
        return [Reminder("focus", "The user is here." if now else "The user is away.")]
