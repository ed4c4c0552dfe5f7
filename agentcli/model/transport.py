"""The wire: the SDK's clients, used at their raw level.

The SDK is imported inside, in a thread: its import costs more than a second.  Requests go through ``client.post`` with
our own bytes, and answers are read as bytes and parsed here: the SDK's event classes cost twice as much, swallow pings,
and its accumulating helper parses a tool's input from the start at every delta.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, cast

from agentcli.model.connection import Connection
from agentcli.model.failures import Failure, broken_stream, from_event, from_response
from agentcli.model.retry import retry_after_seconds
from agentcli.model.sdk import hides_bearer, make_client
from agentcli.model.sse import SseError, SseParser
from agentcli.model.wireevents import StallWatch, read_event

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic, AsyncStream

STALL = 300.0
"""Seconds without progress after which an attempt is given up."""
CONNECT_TIMEOUT = 10.0
MESSAGES = "/v1/messages"
COUNT = "/v1/messages/count_tokens"


@dataclass(slots=True)
class Transport:
    """One connection to a server.  ``stall`` is seconds; ``now`` reads the wall clock for ``retry-after`` dates."""

    connection: Connection
    now: Callable[[], datetime]
    stall: float = STALL
    _client: AsyncAnthropic | None = None
    _replaced: list[AsyncAnthropic] = field(default_factory=list)
    _opening: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def prefetch(self) -> None:
        """Imports the SDK in a thread and makes the client, so that the first request does not wait for it."""
        async with self._opening:
            if self._client is None:
                self._client = await asyncio.to_thread(make_client, self.connection)

    async def reconnect(self, connection: Connection) -> None:
        """Goes on with another key or server; streams that run on the old one come to their end there."""
        async with self._opening:
            if self._client is not None:
                self._replaced.append(self._client)
            self._client, self.connection = None, connection
        await self.prefetch()

    async def close(self) -> None:
        clients = [c for c in (*self._replaced, self._client) if c is not None]
        self._replaced.clear()
        self._client = None
        for client in clients:
            await client.close()

    async def stream(self, body: dict[str, Any], data: bytes, headers: Mapping[str, str]) -> AsyncGenerator[Any, None]:
        """The answer's events as parsed JSON, pings left out.

        Raises ``Failure`` for everything that can go wrong.  Closing the iterator closes the connection.
        """
        await self._ready()
        try:
            async with asyncio.timeout(self.stall):
                stream = await self._post(MESSAGES, body, data, headers)
        except TimeoutError as error:
            raise Failure(f"no answer within {self.stall:.0f} s", kind="timeout") from error
        try:
            reader = self._cloud_events(stream) if self._speaks_eventstream() else self._sse_events(stream)
            async with aclosing(reader) as events:
                async for event in events:
                    yield event
        finally:
            await stream.close()

    async def post(self, path: str, body: dict[str, Any], headers: Mapping[str, str]) -> dict[str, Any]:
        """A plain request and its JSON answer.  ``Failure`` when it fails."""
        client = await self._ready()
        try:
            answer = await client.post(path, body=body, cast_to=object, options=self._options(headers))
        except Exception as error:
            raise self._failure(error) from error
        if not isinstance(answer, dict):
            raise Failure(f"{path} answered with something that is not a JSON object", retryable=False)
        return answer

    async def model(self, name: str) -> dict[str, Any]:
        """``GET /v1/models/{name}``.  ``Failure`` when the server can't say."""
        client = await self._ready()
        try:
            answer = await client.get(f"/v1/models/{name}", cast_to=object, options=self._options({}))
        except Exception as error:
            raise self._failure(error) from error
        return cast(dict[str, Any], answer) if isinstance(answer, dict) else {}

    def _speaks_eventstream(self) -> bool:
        """Bedrock streams in a binary framing of its own, which the SDK's stream decodes."""
        return self.connection.provider == "bedrock"

    async def _ready(self) -> AsyncAnthropic:
        await self.prefetch()
        if self._client is None:
            raise Failure("the client was closed", retryable=False)
        return self._client

    def _options(self, headers: Mapping[str, str]) -> Any:
        import httpx2
        from anthropic import omit

        sent: dict[str, Any] = {**headers}
        if hides_bearer(self.connection):
            sent["Authorization"] = omit
        timeout = httpx2.Timeout(self.stall * 2, connect=CONNECT_TIMEOUT)
        return {"headers": sent, "max_retries": 0, "timeout": timeout}

    async def _post(
        self, path: str, body: dict[str, Any], data: bytes, headers: Mapping[str, str]
    ) -> AsyncStream[object]:
        from anthropic import AsyncStream

        client = await self._ready()
        # The clouds' clients take the body apart (model into the path), so they need it as a value.
        own_bytes = self.connection.provider in ("first_party", "gateway")
        options = self._options({"Content-Type": "application/json", **headers})
        try:
            if own_bytes:
                return await client.post(
                    path, content=data, cast_to=object, options=options, stream=True, stream_cls=AsyncStream[object]
                )
            return await client.post(
                path, body=body, cast_to=object, options=options, stream=True, stream_cls=AsyncStream[object]
            )
        except Exception as error:
            raise self._failure(error) from error

    async def _sse_events(self, stream: AsyncStream[object]) -> AsyncGenerator[Any, None]:
        response = stream.response
        request_id = response.headers.get("request-id")
        kind = response.headers.get("content-type", "text/event-stream")
        if "event-stream" not in kind:
            raise Failure(
                f"the server answered with {kind.split(';')[0]}, not with an event stream",
                request_id=request_id,
                retryable="html" not in kind,
            )
        watch = StallWatch(self.stall)
        parser = SseParser()
        chunks = response.aiter_bytes()
        while True:
            chunk = await self._next_chunk(chunks, watch, request_id)
            if chunk is None:
                return
            watch.bytes_came()
            try:
                events = parser.feed(chunk)
            except SseError as error:
                raise broken_stream(f"the stream could not be understood ({error})", request_id=request_id) from error
            for event in events:
                value = read_event(event, request_id)
                if value is not None:
                    watch.progress()
                    yield value

    async def _next_chunk(
        self, chunks: AsyncIterator[bytes], watch: StallWatch, request_id: str | None
    ) -> bytes | None:
        """The next bytes; ``None`` at the end of the body."""
        import httpx2

        try:
            async with asyncio.timeout(watch.left()):
                return await anext(chunks)
        except StopAsyncIteration:
            return None
        except (TimeoutError, httpx2.TimeoutException) as error:
            text = f"no progress for {watch.idle():.0f} s"
            raise broken_stream(text, kind="timeout", request_id=request_id) from error
        except (httpx2.HTTPError, httpx2.StreamError, OSError) as error:
            text = f"the connection was lost ({_words(error)})"
            raise broken_stream(text, request_id=request_id) from error

    async def _cloud_events(self, stream: AsyncStream[object]) -> AsyncGenerator[Any, None]:
        source = aiter(stream)
        while True:
            try:
                async with asyncio.timeout(self.stall):
                    value = await anext(source)
            except StopAsyncIteration:
                return
            except TimeoutError as error:
                raise broken_stream(f"no progress for {self.stall:.0f} s", kind="timeout") from error
            except Exception as error:
                failure = self._failure(error)
                failure.stream = True
                raise failure from error
            yield value

    def _failure(self, error: Exception) -> Failure:
        """Whatever the SDK or the network raised, as a ``Failure``; anything else is raised again."""
        import anthropic
        import httpx2

        if isinstance(error, Failure):
            return error
        if isinstance(error, anthropic.APIStatusError):
            headers = error.response.headers
            wait = retry_after_seconds(headers, self.now())
            if error.status_code < 400 and isinstance(error.body, Mapping):
                return from_event(error.body, request_id=error.request_id)
            return from_response(error.status_code, _body(error), headers, retry_after=wait)
        if isinstance(error, anthropic.APITimeoutError):
            return Failure("the connection timed out", kind="timeout")
        if isinstance(error, anthropic.APIConnectionError | httpx2.HTTPError | OSError):
            return _connection_failure(error)
        if isinstance(error, ImportError):
            provider = self.connection.provider
            return Failure(f"{provider} needs more packages: install agentcli[{provider}] ({error})", retryable=False)
        if isinstance(error, anthropic.AnthropicError | ValueError):
            return Failure(_words(error), retryable=False)
        raise error


def _connection_failure(error: Exception) -> Failure:
    """A broken certificate is a matter of configuration; everything else may be better the next time."""
    import ssl

    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return Failure(f"the server's certificate is not trusted ({cause})", kind="connection", retryable=False)
        cause = cause.__cause__ or cause.__context__
    return Failure(_words(error), kind="connection")


def _words(error: BaseException) -> str:
    """What the innermost cause says, since the outer ones only say "Connection error."."""
    inner = error
    while inner.__cause__ is not None:
        inner = inner.__cause__
    return str(inner) or str(error) or type(inner).__name__


def _body(error: Any) -> object:
    """The error body as the API's shape, where it is one; else the text."""
    if isinstance(error.body, Mapping):
        return error.body
    text: str = error.response.text
    try:
        return json.loads(text)
    except ValueError:
        return text
