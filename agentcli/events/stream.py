"""Fan-out of events to listeners, in the order in which they were emitted."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from agentcli.events.types import Event

Emit: TypeAlias = Callable[[Event], None]
Listener: TypeAlias = Callable[[Event], None]


class EventStream:
    """Hands every event to every listener at once, in order of subscription.

    The journal subscribes first: a line is on disk before its effect is shown.  A listener must not raise; if one
    does, the error is a bug of that front end and reaches the emitter.
    """

    def __init__(self) -> None:
        self._listeners: list[Listener] = []

    def subscribe(self, listener: Listener, *, first: bool = False) -> Callable[[], None]:
        """Adds a listener and returns the call that removes it again."""
        if first:
            self._listeners.insert(0, listener)
        else:
            self._listeners.append(listener)

        def remove() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)

        return remove

    def emit(self, event: Event) -> None:
        for listener in tuple(self._listeners):
            listener(event)
