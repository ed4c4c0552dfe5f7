"""Messages that were typed while the agent works."""

from __future__ import annotations

from collections import deque

from agentcli.events import Emit, QueueChanged
from agentcli.ports.frontend import UserInput


class SteeringQueue:
    """First in, first delivered, between steps; the newest can be taken back for editing."""

    def __init__(self, emit: Emit) -> None:
        self._emit = emit
        self._waiting: deque[UserInput] = deque()

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, prompt: UserInput) -> None:
        self._waiting.append(prompt)
        self._told()

    def take_back(self) -> UserInput | None:
        if not self._waiting:
            return None
        prompt = self._waiting.pop()
        self._told()
        return prompt

    def drain(self) -> list[UserInput]:
        if not self._waiting:
            return []
        waiting = list(self._waiting)
        self._waiting.clear()
        self._told()
        return waiting

    def _told(self) -> None:
        self._emit(QueueChanged(tuple(p.text for p in self._waiting)))
