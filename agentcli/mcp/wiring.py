"""What the room needs of the session that holds it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from agentcli.conversation import ConversationCache
from agentcli.events import Emit


def _window() -> int:
    return 200_000


def _yes() -> bool:
    return True


@dataclass(slots=True, kw_only=True)
class Wiring:
    """What the room needs of the session.

    ``directory`` is the session's private directory; ``references`` says whether the model's server takes tool
    references (the first-party API, and it has not refused them); ``window`` is the model's, in tokens; ``delta``
    whether instructions reach the model as reminders (setting ``mcpInstructionsDelta``) instead of a section.
    """

    emit: Emit
    cache: ConversationCache
    directory: Callable[[], Path]
    interactive: bool = True
    references: Callable[[], bool] = field(default=_yes)
    window: Callable[[], int] = field(default=_window)
    delta: bool = True
