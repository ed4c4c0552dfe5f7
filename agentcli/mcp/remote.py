"""The transports of remote servers: streamable HTTP, and SSE for old ones."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agentcli.mcp.incoming import checked
from agentcli.mcp.serverlog import ServerLog
from agentcli.mcp.stdio import child_environment
from agentcli.mcp.values import Hopeless, ServerEntry
from agentcli.processes import ProcessManager

if TYPE_CHECKING:
    import httpx2
    from mcp.client._transport import TransportStreams

CONNECT = 30.0
READ = 300.0
"""Seconds: to reach the server, and between two pieces of an answer."""
HELPER = 10.0
_REDACTED = frozenset({401, 403})


@dataclass(slots=True)
class HttpNotes:
    """What the HTTP layer saw and the protocol layer does not tell: the last refusal, the last error of the line."""

    refused: int = 0
    status: int = 0
    error: str = ""

    async def response(self, response: httpx2.Response) -> None:
        self.status = response.status_code
        if response.status_code in _REDACTED:
            self.refused = response.status_code
        elif response.status_code < 400:
            self.refused = 0


async def request_headers(entry: ServerEntry, processes: ProcessManager, env: Mapping[str, str]) -> dict[str, str]:
    """The entry's headers and those that its ``headersHelper`` prints.  ``Hopeless`` if the helper fails."""
    headers = dict(entry.headers)
    if not entry.headers_helper:
        return headers
    done = await processes.run(
        ("sh", "-c", entry.headers_helper),
        entry.base,
        env=child_environment(entry, env),
        stderr="discard",
        timeout=HELPER,
    )
    if done.timed_out:
        raise Hopeless(f"headersHelper took longer than {HELPER:.0f} s")
    if done.exit_code:
        raise Hopeless(f"headersHelper exited with code {done.exit_code}")
    try:
        made = json.loads(done.output.text)
    except ValueError as error:
        raise Hopeless("headersHelper must print a JSON object of headers") from error
    if not isinstance(made, dict) or not all(isinstance(v, str) for v in made.values()):
        raise Hopeless("headersHelper must print a JSON object of headers")
    return headers | made


@asynccontextmanager
async def remote_transport(
    entry: ServerEntry,
    *,
    headers: dict[str, str],
    notes: HttpNotes,
    auth: httpx2.Auth | None,
    log: ServerLog,
) -> AsyncIterator[TransportStreams]:
    """The streams of a connection.  ``auth`` signs its requests (``oauth``)."""
    import httpx2
    from mcp.client.sse import sse_client
    from mcp.client.streamable_http import streamable_http_client

    if entry.transport == "sse":

        def client(
            headers: dict[str, Any] | None = None, timeout: Any = None, auth: httpx2.Auth | None = None
        ) -> httpx2.AsyncClient:
            return httpx2.AsyncClient(
                headers=headers, timeout=timeout, auth=auth, event_hooks={"response": [notes.response]}
            )

        async with sse_client(entry.url, headers=headers, auth=auth, httpx_client_factory=client) as streams:
            yield checked(streams, log)
        return
    http = httpx2.AsyncClient(
        headers=headers,
        auth=auth,
        timeout=httpx2.Timeout(CONNECT, read=READ),
        event_hooks={"response": [notes.response]},
    )
    async with http, streamable_http_client(entry.url, http_client=http) as streams:
        yield streams
