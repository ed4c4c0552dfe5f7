"""What went wrong with one attempt, and the clear line that the user gets when nothing helps.

Kinds follow the API's error page (status and ``error.type``) and what was seen of other servers that speak the
Messages API.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from agentcli.errors import AgentcliError, ApiError, ApiErrorKind, StreamError, TurnError
from agentcli.model.figures import duration
from agentcli.text import one_line

_TOO_LONG = re.compile(
    r"prompt is too long|exceed_context_size|exceeds? (the )?(available |maximum |model'?s )?context"
    r"|context (length|window|size|limit)|input is too long|request_too_large",
    re.IGNORECASE,
)
_BY_TYPE: Mapping[str, ApiErrorKind] = {
    "invalid_request_error": "invalid_request",
    "authentication_error": "authentication",
    "billing_error": "billing",
    "permission_error": "permission",
    "not_found_error": "model_not_found",
    "request_too_large": "prompt_too_long",
    "rate_limit_error": "rate_limit",
    "timeout_error": "timeout",
    "api_error": "server_error",
    "overloaded_error": "overloaded",
    "exceed_context_size_error": "prompt_too_long",
}
_BY_STATUS: Mapping[int, ApiErrorKind] = {
    400: "invalid_request",
    401: "authentication",
    402: "billing",
    403: "permission",
    404: "model_not_found",
    408: "timeout",
    409: "server_error",
    413: "prompt_too_long",
    422: "invalid_request",
    429: "rate_limit",
    504: "timeout",
    529: "overloaded",
}
_RETRIED_STATUS = frozenset({408, 409, 429})
_RETRIED_KINDS = frozenset({"rate_limit", "timeout", "server_error", "overloaded", "connection"})
_ADVICE: Mapping[ApiErrorKind, str] = {
    "authentication": "Check the key ({key}); `agentcli doctor` shows which one is used.",
    "permission": "This key may not do that: check its workspace and permissions.",
    "billing": "Check the account's balance and spend limits.",
    "model_not_found": "Choose another model with /model or --model, or check ANTHROPIC_BASE_URL.",
    "prompt_too_long": "Use /compact or /clear, or give less text.",
    "rate_limit": "Wait a while, or use another model or key.",
    "overloaded": "Try again in some minutes, or give --fallback-model.",
    "server_error": "Try again later.",
    "timeout": "Try again; a slow local server may need a larger CLAUDE_STREAM_IDLE_TIMEOUT_MS.",
    "connection": "Check the network, the proxy and {url}.",
}
_HEADS: Mapping[ApiErrorKind, str] = {
    "authentication": "The API refused the key",
    "permission": "The API refused access",
    "billing": "The API refused for billing reasons",
    "model_not_found": "The API did not find the model or address",
    "prompt_too_long": "The conversation is too long for the model",
    "rate_limit": "The rate limit is reached",
    "overloaded": "The API is overloaded",
    "timeout": "The API timed out",
    "server_error": "The API failed",
    "invalid_request": "The API refused the request",
}


class Failure(AgentcliError):
    """One attempt failed.  Stays inside the model room; ``to_error`` makes what leaves it.

    ``stream`` says that the answer had begun; ``retry_after`` is seconds; ``retryable`` whether the same bytes may be
    sent again.
    """

    def __init__(
        self,
        reason: str,
        *,
        kind: ApiErrorKind = "unknown",
        status: int | None = None,
        type: str | None = None,
        request_id: str | None = None,
        retry_after: float | None = None,
        retryable: bool = True,
        stream: bool = False,
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.kind = kind
        self.status = status
        self.type = type
        self.request_id = request_id
        self.retry_after = retry_after
        self.retryable = retryable
        self.stream = stream

    @property
    def label(self) -> str:
        """Short name for events: the API's type, else our kind."""
        return self.type or self.kind


def _details(body: object) -> tuple[str | None, str]:
    """(type, message) of an error body in the API's shape, or the nearest thing to it."""
    if isinstance(body, Mapping):
        inner = body.get("error", body)
        if isinstance(inner, Mapping):
            kind = inner.get("type")
            return (kind if isinstance(kind, str) else None), one_line(str(inner.get("message", "")), 600)
        return None, one_line(str(inner), 600)
    return None, one_line(str(body or ""), 300)


def from_response(
    status: int, body: object, headers: Mapping[str, str], *, retry_after: float | None = None
) -> Failure:
    """A response with an error status.  ``x-should-retry`` overrides our own judgement."""
    type_, message = _details(body)
    kind = _kind(status, type_, message)
    retryable = status in _RETRIED_STATUS or status >= 500
    wish = headers.get("x-should-retry", "").lower()
    if wish in ("true", "false"):
        retryable = wish == "true"
    return Failure(
        message or _unsaid(status, headers),
        kind=kind,
        status=status,
        type=type_,
        request_id=headers.get("request-id") or headers.get("x-request-id"),
        retry_after=retry_after,
        retryable=retryable,
    )


def _unsaid(status: int, headers: Mapping[str, str]) -> str:
    """In place of the message that the server did not give."""
    if 300 <= status < 400:
        where = headers.get("location") or "somewhere else"
        return f"the server answers with a redirect to {where} ({status}); set ANTHROPIC_BASE_URL to the right address"
    return f"HTTP status {status} without a message"


def from_event(body: Mapping[str, Any], *, request_id: str | None = None) -> Failure:
    """An ``error`` event inside a stream whose status was 200."""
    type_, message = _details(body)
    kind = _BY_TYPE.get(type_ or "", "server_error")
    if _TOO_LONG.search(message):
        kind = "prompt_too_long"
    return Failure(
        message or "the server reported an error without a message",
        kind=kind,
        type=type_,
        request_id=request_id,
        retryable=kind in _RETRIED_KINDS,
        stream=True,
    )


def broken_stream(reason: str, *, kind: ApiErrorKind = "connection", request_id: str | None = None) -> Failure:
    """The stream ended, stalled or was not understood."""
    return Failure(reason, kind=kind, request_id=request_id, stream=True)


def _kind(status: int, type_: str | None, message: str) -> ApiErrorKind:
    if status in (400, 413, 422, 500) and _TOO_LONG.search(f"{type_} {message}"):
        return "prompt_too_long"
    by_type = _BY_TYPE.get(type_ or "")
    if by_type is not None:
        return by_type
    return _BY_STATUS.get(status) or ("server_error" if status >= 500 else "unknown")


def to_error(failure: Failure, *, attempts: int, url: str, key: str) -> TurnError:
    """One clear line: what happened, how often it was tried, what to do."""
    head = _head(failure)
    tried = f" after {attempts} attempts" if attempts > 1 else ""
    advice = _ADVICE.get(failure.kind, "").format(url=url, key=key)
    text = f"{head}{tried}: {failure.reason.rstrip('.')}."
    if failure.request_id:
        text += f" (request {failure.request_id})"
    if advice:
        text += f" {advice}"
    if failure.stream and failure.type is None:
        return StreamError(text)
    return ApiError(
        text,
        kind=failure.kind,
        status=failure.status,
        type=failure.type,
        request_id=failure.request_id,
        retry_after=failure.retry_after,
        attempts=attempts,
    )


def _head(failure: Failure) -> str:
    if failure.kind == "connection":
        return "The answer broke off" if failure.stream else "The connection failed"
    status = f" ({failure.status})" if failure.status else ""
    return _HEADS.get(failure.kind, "The request failed") + status


def waits_too_long(failure: Failure, most: float) -> Failure:
    """The same failure, given up because the server asks for more than ``most`` seconds."""
    wait = failure.retry_after or 0.0
    reason = f"{failure.reason}. The server asks to wait {duration(wait)}; agentcli waits at most {duration(most)}"
    return Failure(
        reason,
        kind=failure.kind,
        status=failure.status,
        type=failure.type,
        request_id=failure.request_id,
        retry_after=wait,
        retryable=False,
        stream=failure.stream,
    )
