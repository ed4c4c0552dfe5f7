"""Proactive mode without a person: ticks drive one prompt's work until the budget is used up, nothing is left to do, or
a signal comes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from agentcli.errors import UsageError
from agentcli.events import Event, ToolStarted, TurnFinished
from agentcli.modes.select import NEEDED, proactive_active
from agentcli.ports.frontend import UserInput
from agentcli.runtime.session import Session
from agentcli.text import plural
from agentcli.ui.headless.result import joined, out_of_turns

if TYPE_CHECKING:
    from agentcli.modes.proactive import Ticker

QUIET = 3
"""So many ticks in a row that led to nothing but sleep and words end the run: nobody is there to ask for more."""


def alone(session: Session) -> Alone | None:
    """The driver of a session that works on its own; ``None`` for any other.  ``UsageError`` where it should be one
    and the feature is off."""
    if not session.world.options.proactive:
        return None
    if not proactive_active(session.world.features, active=True):
        raise UsageError(f"--proactive needs {NEEDED}")
    from agentcli.modes.proactive import Ticker

    ticker = session.waking.ticker
    assert isinstance(ticker, Ticker)
    return Alone(session, ticker)


class Alone:
    """Turn after turn, told as one."""

    def __init__(self, session: Session, ticker: Ticker) -> None:
        self._session = session
        self._ticker = ticker
        self._worked = False
        ticker.bounds_all = True

    def hear(self, event: Event) -> None:
        """A listener of the session's events."""
        if isinstance(event, ToolStarted) and event.name != "Sleep":
            self._worked = True

    def first(self, prompt: UserInput) -> UserInput:
        """The prompt, or a tick where there is none."""
        return prompt if prompt.text.strip() or prompt.attachments else self._ticker.tick()

    async def unless(self, news: asyncio.Event) -> UserInput | None:
        """The next tick, unless something comes first; without further ticks that is waited for alone."""
        waiting = asyncio.ensure_future(news.wait())
        ticking = asyncio.ensure_future(self._ticker.next())
        try:
            await asyncio.wait({waiting, ticking}, return_when=asyncio.FIRST_COMPLETED)
            if not waiting.done() and (tick := ticking.result()) is not None:
                return tick
            self._session.waking.tell_end()
            await waiting
            return None
        finally:
            waiting.cancel()
            ticking.cancel()

    async def go_on(self, turn: TurnFinished, run: Callable[[UserInput], Awaitable[TurnFinished]]) -> TurnFinished:
        """The turns behind ``turn`` and that one, as one turn; ``--max-turns`` bounds them together.  Its text is the
        last that was said."""
        limits = self._session.agent.limits
        allowed, quiet = limits.max_turns, 0
        try:
            while turn.outcome == "completed" and (tick := await self._ticker.next()) is not None:
                if allowed is not None:
                    limits.max_turns = allowed - turn.steps
                    if limits.max_turns <= 0:
                        return out_of_turns(turn, f"--max-turns {allowed} was reached")
                self._worked = False
                following = await run(tick)
                turn = replace(joined(turn, following), text=following.text or turn.text)
                quiet = 0 if self._worked else quiet + 1
                if quiet >= QUIET:
                    self._ticker.stop(f"{plural(quiet, 'tick')} in a row had nothing to do")
        finally:
            limits.max_turns = allowed
            self._session.waking.tell_end()
        return turn
