"""A request that the API refuses."""

from __future__ import annotations

from typing import Any

from tests.api.script import ERROR_TYPES


class Refusal(Exception):
    """``message`` is what the API's error body says, with the path of the field in front where there is one."""

    def __init__(self, status: int, message: str, *, kind: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.kind = kind or ERROR_TYPES.get(status, "invalid_request_error")

    @property
    def body(self) -> dict[str, Any]:
        return {"type": "error", "error": {"type": self.kind, "message": self.message}}


def bad(path: str, message: str) -> Refusal:
    """A 400 about one field: ``messages.0.content: Field required``."""
    return Refusal(400, f"{path}: {message}" if path else message)
