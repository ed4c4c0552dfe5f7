"""What the engine needs of the other rooms, and how far it may go."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from agentcli.events import Emit
from agentcli.messages import Usage
from agentcli.ports.checkpoints import Checkpoints
from agentcli.ports.model import ModelClient, ModelInfo, ToolSpec
from agentcli.ports.permissions import Approver, Hooks, NoHooks, PermissionGate
from agentcli.ports.prompt import Moment, Reminder, ReminderSource, SystemPromptSource
from agentcli.ports.sessions import Clock, Journal
from agentcli.ports.tools import SeenFiles, Tool, ToolCall, ToolContext, Workspace


class NoReminders:
    """Where nothing reminds."""

    async def collect(self, moment: Moment, *, paths: Sequence[Path] = ()) -> list[Reminder]:
        return []


def _nothing() -> None:
    return None


def _no_tools() -> tuple[ToolSpec, ...]:
    return ()


def _itself(call: ToolCall) -> ToolCall:
    return call


def _inexhaustible() -> str:
    return ""


async def _nothing_open() -> bool:
    return False


def _free(model: str, usage: Usage) -> float | None:
    return 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Rooms:
    """The ports of one session.  ``context`` makes the ``ToolContext`` of a call from its id; ``model_info`` gives
    window and limits of a model id; ``reset`` empties the section cache and latches (after a compaction);
    ``broken_off`` accounts for a request that was interrupted after its answer had begun, and returns its cost."""

    model: ModelClient
    prompt: SystemPromptSource
    tools: Mapping[str, Tool]
    gate: PermissionGate
    approver: Approver
    context: Callable[[str], ToolContext]
    emit: Emit
    clock: Clock
    journal: Journal
    hooks: Hooks = field(default_factory=NoHooks)
    reminders: ReminderSource = field(default_factory=NoReminders)
    checkpoints: Checkpoints | None = None
    workspace: Workspace | None = None
    seen: SeenFiles | None = None
    model_info: Callable[[str], ModelInfo] | None = None
    reset: Callable[[], None] = _nothing
    late_tools: Callable[[], Sequence[ToolSpec]] = _no_tools
    """Definitions that came since the conversation began, asked before each request: deferred ones that the model was
    given, and those that stand in front although their server came late."""
    resolve: Callable[[ToolCall], ToolCall] = _itself
    """The real call behind one of a dispatcher, before anything else sees it."""
    broken_off: Callable[[str, Usage], float | None] = _free
    outstanding: Callable[[], Awaitable[bool]] = _nothing_open
    """Asked before a turn ends: whether there are reports that the model still has to be told.  May wait for them."""


@dataclass(slots=True)
class Limits:
    """``max_turns`` counts requests of one turn (the flag's name is older than ours: a step), ``max_budget_usd`` is
    for the session.  ``compact_percent`` replaces the automatic threshold by a share of the window (1 to 100),
    ``compact_window`` is a smaller window (tokens) for it.  ``clear_results``: old tool results may give way to notes.
    ``stop_hook_cap`` is how often in a row a Stop hook may object (0: no bound)."""

    max_turns: int | None = None
    max_budget_usd: float | None = None
    auto_compact: bool = True
    compact_percent: int | None = None
    compact_window: int | None = None
    clear_results: bool = False
    stop_hook_cap: int = 8
    parallel_calls: int = 10
    exhausted: Callable[[], str] = _inexhaustible
    """Asked before each step: why the turn may not take it; empty where it may."""
