"""One answer as it streams in: its usage, and whether it came to a proper end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from agentcli.messages import Usage
from agentcli.model.failures import broken_stream
from agentcli.model.usage import usage_from_api


@dataclass(slots=True)
class AnswerState:
    """Feed it every event with ``take``; ``check_end`` when the stream is over."""

    message_id: str | None = None
    usage: Usage = field(default_factory=Usage)
    begun: bool = False
    delta_seen: bool = False
    stopped: bool = False
    api_cause: str = ""

    def take(self, raw: Mapping[str, Any]) -> None:
        """``Failure`` when the event shows that the stream is broken."""
        match raw["type"]:
            case "message_start":
                self._start(raw.get("message"))
            case "message_delta":
                self.delta_seen = True
                self.usage = usage_from_api(raw.get("usage"), self.usage)
                self._diagnosis(raw.get("delta"))
            case "message_stop":
                if not self.delta_seen:
                    raise broken_stream("the stream ended without saying why (no message_delta)")
                self.stopped = True
            case kind if kind.startswith("content_block") and not self.begun:
                raise broken_stream(f"the stream began with {kind}")
            case _:
                pass

    def check_end(self) -> None:
        """``Failure`` when the stream ended in the middle, however cleanly."""
        if not self.stopped:
            raise broken_stream("the stream ended before the answer was complete (no message_stop)")

    def _start(self, message: object) -> None:
        if self.begun or not isinstance(message, Mapping):
            raise broken_stream("the stream could not be understood (message_start)")
        self.begun = True
        identifier = message.get("id")
        self.message_id = identifier if isinstance(identifier, str) else None
        self.usage = usage_from_api(message.get("usage"))
        self._diagnosis(message)

    def _diagnosis(self, holder: object) -> None:
        """``diagnostics.cache_miss_reason`` (cache-diagnostics page), where the API gives one."""
        diagnostics = holder.get("diagnostics") if isinstance(holder, Mapping) else None
        reason = diagnostics.get("cache_miss_reason") if isinstance(diagnostics, Mapping) else None
        kind = reason.get("type") if isinstance(reason, Mapping) else reason
        if isinstance(kind, str):
            self.api_cause = kind
