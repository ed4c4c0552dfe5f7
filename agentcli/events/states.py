"""Events that say what of the session is another now; most may come at any time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from agentcli.ports.display import Todo

Severity = Literal["info", "warning", "error"]


@dataclass(frozen=True, slots=True)
class QueueChanged:
    """Messages that were typed while the agent works and wait for delivery.  At any time."""

    queued: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TodosChanged:
    """The todo list has a new state.  While a tool runs, and after a resume."""

    todos: tuple[Todo, ...]


@dataclass(frozen=True, slots=True)
class JobChanged:
    """A background job started, ended or was killed.  At any time."""

    job_id: str
    command: str
    state: Literal["running", "finished", "timed_out", "killed"]
    exit_code: int | None = None
    agent: bool = False
    """It is a subagent, not a command: ``exit_code`` 1 says that it failed."""


@dataclass(frozen=True, slots=True)
class Compacted:
    """A compaction replaced the conversation.  Between steps or by ``/compact``."""

    trigger: Literal["manual", "auto"]
    before_tokens: int
    after_tokens: int
    summary: str


@dataclass(frozen=True, slots=True)
class ConversationCleared:
    """``/clear``: a new conversation (and session file) begins."""

    session_id: str


@dataclass(frozen=True, slots=True)
class ModeChanged:
    """The permission mode changed.  At any time."""

    mode: str


@dataclass(frozen=True, slots=True)
class ModelChanged:
    """The model, effort or thinking setting changed.  Between turns; with ``for_turn`` also in one, to whose end it
    holds (another one says what holds again)."""

    model: str
    effort: str | None = None
    thinking: str = "default"
    for_turn: bool = False


@dataclass(frozen=True, slots=True)
class Notice:
    """Something the user should know.  At any time; each ``code`` is documented where it is emitted."""

    severity: Severity
    text: str
    code: str = ""
