"""The main agent's subagents, and the bounds that hold for all of them."""

from __future__ import annotations

from agentcli.agent.subagent_crew import BUDGET, CONCURRENT, DEPTH, Crew, Office
from agentcli.env import number
from agentcli.events import Emit
from agentcli.extend.room import Extensions
from agentcli.messages import Usage
from agentcli.ports.tools import AgentBudget
from agentcli.runtime.directory import SessionDirectory
from agentcli.runtime.parent import Parent
from agentcli.runtime.spawning import FOLDER, Spawning
from agentcli.runtime.world import World, bound


def main_crew(parent: Parent, emit: Emit) -> Crew:
    """The subagents of the main agent.  Bounds come from the environment and the setting ``agentBudget``; what they
    spend counts against ``--max-budget-usd`` too."""
    world, state, most = parent.world, parent.state, parent.limits.max_budget_usd
    office = Office(
        outfit=Spawning(parent),
        depth=number("CLAUDE_CODE_MAX_SUBAGENT_SPAWN_DEPTH", DEPTH, world.env),
        concurrent=number("CLAUDE_CODE_MAX_CONCURRENT_SUBAGENTS", CONCURRENT, world.env) or CONCURRENT,
        budget=_budget(world),
        always_background=lambda name: _in_background(parent.extensions, name),
        number=_last_number(parent.directory),
    )
    crew = Crew(office, emit)

    def account(model: str, usage: Usage, cost: float | None) -> None:
        state.spend(model, usage, cost)
        if most is not None and state.cost is not None and state.cost >= most:
            crew.halt(f"${state.cost:.2f} of ${most:.2f} of the session")

    crew.account = account
    return crew


def _in_background(extensions: Extensions, name: str) -> bool:
    definition = extensions.agents.get(name)
    return definition is not None and definition.background


def _last_number(directory: SessionDirectory) -> int:
    """The number of the last subagent of an earlier run of this session."""
    if not directory.stored:
        return 0
    names = (p.stem.rpartition("-")[2] for p in (directory() / FOLDER).glob("agent-*.jsonl"))
    return max((int(n) for n in names if n.isdecimal()), default=0)


def _budget(world: World) -> AgentBudget:
    turns, tokens = (bound(world.settings.get("agentBudget"), name) for name in ("turns", "tokens"))
    return AgentBudget(
        turns=int(turns) if turns is not None else BUDGET.turns,
        tokens=int(tokens) if tokens is not None else None,
        seconds=bound(world.settings.get("agentBudget"), "seconds"),
        usd=bound(world.settings.get("agentBudget"), "usd"),
    )
