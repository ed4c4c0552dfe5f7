"""``--verbose``: a line for each request of the session, those of subagents too."""

from __future__ import annotations

from dataclasses import dataclass

from agentcli.events import CacheObserved, Emit, Event, FromSubagent, Notice
from agentcli.runtime.world import World


@dataclass(slots=True)
class RequestLines:
    """A listener of the session's events that tells of them as notices."""

    emit: Emit
    _number: int = 0

    def hear(self, event: Event) -> None:
        agent = ""
        while isinstance(event, FromSubagent):
            agent, event = event.agent, event.event
        if not isinstance(event, CacheObserved):
            return
        from agentcli.model.report import request_line

        self._number += 1
        self.emit(Notice("info", request_line(self._number, event, agent=agent), "request"))


def verbose(world: World) -> bool:
    """The command line, then the setting ``verbose``."""
    wanted = world.options.verbose
    return world.settings.flag("verbose") if wanted is None else wanted
