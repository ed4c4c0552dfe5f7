"""Events as JSON-ready values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

from agentcli.events.types import Event
from agentcli.messages import Message, message_to_record


def to_record(event: Event) -> dict[str, Any]:
    """The event as JSON-ready values, its class name under ``event``."""
    return {"event": type(event).__name__, **_fields(event)}


def _fields(value: Any) -> dict[str, Any]:
    return {f.name: _plain(getattr(value, f.name)) for f in fields(value)}


def _plain(value: Any) -> Any:
    if isinstance(value, Message):
        return message_to_record(value)
    if is_dataclass(value) and not isinstance(value, type):
        return {"type": type(value).__name__, **_fields(value)}
    if isinstance(value, Mapping):
        return {k: _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    if isinstance(value, Path):
        return str(value)
    return value
