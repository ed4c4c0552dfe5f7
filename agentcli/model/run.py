"""What is known of one call of ``stream`` while it runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from agentcli.model.answer import AnswerState
from agentcli.model.request import WireRequest
from agentcli.ports.model import ModelRequest


@dataclass(slots=True)
class Run:
    """One call of ``stream``: which bytes are being sent, and how often that has failed."""

    request: ModelRequest
    wire: WireRequest
    sent_at: datetime
    answer: AnswerState = field(default_factory=AnswerState)
    began_at: datetime | None = None
    attempts: int = 1
    total_attempts: int = 1
    overloads: int = 0
    key_refreshed: bool = False
