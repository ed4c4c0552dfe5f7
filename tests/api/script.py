"""What the server answers: a small language of replies, failures and faults.

A script is a list of *steps*; each accepted request to ``/v1/messages`` takes the next one:

- ``reply(text("I look."), tool_use("Read", {"file_path": "a"}))``: an answer made of blocks, in that order;
- a plain string: short for ``reply(text(string))``;
- ``error(529)``, ``error(429, retry_after=7)``: an HTTP error with the API's body;
- ``reset()``: the connection is reset before any byte of the answer;
- ``after(gate, step)``: the same, but not a byte of it before the gate opens (or a pause is over);
- a function ``(request) -> step`` (plain or async): the answer depends on the request.

Blocks take *pieces*: ``text("Hello wor", "ld")`` streams exactly these two deltas, ``text("Hello world")`` is cut into
deltas of ``chunk`` characters.  A piece, or a part of a reply, may be a *control*, which happens at that very place:
``text("Hello wor", reset())``.  Controls are ``pause``, a ``Gate``, ``reset``, ``cut``, ``close``, ``stall``,
``pings``, ``garbage``, ``error_event`` and ``event``.
"""

from __future__ import annotations

import json
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from email.utils import formatdate
from typing import TYPE_CHECKING, TypeAlias

from tests.api.faults import Control, Fault, Gate, Json, Pause

if TYPE_CHECKING:
    from tests.api.recorder import Request


Piece: TypeAlias = str | Control


@dataclass(frozen=True, slots=True)
class Text:
    """``citations`` are streamed behind the text."""

    pieces: tuple[Piece, ...]
    citations: tuple[Json, ...] = ()


@dataclass(frozen=True, slots=True)
class Thinking:
    """``signature`` ``None`` lets the server sign; a string is sent as it is."""

    pieces: tuple[Piece, ...]
    signature: str | None = None


@dataclass(frozen=True, slots=True)
class ToolUse:
    """``kind`` is ``tool_use`` or ``server_tool_use``; ``pieces`` are the JSON text of the input."""

    name: str
    pieces: tuple[Piece, ...]
    id: str | None = None
    kind: str = "tool_use"


@dataclass(frozen=True, slots=True)
class Whole:
    """A block that comes complete with its start event: results of server tools, redacted thinking, new kinds."""

    block: Json


Part: TypeAlias = Text | Thinking | ToolUse | Whole | Control


@dataclass(frozen=True, slots=True)
class Reply:
    parts: tuple[Part, ...]
    stop_reason: str | None = None
    """``None``: ``tool_use`` where the reply calls a client tool, else ``end_turn``."""
    stop_sequence: str | None = None
    stop_details: Json | None = None
    chunk: int = 40
    """Characters per delta where a block has a single piece."""
    gap: float = 0
    """Real seconds in front of every delta."""
    omit: frozenset[str] = frozenset()
    """Events that are left out, such as ``message_delta``."""
    usage: Json = field(default_factory=dict)
    """Overrides of the computed usage."""
    extra: Json = field(default_factory=dict)
    """Further fields of the message in ``message_start``."""


@dataclass(frozen=True, slots=True)
class ErrorReply:
    status: int
    body: Json | bytes
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class After:
    """Nothing is answered until ``control`` (a pause or a gate) lets go; then ``step``."""

    control: Pause | Gate
    step: Step


Step: TypeAlias = "Reply | ErrorReply | Fault | After | str | Answer"
Answer: TypeAlias = "Callable[[Request], Step | Awaitable[Step]]"

ERROR_TYPES: Mapping[int, str] = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    408: "timeout_error",
    409: "conflict_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    502: "api_error",
    503: "api_error",
    504: "timeout_error",
    529: "overloaded_error",
}


def text(*pieces: Piece) -> Text:
    return Text(pieces)


def thinking(*pieces: Piece, signature: str | None = None) -> Thinking:
    """A thinking block; ``thinking("")`` is one whose text is not shown (signature only)."""
    return Thinking(pieces, signature)


def redacted(data: str | None = None) -> Whole:
    """Redacted thinking; without ``data`` the server makes a value that it takes back."""
    return Whole({"type": "redacted_thinking", "data": data})


def tool_use(
    name: str,
    input: Json | None = None,
    *,
    id: str | None = None,
    raw: str | Sequence[Piece] | None = None,
) -> ToolUse:
    """A tool call.  ``raw`` is the JSON text of the input (or its pieces) where it is broken or cut off; ``id`` is
    made by the server when not given."""
    return ToolUse(name, _input_pieces(input, raw), id)


def server_tool_use(name: str, input: Json | None = None, *, id: str | None = None) -> ToolUse:
    """A call that the API runs itself; its result block follows as ``block({...})``."""
    return ToolUse(name, _input_pieces(input, None), id, "server_tool_use")


def block(raw: Json) -> Whole:
    """Any content block, sent whole."""
    return Whole(raw)


def _input_pieces(value: Json | None, raw: str | Sequence[Piece] | None) -> tuple[Piece, ...]:
    if raw is None:
        return (json.dumps(value if value is not None else {}, ensure_ascii=False),)
    return (raw,) if isinstance(raw, str) else tuple(raw)


def reply(
    *parts: Part | str,
    stop_reason: str | None = None,
    stop_sequence: str | None = None,
    stop_details: Json | None = None,
    chunk: int = 40,
    gap: float = 0,
    omit: Sequence[str] = (),
    usage: Json | None = None,
    extra: Json | None = None,
) -> Reply:
    """An answer.  Strings among the parts are text blocks.  See ``Reply`` for the options."""
    return Reply(
        tuple(Text((p,)) if isinstance(p, str) else p for p in parts),
        stop_reason,
        stop_sequence,
        stop_details,
        chunk,
        gap,
        frozenset(omit),
        usage or {},
        extra or {},
    )


def error(
    status: int,
    message: str | None = None,
    *,
    type: str | None = None,
    retry_after: float | str | None = None,
    retry_after_ms: int | None = None,
    should_retry: bool | None = None,
    headers: Mapping[str, str] | None = None,
    body: bytes | None = None,
) -> ErrorReply:
    """An HTTP error with the API's body (``body`` replaces it).  ``retry_after`` is seconds or an HTTP date
    (``http_date``)."""
    kind = type or ERROR_TYPES.get(status, "api_error")
    sent = dict(headers or {})
    if retry_after is not None:
        sent["retry-after"] = str(retry_after)
    if retry_after_ms is not None:
        sent["retry-after-ms"] = str(retry_after_ms)
    if should_retry is not None:
        sent["x-should-retry"] = "true" if should_retry else "false"
    shape: Json = {"type": "error", "error": {"type": kind, "message": message or f"scripted {kind}"}}
    return ErrorReply(status, shape if body is None else body, sent)


def http_date(seconds_from_now: float) -> str:
    """An HTTP date by the real clock, for ``retry_after``."""
    return formatdate(time.time() + seconds_from_now, usegmt=True)


def after(control: Pause | Gate, step: Step) -> After:
    """The answer has not even begun before ``control`` lets go."""
    return After(control, step)
