"""Sessions whose turns are not all begun by the user: loop mode, and the ``Turns`` of any session."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from agentcli.agent.agent import Agent
from agentcli.events import TurnFinished
from agentcli.model.usage import Ledger
from agentcli.modes.loop import LoopTicker, loop_system_prompt
from agentcli.modes.select import proactive_active
from agentcli.ports.frontend import SessionHandle, UserInput
from agentcli.ports.prompt import ReminderSource
from agentcli.ports.turns import Ticker, Turns
from agentcli.prompt.environment import collect_environment
from agentcli.runtime.world import World, bound


def loop_words(world: World) -> str:
    """The override prompt of a session that loops; empty for any other."""
    if world.options.loop is None:
        return ""
    place = collect_environment(world.workspace.start, world.workspace.extra_roots, env=world.env)
    return loop_system_prompt(place, world.clock.now().date().isoformat())


@dataclass(frozen=True, slots=True)
class SessionTurns:
    """``ports.turns.Turns`` of a session."""

    session: SessionHandle
    agent: Agent
    ledger: Ledger

    async def start(self, prompt: UserInput) -> TurnFinished:
        return await self.session.run(prompt)

    async def idle(self) -> None:
        await self.agent.idle()

    @property
    def running(self) -> bool:
        return self.agent.busy

    @property
    def count(self) -> int:
        return self.agent.state.turn

    @property
    def spent(self) -> float | None:
        total = self.ledger.total
        return None if total.unpriced else total.cost

    @property
    def tokens(self) -> int:
        usage = self.ledger.total.usage
        return usage.total_input + usage.output


def make_ticker(world: World, turns: Turns) -> Ticker | None:
    """What begins turns by itself in this session: the rounds of a loop; in proactive mode ticks, bounded by
    ``--max-budget-usd`` and the setting ``proactive`` (``idle``, ``tokens``, ``seconds``)."""
    if world.options.loop is not None:
        return LoopTicker(world.options.loop, turns, world.clock)
    if not proactive_active(world.features, active=world.options.proactive):
        return None
    from agentcli.modes import proactive

    given = world.settings.get("proactive")
    tokens = bound(given, "tokens")
    endurance = proactive.Endurance(
        idle=bound(given, "idle") or proactive.IDLE,
        tokens=int(tokens) if tokens is not None else None,
        seconds=bound(given, "seconds"),
        usd=world.options.max_budget_usd,
    )
    return proactive.Ticker(endurance, turns, world.clock)


def focus_source(focus: Callable[[], bool | None]) -> ReminderSource:
    """Tells the model whether the user is there."""
    from agentcli.modes.proactive import FocusSource

    return FocusSource(focus)
