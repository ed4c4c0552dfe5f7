"""The session as its subagents need it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from agentcli.agent.rooms import Limits
from agentcli.agent.state import SessionState
from agentcli.agent.subagent_crew import Crew
from agentcli.events import Emit
from agentcli.extend.room import Extensions
from agentcli.mcp import McpRoom
from agentcli.memory import MemoryRoom
from agentcli.model.usage import Ledger
from agentcli.permissions.broker import Broker
from agentcli.permissions.gate import Gate
from agentcli.ports.checkpoints import Checkpoints
from agentcli.ports.model import ModelClient
from agentcli.ports.permissions import Hooks
from agentcli.ports.skills import InvokedSkill
from agentcli.ports.tools import ToolContext, Workspace
from agentcli.prompt.source import PromptSource
from agentcli.runtime.directory import SessionDirectory
from agentcli.runtime.models import Models
from agentcli.runtime.sides import Sides
from agentcli.runtime.toolbox import ContextFactory, Means, Toolbox
from agentcli.runtime.turnmodel import TurnModel
from agentcli.runtime.world import World

FORCED = "CLAUDE_CODE_SUBAGENT_MODEL"


@dataclass(frozen=True, slots=True, kw_only=True)
class Parent:
    """The session's rooms, as a subagent needs them.  ``hooks`` gives the session's present hooks."""

    world: World
    models: Models
    client: ModelClient
    means: Means
    state: SessionState
    prompt: PromptSource
    memory: MemoryRoom | None
    gate: Gate
    broker: Broker
    hooks: Callable[[], Hooks]
    ledger: Callable[[], Ledger]
    sides: Sides
    directory: SessionDirectory
    limits: Limits
    may_bypass: bool
    extensions: Extensions
    warn: Callable[[str], None]
    checkpoints: Checkpoints
    """Shared: what an agent changes belongs to the turn that it works for."""
    servers: McpRoom | None = None


@dataclass(frozen=True, slots=True)
class AgentSkills:
    """``ports.skills.Skills`` of a subagent: what a skill says of model and effort holds for the agent's task."""

    extensions: Extensions
    model: TurnModel
    forced: bool
    """The environment names the model of every subagent."""

    async def invoke(self, name: str, arguments: str = "", *, by: Literal["model", "user"] = "model") -> InvokedSkill:
        found = await self.extensions.invoke(name, arguments, by=by, subagent=True)
        self.model.give(replace(found, model=None) if self.forced else found)
        return found


@dataclass(frozen=True, slots=True)
class Contexts:
    """``Rooms.context`` of a subagent: every call begins in the start directory."""

    parent: Parent
    place: Callable[[], Workspace]
    toolbox: Toolbox
    state: SessionState
    emit: Emit
    crew: Crew
    model: TurnModel

    def __call__(self, tool_use_id: str = "") -> ToolContext:
        return self._factory()(tool_use_id)

    def _factory(self) -> ContextFactory:
        world = replace(self.parent.world, workspace=self.place())
        scratch = self.parent.prompt.context.scratch_directory
        return ContextFactory(
            world,
            self.toolbox,
            self.state,
            self.emit,
            self.parent.directory,
            Path(scratch) if scratch else None,
            self._services,
        )

    def _services(self, tool_use_id: str) -> Mapping[str, Any]:
        parent = self.parent
        return {
            "spawner": self.crew.for_call(tool_use_id),
            "skills": AgentSkills(parent.extensions, self.model, bool(parent.world.env.get(FORCED, "").strip())),
            **parent.sides.services(self.state, tool_use_id),
        }
