"""The todo list as tools see it, kept in the session's state."""

from __future__ import annotations

from collections.abc import Sequence

from agentcli.agent.state import SessionState
from agentcli.ports.display import Todo


class SessionTodos:
    """Behind ``ports.tools.Todos``."""

    def __init__(self, state: SessionState) -> None:
        self._state = state

    def get(self) -> tuple[Todo, ...]:
        return self._state.todos

    def set(self, todos: Sequence[Todo]) -> None:
        self._state.set_todos(tuple(todos))
