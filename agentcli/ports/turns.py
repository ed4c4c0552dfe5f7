"""Between the modes that start turns by themselves and the session that runs them."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from agentcli.events import TurnFinished
from agentcli.ports.frontend import UserInput


class Turns(Protocol):
    """Whoever starts a turn starts it here, one at a time."""

    async def start(self, prompt: UserInput) -> TurnFinished:
        """One turn, to its end; never raises for what ends it."""

    async def idle(self) -> None:
        """Until no turn is running."""

    @property
    def running(self) -> bool: ...

    @property
    def count(self) -> int:
        """Turns that were begun so far, whoever began them."""

    @property
    def spent(self) -> float | None:
        """US dollars so far, subagents included; ``None`` where a price is unknown."""

    @property
    def tokens(self) -> int:
        """Input (cached too) and output so far, subagents included."""


class Ticker(Protocol):
    """What begins turns by itself.  ``over`` says why it does no longer; empty while it does."""

    over: str

    async def next(self) -> UserInput | None:
        """Waits until a turn is due and none is running, and returns its prompt; ``None`` once it is over."""

    def hear(self, turn: TurnFinished) -> None:
        """The end of any turn of the session."""

    def stop(self) -> None:
        """No more turns."""

    def exhausted(self) -> str:
        """Why the running turn may take no further step; empty while it may."""

    def next_at(self) -> datetime | None:
        """When the next turn is due; ``None`` where that can't be said."""

    def remaining(self) -> float | None:
        """Seconds until its time is over; ``None`` where time does not bound it."""
