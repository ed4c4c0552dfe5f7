"""What the session's tools ask the model's server beside the conversation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from agentcli.agent.state import SessionState
from agentcli.model.usage import Ledger
from agentcli.ports.model import ModelClient
from agentcli.ports.sessions import Clock
from agentcli.runtime.models import Models
from agentcli.runtime.searching import Searcher, SearchQuota, search_quota
from agentcli.runtime.side_question import SideLine, page_reader
from agentcli.runtime.world import World


@dataclass(frozen=True, slots=True, kw_only=True)
class Sides:
    """One per session, for the main agent and its subagents.  ``state`` is the conversation that pays."""

    client: ModelClient
    models: Models
    ledger: Callable[[], Ledger]
    quota: SearchQuota
    clock: Clock

    def line(self, state: SessionState) -> SideLine:
        return SideLine(self.client, self.models, state.spend, self.ledger)

    def services(self, state: SessionState, tool_use_id: str) -> Mapping[str, Any]:
        """For the ``ToolContext`` of a call."""
        line = self.line(state)
        return {
            "reader": page_reader(line, state),
            "searcher": Searcher(line, state, self.quota, self.clock, tool_use_id),
        }


def make_sides(
    world: World, client: ModelClient, models: Models, state: SessionState, *, ledger: Callable[[], Ledger]
) -> Sides:
    """``state`` is the main conversation's: a resumed one has searched before."""
    return Sides(client=client, models=models, ledger=ledger, quota=search_quota(world, state), clock=world.clock)
