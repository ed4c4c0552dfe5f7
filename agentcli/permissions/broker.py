"""Asks whoever can answer, once per question."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any
from uuid import uuid4

from agentcli.events import Emit, PermissionAsked, PermissionResolved
from agentcli.ports.permissions import Answer, ApprovalRequest, PermissionUpdate

NOBODY = (
    "Permission to use {name} was not given: no one can answer here. "
    "Allow it beforehand (--allowedTools, permissions.allow, or another --permission-mode)."
)


def update_record(update: PermissionUpdate) -> dict[str, Any]:
    """A suggestion as it travels in ``PermissionAsked.suggestions`` (field names of the stream-json protocol)."""
    record: dict[str, Any] = {"type": update.type, "destination": update.destination}
    if update.type in {"addRules", "replaceRules", "removeRules"}:
        record |= {"rules": list(update.rules), "behavior": update.behavior}
    elif update.type == "setMode":
        record["mode"] = update.mode
    else:
        record["directories"] = list(update.directories)
    return record


class Broker:
    """The ``Approver`` of a session: each question becomes a ``PermissionAsked`` event and waits for ``answer``.

    Questions may wait side by side.  Every one is resolved exactly once, by whoever comes first: an answer, or the
    cancellation of the task that asks.  With ``nobody=True`` (no terminal, no protocol to ask through) each is
    answered at once with a denial, without an event that nobody could react to.
    """

    def __init__(self, emit: Emit, *, nobody: bool = False, new_id: Callable[[], str] | None = None) -> None:
        self._emit = emit
        self._nobody = nobody
        self._new_id = new_id or (lambda: f"perm_{uuid4().hex}")
        self._open: dict[str, tuple[ApprovalRequest, asyncio.Future[Answer]]] = {}

    @property
    def waiting(self) -> tuple[ApprovalRequest, ...]:
        """The open questions, oldest first."""
        return tuple(request for request, _ in self._open.values())

    @property
    def waiting_ids(self) -> tuple[str, ...]:
        return tuple(self._open)

    async def ask(self, request: ApprovalRequest) -> Answer:
        """The answer to the question.  Cancelled, the question is withdrawn and resolved as ``cancelled``."""
        if self._nobody:
            return Answer(allowed=False, message=NOBODY.format(name=request.call.name), by="nobody")
        request_id = self._new_id()
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._open[request_id] = (request, future)
        try:
            self._emit(_asked(request_id, request))
            return await future
        except asyncio.CancelledError:
            self._resolve(request_id, Answer(allowed=False, by="cancelled"))
            raise
        except BaseException:
            self._open.pop(request_id, None)
            raise

    def answer(self, request_id: str, answer: Answer) -> bool:
        """Answers an open question.  False when there is none of this id (any more)."""
        return self._resolve(request_id, answer)

    def withdraw_all(self, answer: Answer | None = None) -> int:
        """Resolves every open question (the session closes, its front end is gone).  Returns how many there were."""
        verdict = answer or Answer(allowed=False, message="The session was closed.", by="cancelled")
        return sum(self._resolve(request_id, verdict) for request_id in tuple(self._open))

    def _resolve(self, request_id: str, answer: Answer) -> bool:
        entry = self._open.pop(request_id, None)
        if entry is None:
            return False
        future = entry[1]
        if not future.done():
            future.set_result(answer)
        self._emit(PermissionResolved(request_id, answer.allowed, answer.by))
        return True


def _asked(request_id: str, request: ApprovalRequest) -> PermissionAsked:
    return PermissionAsked(
        request_id=request_id,
        tool_use_id=request.call.id,
        name=request.call.name,
        input=request.call.input,
        title=request.title,
        reason=request.decision.reason,
        preview=request.preview,
        suggestions=tuple(update_record(u) for u in request.decision.suggestions),
        agent=request.agent,
        task=request.task,
        blocked_path=request.decision.blocked_path,
    )
