"""Between the delegation tools, the engine that runs subagents, and whoever lists them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, Protocol

from agentcli.ports.tools import AgentBudget, AgentReport, Spawner

AgentState = Literal["running", "finished", "failed", "stopped"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentOrder:
    """A task for a new subagent.  ``agent`` names its kind; ``model`` (alias or id) and ``effort`` replace the kind's
    own; ``isolation`` gives it a place of its own, whatever its kind."""

    agent: str
    prompt: str
    description: str = ""
    model: str | None = None
    effort: str | None = None
    isolation: Literal["worktree"] | None = None
    budget: AgentBudget = field(default_factory=AgentBudget)


@dataclass(frozen=True, slots=True)
class AgentTask:
    """A subagent as it is now.  ``steps`` and ``tokens`` (input and output) cover everything below it too; ``cost`` is
    US dollars, ``None`` where a price is unknown; ``seconds`` its age or how long it worked.  ``doing`` is the call
    that it makes now, ``color`` what its definition says, ``call_id`` the tool call that it works for."""

    id: str
    agent: str
    description: str
    state: AgentState
    background: bool
    steps: int
    tokens: int
    cost: float | None
    seconds: float
    doing: str = ""
    color: str = ""
    call_id: str = ""


@dataclass(frozen=True, slots=True)
class AgentEnd:
    """A background agent that ended, told once."""

    task: AgentTask
    report: AgentReport


class Delegation(Spawner, Protocol):
    """The subagents of one agent (``ToolContext.services["spawner"]``).  Every method raises ``ToolError`` for what
    can't be done: an unknown name, too many at once, too deep."""

    def in_background(self, agent: str) -> bool:
        """Whether agents of this kind always work in the background."""

    async def run(self, order: AgentOrder) -> AgentReport:
        """A new agent, to its report.  Cancelled, it and everything below it are ended."""

    async def start(self, order: AgentOrder) -> AgentTask:
        """A new agent in the background; its report comes as a reminder."""

    async def go_on(self, agent_id: str, message: str) -> AgentReport | None:
        """Continues an agent with all that it has learned.  ``None`` where it is still at work: it gets the message
        between two steps."""

    async def go_on_in_background(self, agent_id: str, message: str) -> AgentTask: ...

    async def stop(self, agent_id: str) -> AgentTask:
        """Ends a working agent and everything below it."""

    def list(self) -> tuple[AgentTask, ...]:
        """Every agent that was started, oldest first."""
