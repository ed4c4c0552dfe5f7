"""An agent definition on the main thread (``--agent NAME``): its body is the agent level of the prompt."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from agentcli.extend.agents import AgentDefinition, agent_kinds, plain_names
from agentcli.prompt.effective import LevelText, given

NOTHING_MORE = AgentDefinition("", "", "", Path())


@dataclass(frozen=True, slots=True)
class MainThreadAgent:
    """What of a definition counts on the main thread.  ``tools`` ``None`` is all of them, ``model`` ``None`` the
    session's own."""

    name: str
    body: str
    tools: tuple[str, ...] | None = None
    disallowed_tools: tuple[str, ...] = ()
    model: str | None = None
    initial_prompt: str = ""
    """Said to it in front of the first thing that the user says, or alone where they say nothing."""
    definition: AgentDefinition = NOTHING_MORE
    """What else it says: permission mode, effort, hooks, servers, skills, notes."""

    def level(self) -> LevelText:
        """The agent level.  The body as it was read at the start: an edited file counts from the next session on."""
        return given(self.body)

    def allows(self, tool: str) -> bool:
        """Whether the agent has the tool; what is disallowed wins."""
        return tool not in self.disallowed_tools and (self.tools is None or tool in plain_names(self.tools))

    @property
    def kinds(self) -> frozenset[str] | None:
        """The kinds of agents that it may start; ``None``: every one."""
        return agent_kinds(self.tools)
