"""What begins a turn although the user said nothing: reports of background agents, and ticks in proactive mode."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from agentcli.agent.agent import Agent
from agentcli.agent.subagent_crew import Crew
from agentcli.events import Event, EventStream, Notice, QueueChanged, TurnFinished
from agentcli.ports.frontend import UserInput
from agentcli.ports.rest import REPORTED, Woken
from agentcli.ports.sessions import Clock
from agentcli.ports.turns import Ticker


class Waking:
    """For the front end, which runs the turns: ``next`` is awaited beside the user's own input.

    ``ticker`` is there in proactive mode and in loop mode.
    """

    def __init__(self, agent: Callable[[], Agent], crew: Crew, events: EventStream, clock: Clock) -> None:
        self.ticker: Ticker | None = None
        self.opening = ""
        """What is said first, where the user does not begin."""
        self.focus: bool | None = None
        """Whether the user is there, as far as the front end knows."""
        self._agent = agent
        self._crew = crew
        self._clock = clock
        self._queued = asyncio.Event()
        self._events = events
        self._told = False
        events.subscribe(self._hear)

    async def next(self) -> UserInput:
        """Until the session is idle and there is a reason for a turn; the caller runs it at once.  Never returns where
        there is none."""
        if self.opening and not self._agent().busy:
            return UserInput(self.opening)
        while True:
            if (found := await self._reason()) is not None:
                return found

    async def next_if_any(self) -> UserInput | None:
        """The same; ``None`` once nothing can begin a turn any more: no background agent works, and no tick comes."""
        if self.opening and not self._agent().busy:
            return UserInput(self.opening)
        while self.alive or await self._crew.untold():
            if (found := await self._reason()) is not None:
                return found
        self.tell_end()
        return None

    async def _reason(self) -> UserInput | None:
        """What comes first; ``None`` where the ticks ended, or something else has begun a turn meanwhile."""
        self.tell_end()
        reasons: list[asyncio.Future[UserInput | None]] = [asyncio.ensure_future(self._reported())]
        if self.ticker is not None and not self.ticker.over:
            reasons.append(asyncio.ensure_future(self.ticker.next()))
        try:
            done, _ = await asyncio.wait(reasons, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for reason in reasons:
                reason.cancel()
        found = next((p for r in done if (p := r.result()) is not None), None)
        return None if self._agent().busy else found

    def opened_with(self, prompt: UserInput) -> UserInput:
        """The conversation's first prompt, behind what is said first; any other as it is."""
        opening, self.opening = self.opening, ""
        if not opening or prompt.text == opening:
            return prompt
        return replace(prompt, text=f"{opening}\n\n{prompt.text}")

    async def sleep(self, seconds: float) -> Woken:
        """``ports.rest.Rest``; never longer than the session's time."""
        left = self.ticker.remaining() if self.ticker is not None else None
        seconds = seconds if left is None else min(seconds, left)
        if len(self._agent().queue):
            return "user"
        self._queued.clear()
        ways: dict[asyncio.Future[object], Woken] = {
            asyncio.ensure_future(self._clock.sleep(seconds)): "time",
            asyncio.ensure_future(self._queued.wait()): "user",
            asyncio.ensure_future(self._crew.wait_ended()): "report",
        }
        try:
            done, _ = await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
        return next(woken for way, woken in ways.items() if way in done)

    def focused(self, present: bool) -> None:
        """The user came, or went."""
        self.focus = present

    @property
    def alive(self) -> bool:
        """Whether there is something that ``Session.interrupt`` would end although no turn is running."""
        return self._crew.working or (self.ticker is not None and not self.ticker.over)

    def next_at(self) -> datetime | None:
        """When the next round of a loop is due."""
        return self.ticker.next_at() if self.ticker is not None else None

    def stop(self) -> None:
        """Esc: no more ticks."""
        if self.ticker is not None:
            self.ticker.stop()
            self.tell_end()

    async def _reported(self) -> UserInput | None:
        while True:
            await self._crew.wait_ended()
            await self._agent().idle()
            if await self._crew.untold():
                return UserInput(REPORTED)

    def _hear(self, event: Event) -> None:
        if isinstance(event, QueueChanged) and event.queued:
            self._queued.set()
        if isinstance(event, TurnFinished) and self.ticker is not None:
            self.ticker.hear(event)

    def tell_end(self) -> None:
        """Says once why there are no more ticks, where there are none."""
        if self.ticker is not None and self.ticker.over and not self._told:
            self._told = True
            self._events.emit(Notice("info", self.ticker.over, "ticks_over"))
