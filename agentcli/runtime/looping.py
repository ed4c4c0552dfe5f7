"""Sessions whose turns are not all begun by the user: loop mode, and the ``Turns`` of any session."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from agentcli.agent.agent import Agent
from agentcli.events import TurnFinished
from agentcli.model.usage import Ledger
from agentcli.modes.loop import loop_system_prompt
from agentcli.ports.frontend import SessionHandle, UserInput
from agentcli.ports.prompt import ReminderSource
from agentcli.ports.turns import Turns
from agentcli.prompt.environment import collect_environment
from agentcli.runtime.options import Resume, SessionOptions
from agentcli.runtime.world import World, bound, read_world

if TYPE_CHECKING:
    from agentcli.modes.proactive import Ticker


def loop_options(options: SessionOptions, *, fork: str = "") -> SessionOptions:
    """The options of a session that loops.  ``fork`` is the id of a session to go on from: the loop works in a copy, so
    that the cached prefix of that one stays good."""
    world = read_world(options)
    place = collect_environment(world.workspace.start, world.workspace.extra_roots, env=world.env)
    today = world.clock.now().date().isoformat()
    words = loop_system_prompt(place, today)
    return replace(options, override_system_prompt=words, resume=_forked(fork) or options.resume, session_id="")


def _forked(id: str) -> Resume | None:
    return Resume(query=id, fork=True) if id else None


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


def make_ticker(world: World, turns: Turns) -> Ticker:
    """Proactive mode's ticks, bounded by ``--max-budget-usd`` and the setting ``proactive`` (``idle``, ``tokens``,
    ``seconds``)."""
    from agentcli.modes.proactive import IDLE, Endurance, Ticker

    given = world.settings.get("proactive")
    tokens = bound(given, "tokens")
    endurance = Endurance(
        idle=bound(given, "idle") or IDLE,
        tokens=int(tokens) if tokens is not None else None,
        seconds=bound(given, "seconds"),
        usd=world.options.max_budget_usd,
    )
    return Ticker(endurance, turns, world.clock)


def focus_source(focus: Callable[[], bool | None]) -> ReminderSource:
    """Tells the model whether the user is there."""
    from agentcli.modes.proactive import FocusSource

    return FocusSource(focus)
