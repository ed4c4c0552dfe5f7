"""Control requests of ours to the client, and its answers: each has one, or is withdrawn."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from uuid import uuid4

from agentcli.messages import Json
from agentcli.ui.headless.inputs import ControlAnswer
from agentcli.ui.headless.lines import Line

ENDED = "the input has ended"


class Requests:
    """``ended`` is set once the client can't answer any more."""

    def __init__(self, write: Callable[[Line], None]) -> None:
        self.ended = asyncio.Event()
        self._write = write
        self._open: dict[str, asyncio.Future[ControlAnswer]] = {}

    async def ask(self, body: Json, *, seconds: float | None = None) -> ControlAnswer:
        """The client's answer, or an error in its place.  The request is written before anything is waited for;
        cancelled, or without an answer within ``seconds`` (``TimeoutError``), it is withdrawn."""
        request_id = f"{str(body['subtype']).partition('_')[0]}_{uuid4().hex}"
        if self.ended.is_set():
            return ControlAnswer(request_id, {}, ENDED)
        waiting: asyncio.Future[ControlAnswer] = asyncio.get_running_loop().create_future()
        self._open[request_id] = waiting
        self._write({"type": "control_request", "request_id": request_id, "request": body})
        try:
            async with asyncio.timeout(seconds):
                return await waiting
        finally:
            if self._open.pop(request_id, None) is not None:
                self._write({"type": "control_cancel_request", "request_id": request_id})

    def take(self, answer: ControlAnswer) -> bool:
        """The client's answer; false when no request of that id is open."""
        waiting = self._open.pop(answer.id, None)
        if waiting is None or waiting.done():
            return False
        waiting.set_result(answer)
        return True

    def close(self) -> None:
        """The client can't answer any more."""
        self.ended.set()
        for request_id in tuple(self._open):
            self.take(ControlAnswer(request_id, {}, ENDED))
