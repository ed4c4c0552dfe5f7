"""Events that a session remembers but the engine does not write itself."""

from __future__ import annotations

from dataclasses import asdict

from agentcli.events import CacheObserved, Event, Listener, ModeChanged, ModelChanged, Notice, TodosChanged
from agentcli.ports.sessions import Journal


def recorder(journal: Journal) -> Listener:
    """A listener for ``EventStream.subscribe(…, first=True)``: on disk before it is shown."""

    def listen(event: Event) -> None:
        match event:
            case TodosChanged(todos=todos):
                journal.append("todos", {"todos": [asdict(t) for t in todos]})
            case ModeChanged(mode=mode):
                journal.append("mode", {"mode": mode})
            case ModelChanged():
                choice = {"model": event.model, "effort": event.effort, "thinking": event.thinking}
                journal.append("model", {**choice, **({"for_turn": True} if event.for_turn else {})})
            case CacheObserved():
                journal.append("cache", asdict(event))
            case Notice() if event.severity != "info":
                journal.append("notice", {"severity": event.severity, "text": event.text, "code": event.code})
            case _:
                pass

    return listen
