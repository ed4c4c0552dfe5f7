"""The transport of a server of type ``sdk``: it lives in the client that drives a headless session, and each JSON-RPC
message is carried by a control request of its own (``ports.client_servers``)."""

from __future__ import annotations

import asyncio
import json
import math
from types import TracebackType
from typing import TYPE_CHECKING, Any

from agentcli.mcp.incoming import CANCELLED, error
from agentcli.mcp.mending import mend
from agentcli.mcp.serverlog import ServerLog
from agentcli.mcp.values import ServerEntry
from agentcli.messages import Json
from agentcli.ports.client_servers import ClientRefused, ClientServers
from agentcli.text import clean

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams

ENDED = "the client that has it closed the input"


class ClientTransport:
    """An asynchronous context manager as the package's client takes it; enter and leave it in one task.

    Every request gets an answer: the server's, or an error that says what the client gave back instead.  A request
    that is cancelled is withdrawn behind the protocol's own notice.
    """

    started = True
    """As of a process: there is nothing that could fail to start."""

    def __init__(self, servers: ClientServers, entry: ServerEntry, *, log: ServerLog) -> None:
        self._servers = servers
        self._name = entry.name
        self._log = log
        self._asking: dict[Any, asyncio.Task[None]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self.ended = servers.ended

    async def __aenter__(self) -> TransportStreams:
        import anyio

        into, incoming = anyio.create_memory_object_stream[Any](math.inf)
        outgoing, out_of = anyio.create_memory_object_stream[Any](0)
        self._streams = (into, incoming, outgoing, out_of)
        self._deaf = self._servers.listen(self._name, self._hear)
        self._spawn(self._write(out_of))
        self._spawn(self._watch())
        return incoming, outgoing

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._deaf()
        tasks = tuple(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for stream in self._streams:
            stream.close()

    def why(self) -> str:
        return ENDED if self.ended.is_set() else "was closed"

    async def ending(self) -> str:
        return self.why()

    def _spawn(self, work: Any) -> asyncio.Task[None]:
        task: asyncio.Task[None] = asyncio.create_task(work, name=f"mcp client server {self._name}")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _watch(self) -> None:
        await self.ended.wait()
        self._streams[0].close()

    async def _write(self, out_of: Any) -> None:
        async for item in out_of:
            message = item.message.model_dump(mode="json", by_alias=True, exclude_unset=True)
            number = message.get("id")
            if "method" in message and number is not None:
                self._asking[number] = self._spawn(self._ask(number, message))
                continue
            self._spawn(self._tell(message))
            if message.get("method") == CANCELLED:
                asking = self._asking.pop((message.get("params") or {}).get("requestId"), None)
                if asking is not None:
                    asking.cancel()

    async def _ask(self, number: Any, message: Json) -> None:
        """A request, and its answer."""
        try:
            reply = self._reply(number, await self._servers.exchange(self._name, message))
        except ClientRefused as refused:
            reply = error(number, f"the client could not deliver the request: {refused}")
        finally:
            self._asking.pop(number, None)
        self._deliver(reply)

    async def _tell(self, message: Json) -> None:
        """A notice, or an answer of ours to a request of the server."""
        try:
            await self._servers.exchange(self._name, message)
        except ClientRefused as error:
            self._log.note(f"{message.get('method', 'an answer')} was not delivered: {error}")

    def _reply(self, number: Any, given: object) -> Any:
        """The client's answer as a message; what can't be one becomes an error, for somebody waits for it."""
        from mcp.types import JSONRPCError, JSONRPCResponse

        message = _read(given)
        match message:
            case JSONRPCResponse(id=answered) if answered == number:
                for fault in mend(message.result):
                    self._log.note(fault)
                return message
            case JSONRPCError():
                return JSONRPCError(jsonrpc="2.0", id=number, error=message.error)
        wrong = f"the client's answer is none to this request: {clean(_text(given))[:300]}"
        self._log.note(wrong)
        return error(number, wrong)

    def _hear(self, given: Json) -> None:
        message = _read(given)
        if message is None:
            self._log.note(f"not a message, skipped: {clean(_text(given))[:300]}")
        else:
            self._deliver(message)

    def _deliver(self, message: Any) -> None:
        import anyio
        from mcp.shared.message import SessionMessage

        try:
            self._streams[0].send_nowait(SessionMessage(message))
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            self._log.note("an answer came after the end")


def _read(given: object) -> Any:
    """A JSON-RPC message, ``None`` where it is none."""
    from mcp.types import jsonrpc_message_adapter

    try:
        return jsonrpc_message_adapter.validate_json(_text(given), by_name=False)
    except ValueError:
        return None


def _text(given: object) -> str:
    return json.dumps(given, ensure_ascii=False)
