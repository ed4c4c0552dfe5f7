"""Loop mode: one prompt again and again until it is done.  Its instructions are the override prompt."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Literal

from agentcli.errors import UsageError
from agentcli.events import TurnFinished
from agentcli.i18n import IN_ENGLISH, Texts
from agentcli.ports.frontend import UserInput
from agentcli.ports.sessions import Clock
from agentcli.ports.turns import Turns
from agentcli.prompt.environment import Environment, environment_lines
from agentcli.prompt.words import read_words
from agentcli.text import plural

LOOP_DONE = "LOOP_DONE"
"""A last line that holds only this ends the loop."""


def loop_system_prompt(environment: Environment, start_date: str) -> str:
    """The override prompt.  It stands alone, without appended text or head reminder, so it names the place itself;
    rounds are not counted in it, since it must stay the same for all of them."""
    words = read_words(Path(__file__).with_suffix(".md")).replace("{done}", LOOP_DONE)
    facts = "\n".join(f"- {line}" for line in (*environment_lines(environment), f"Date: {start_date}"))
    return f"{words}\n\n# Environment\n\n{facts}"


def says_done(answer: str) -> bool:
    """Whether an answer ends the loop: its last line with text holds the word alone."""
    return answer.rstrip().rpartition("\n")[2].strip() == LOOP_DONE


LoopReason = Literal["done", "rounds", "money", "time", "stopped", "failed"]
REASONS: dict[LoopReason, str] = {
    "done": "done",
    "rounds": "the number of rounds is reached",
    "money": "the money is spent",
    "time": "the time is over",
    "stopped": "stopped",
    "failed": "a round failed",
}
_INTERVAL = re.compile(r"\d+(?:\.\d+)?[smhd]?")
_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopPlan:
    """``interval`` seconds lie between the beginnings of two rounds; ``rounds``, ``usd`` (of the session) and
    ``seconds`` are upper bounds, ``None`` is unbounded."""

    prompt: str
    interval: float = 0.0
    rounds: int | None = None
    usd: float | None = None
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class LoopEnd:
    """How a loop ended, after how many rounds; ``last`` is its last turn."""

    reason: LoopReason
    rounds: int
    last: TurnFinished | None = None


class Loop:
    """Runs a prompt again and again; every bound is looked at before a round.  Cancelling ends the round too."""

    def __init__(
        self, turns: Turns, plan: LoopPlan, clock: Clock, *, on_round: Callable[[int], None] = lambda number: None
    ) -> None:
        self._turns = turns
        self._plan = plan
        self._clock = clock
        self._on_round = on_round
        self._began = 0.0

    async def run(self) -> LoopEnd:
        """Until the model says that it is done, a bound is reached, or a round does not end well."""
        self._began = self._clock.monotonic()
        rounds, last = 0, None
        while (reason := self._bound(rounds)) is None:
            due = self._clock.monotonic() + self._plan.interval
            rounds += 1
            self._on_round(rounds)
            await self._turns.idle()
            last = await self._turns.start(UserInput(self._plan.prompt))
            if (end := ended(last)) is not None:
                return LoopEnd(end, rounds, last)
            pause = due - self._clock.monotonic()
            if pause > 0 and self._bound(rounds) is None:
                await self._clock.sleep(pause)
        return LoopEnd(reason, rounds, last)

    def _bound(self, rounds: int) -> LoopReason | None:
        return bound_reached(self._plan, self._turns, rounds, self._clock.monotonic() - self._began)


def bound_reached(plan: LoopPlan, turns: Turns, rounds: int, passed: float) -> LoopReason | None:
    """The bound that forbids another round; ``passed`` seconds since the loop began."""
    spent = turns.spent
    if plan.rounds is not None and rounds >= plan.rounds:
        return "rounds"
    if plan.usd is not None and spent is not None and spent >= plan.usd:
        return "money"
    return "time" if plan.seconds is not None and passed >= plan.seconds else None


def ended(turn: TurnFinished) -> LoopReason | None:
    """Why no round follows this turn; ``None`` where one does."""
    match turn.outcome:
        case "completed":
            return "done" if says_done(turn.text) else None
        case "interrupted":
            return "stopped"
        case "budget":
            return "money"
        case "max_turns" | "output_limit":
            return None  # the next round goes on from there
        case _:
            return "failed"


class LoopTicker:
    """The same as ``Loop`` for a session whose front end runs the turns: ``next`` gives the prompt of the next round.

    ``over`` says why there are no more; empty while there are.
    """

    def __init__(self, plan: LoopPlan, turns: Turns, clock: Clock) -> None:
        self.over = ""
        self._plan = plan
        self._turns = turns
        self._clock = clock
        self._rounds = 0
        self._began = clock.monotonic()
        self._due = self._began
        self._at: datetime | None = None
        self._running = False

    async def next(self) -> UserInput | None:
        """Waits until the next round is due and the session idle; ``None`` when the loop has ended."""
        while not self.over:
            await self._turns.idle()
            if (reason := bound_reached(self._plan, self._turns, self._rounds, self._passed())) is not None:
                self.stop(REASONS[reason])
                break
            pause = self._due - self._clock.monotonic()
            if pause > 0:
                await self._clock.sleep(pause)
            elif not self._turns.running:
                self._rounds += 1
                self._due = self._clock.monotonic() + self._plan.interval
                self._at = self._clock.now() + timedelta(seconds=self._plan.interval)
                self._running = True
                return UserInput(self._plan.prompt)
        return None

    def hear(self, turn: TurnFinished) -> None:
        """The end of a turn.  Only a round's own end can end the loop, or the user's interruption."""
        own, self._running = self._running, False
        reason = ended(turn)
        if reason is not None and (own or reason == "stopped"):
            self.stop(REASONS[reason])

    def stop(self, reason: str = REASONS["stopped"]) -> None:
        self.over = self.over or f"The loop has ended after {plural(self._rounds, 'round')}: {reason}."

    def next_at(self) -> datetime | None:
        """When the next round begins, if it has an hour."""
        return self._at if self._plan.interval and not self.over else None

    def exhausted(self) -> str:
        """Nothing: a round that was begun is finished."""
        return ""

    def remaining(self) -> float | None:
        seconds = self._plan.seconds
        return None if seconds is None else max(seconds - self._passed(), 0.0)

    def _passed(self) -> float:
        return self._clock.monotonic() - self._began


def parse_interval(text: str) -> float:
    """``90``, ``90s``, ``5m``, ``2h`` or ``1d`` as seconds.  ``UsageError`` for anything else."""
    number, unit = (text[:-1], text[-1]) if text[-1:] in _UNITS else (text, "s")
    try:
        value = float(number) * _UNITS[unit]
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise UsageError(f"{text!r} is no interval: seconds, or a number with s, m, h or d (such as 5m)")
    return value


def parse_loop(arguments: str, t: Texts = IN_ENGLISH) -> LoopPlan:
    """``[INTERVAL] PROMPT`` of ``/loop``.  ``UsageError`` without a prompt."""
    first, _, rest = arguments.strip().partition(" ")
    if _INTERVAL.fullmatch(first) and rest.strip():
        return LoopPlan(prompt=rest.strip(), interval=parse_interval(first))
    if not arguments.strip():
        raise UsageError(t("loop.usage"))
    return LoopPlan(prompt=arguments.strip())
