"""What comes from a server, read with care: whoever waits for an answer gets one, or an error that says what came.

A server that answers with something that is no JSON-RPC, or under an id that was never asked with, would else leave
its caller waiting for ever.
"""

from __future__ import annotations

import json
from types import TracebackType
from typing import TYPE_CHECKING, Any

from agentcli.mcp.mending import mend
from agentcli.mcp.serverlog import ServerLog
from agentcli.text import clean

if TYPE_CHECKING:
    from mcp.client._transport import ReadStream, TransportStreams, WriteStream

NOT_VALID = -32603
"""JSON-RPC's "internal error"."""
_UNREADABLE = (-32700, -32600)
"""JSON-RPC's codes of an error about a request that could not be read, and which has no id for that reason.  Other
errors without an id are often about a notice of ours that a server does not know, and no call's."""
_SHOWN = 300
CANCELLED = "notifications/cancelled"


def error(number: Any, words: str) -> Any:
    """An answer of ours in place of the server's."""
    from mcp.types import ErrorData, JSONRPCError

    return JSONRPCError(jsonrpc="2.0", id=number, error=ErrorData(code=NOT_VALID, message=words))


class Incoming:
    """Of one connection.  ``sent`` is told of everything that goes out, before it goes."""

    def __init__(self, log: ServerLog) -> None:
        self._log = log
        self._sent: set[Any] = set()
        self._open: dict[Any, None] = {}
        """Ids of our requests that have no answer yet."""

    def sent(self, message: Any) -> None:
        number, method = getattr(message, "id", None), getattr(message, "method", None)
        if method is not None and number is not None:
            self._sent.add(number)
            self._open[number] = None
        elif method == CANCELLED:
            self._open.pop((message.params or {}).get("requestId"), None)

    def line(self, line: bytes) -> list[Any]:
        """The messages of a line: one as a rule, several for a batch (a revision of the protocol had them), none for
        noise, which is logged."""
        from mcp.types import jsonrpc_message_adapter

        if not line.strip():
            return []
        try:
            return self.message(jsonrpc_message_adapter.validate_json(line, by_name=False))
        except ValueError:
            pass
        try:
            data = json.loads(line.decode("utf-8", "replace"))
        except (ValueError, RecursionError):
            data = None
        parts = data if isinstance(data, list) else [data]
        if any(isinstance(part, dict) for part in parts):
            return [message for part in parts for message in self._mended(part)]
        self._log.note(f"not a message, skipped: {line[:_SHOWN].decode('utf-8', 'replace')}")
        return []

    def message(self, message: Any) -> list[Any]:
        """A valid message, or the errors that take the place of an answer to nobody's request."""
        from mcp.shared.dispatcher import coerce_request_id
        from mcp.types import JSONRPCError, JSONRPCResponse

        if not isinstance(message, JSONRPCResponse | JSONRPCError):
            return [message]
        if isinstance(message, JSONRPCResponse):
            for fault in mend(message.result):
                self._log.note(fault)
        number = message.id if message.id is None else coerce_request_id(message.id)
        if number in self._sent:
            self._open.pop(number, None)
            return [message]
        if isinstance(message, JSONRPCError) and message.id is None:
            words = f"the server could not read a request: {clean(message.error.message)}"
            if message.error.code in _UNREADABLE:
                return self.unreadable(words)
            self._log.note(f"an error without an id, skipped: {clean(message.error.message)}")
            return []
        return self.unreadable(f"the server answered under the id {message.id!r}, which no request has")

    def unreadable(self, words: str) -> list[Any]:
        """Errors for all who wait: it can't be known whose answer it was."""
        self._log.note(words)
        found = [error(number, words) for number in self._open]
        self._open.clear()
        return found

    def _mended(self, data: Any) -> list[Any]:
        """A value that the protocol's reader refused, or one of a batch: lone surrogates and bytes that are not UTF-8
        become U+FFFD.  What is still no message but an answer becomes an error."""
        from mcp.types import jsonrpc_message_adapter

        if isinstance(data, dict) and isinstance(data.get("id"), float) and data["id"].is_integer():
            data = {**data, "id": int(data["id"])}
        text = clean(json.dumps(data, ensure_ascii=False))
        try:
            return self.message(jsonrpc_message_adapter.validate_json(text, by_name=False))
        except ValueError:
            pass
        words = f"the server's answer is not valid JSON-RPC: {text[:_SHOWN]}"
        answers = isinstance(data, dict) and "method" not in data
        number = data.get("id") if answers else None
        if type(number) in (int, str) and number in self._sent:
            self._log.note(words)
            self._open.pop(number, None)
            return [error(number, words)]
        if answers and "jsonrpc" in data and ("result" in data or "error" in data):
            return self.unreadable(words)
        self._log.note(f"not a message, skipped: {text[:_SHOWN]}")
        return []


class CheckedRead:
    """A transport's read stream through ``Incoming``: what the transport could not read ends the calls that wait."""

    def __init__(self, stream: ReadStream[Any], incoming: Incoming) -> None:
        self._stream = stream
        self._incoming = incoming
        self._ready: list[Any] = []

    async def receive(self) -> Any:
        from mcp.shared.message import SessionMessage

        while not self._ready:
            item = await self._stream.receive()
            if isinstance(item, ValueError):
                words = " ".join(str(item).split())
                found = self._incoming.unreadable(f"the server's answer is not valid JSON-RPC: {words[:_SHOWN]}")
            elif isinstance(item, Exception):
                return item
            else:
                found = self._incoming.message(item.message)
                if found == [item.message]:
                    return item
            self._ready += [SessionMessage(message) for message in found]
        return self._ready.pop(0)

    async def aclose(self) -> None:
        await self._stream.aclose()

    def __aiter__(self) -> CheckedRead:
        return self

    async def __anext__(self) -> Any:
        import anyio

        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> CheckedRead:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


class CheckedWrite:
    """A transport's write stream that tells ``Incoming`` what goes out."""

    def __init__(self, stream: WriteStream[Any], incoming: Incoming) -> None:
        self._stream = stream
        self._incoming = incoming

    async def send(self, item: Any, /) -> None:
        self._incoming.sent(item.message)
        await self._stream.send(item)

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def __aenter__(self) -> CheckedWrite:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


def checked(streams: TransportStreams, log: ServerLog) -> TransportStreams:
    incoming = Incoming(log)
    return CheckedRead(streams[0], incoming), CheckedWrite(streams[1], incoming)
