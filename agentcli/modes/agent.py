"""An agent definition on the main thread (``--agent NAME``): its body is the agent level of the prompt."""

from __future__ import annotations

from dataclasses import dataclass

from agentcli.prompt.effective import LevelText, given


@dataclass(frozen=True, slots=True)
class MainThreadAgent:
    """What of a definition counts on the main thread.  ``tools`` ``None`` is all of them, ``model`` ``None`` the
    session's own."""

    name: str
    body: str
    tools: tuple[str, ...] | None = None
    disallowed_tools: tuple[str, ...] = ()
    model: str | None = None

    def level(self) -> LevelText:
        """The agent level.  The body as it was read at the start: an edited file counts from the next session on."""
        return given(self.body)

    def allows(self, tool: str) -> bool:
        """Whether the agent has the tool; what is disallowed wins."""
        return tool not in self.disallowed_tools and (self.tools is None or tool in self.tools)
