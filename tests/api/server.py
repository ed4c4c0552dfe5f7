"""The server: a thread with an event loop of its own, so that it serves async tests, blocking tests and subprocesses
alike.

Everything that a test calls is safe from any thread.  An error in the server's own code (or in an answer function) is
raised by ``close``.
"""

from __future__ import annotations

import asyncio
import threading
from types import TracebackType
from typing import Self

from tests.api.cache import Cache
from tests.api.clock import VirtualClock
from tests.api.options import Options
from tests.api.playbook import Match
from tests.api.recorder import Request
from tests.api.script import Step
from tests.api.service import Service
from tests.api.wire import BadRequest, Disconnected, HttpRequest, Response, read_request


class ApiServer:
    """``with ApiServer(step, …) as api`` or ``async with ApiServer(step, …) as api``."""

    key = "sk-test"
    """A key that the server accepts."""

    def __init__(self, *steps: Step, options: Options | None = None) -> None:
        self.options = options or Options()
        self.url = ""
        self.refused_is_fine = False
        """For the ``api`` fixture: the test expects refusals."""
        self.errors: list[BaseException] = []
        """What went wrong in the server's own code."""
        self._service = Service(self.options)
        self._service.playbook.add(*steps)
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None

    # --- script -----------------------------------------------------------------------------------------------------

    def play(self, *steps: Step) -> None:
        """Adds steps; each accepted request to ``/v1/messages`` takes one."""
        self._service.playbook.add(*steps)

    def lane(self, match: Match, *steps: Step) -> None:
        """Steps for the conversations that match: a text in their first message, or a function of the request."""
        self._service.playbook.lane(match, *steps)

    def always(self, step: Step) -> None:
        """Answers every request that finds no other step."""
        self._service.playbook.default = step

    @property
    def steps_left(self) -> int:
        return self._service.playbook.left

    # --- what was seen ----------------------------------------------------------------------------------------------

    @property
    def requests(self) -> list[Request]:
        """Requests to ``/v1/messages`` in the order of their arrival, refused ones too."""
        return self._service.recorder.messages

    @property
    def all_requests(self) -> list[Request]:
        return self._service.recorder.all

    @property
    def refused(self) -> list[Request]:
        """Requests that the server's own validation refused."""
        return [r for r in self.all_requests if r.refused]

    def wait_for(self, count: int, *, timeout: float = 20, finished: bool = False) -> list[Request]:
        """Blocks until so many requests to ``/v1/messages`` have come in (with ``finished``: are over)."""
        return self._service.recorder.wait(count, timeout=timeout, finished=finished)

    async def arrived(self, count: int, *, timeout: float = 20, finished: bool = False) -> list[Request]:
        """``wait_for`` that doesn't block the caller's event loop."""
        return await asyncio.to_thread(self.wait_for, count, timeout=timeout, finished=finished)

    def assert_clean(self) -> None:
        """``AssertionError`` with the API's words where a request was refused as invalid."""
        if self.refused:
            told = [f"request {r.number} to {r.path}: {r.status} {r.error}" for r in self.refused]
            raise AssertionError("the server refused requests:\n" + "\n".join(told))

    @property
    def clock(self) -> VirtualClock:
        return self._service.clock

    @property
    def cache(self) -> Cache:
        return self._service.cache

    # --- life -------------------------------------------------------------------------------------------------------

    def start(self) -> Self:
        ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._main(ready)), name="api", daemon=True)
        self._thread.start()
        if not ready.wait(20):
            raise TimeoutError("the server did not start")
        return self

    def close(self) -> None:
        """Stops the server; raises what went wrong in it."""
        if self._loop is not None and self._stop is not None and self._thread is not None:
            self._loop.call_soon_threadsafe(self._stop.set)
            self._thread.join(20)
            self._thread = None
        if self.errors:
            raise ExceptionGroup("the test server failed", [e for e in self.errors if isinstance(e, Exception)])

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self.start()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await asyncio.to_thread(self.close)

    async def _main(self, ready: threading.Event) -> None:
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        connections: set[asyncio.Task[None]] = set()

        def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.ensure_future(self._connection(reader, writer))
            connections.add(task)
            task.add_done_callback(connections.discard)

        server = await asyncio.start_server(connected, "127.0.0.1", 0)
        self.url = "http://{}:{}".format(*server.sockets[0].getsockname()[:2])
        ready.set()
        await self._stop.wait()
        server.close()
        for task in connections:
            task.cancel()
        await asyncio.gather(*connections, return_exceptions=True)

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            ahead = b""
            while http := await read_request(reader, ahead):
                response = Response(reader, writer, torn=self.options.torn)
                await self._exchange(http, response)
                ahead = response.ahead
                if response.dead:
                    break
        except (ConnectionError, BadRequest, asyncio.IncompleteReadError):
            return
        except Exception as error:
            self.errors.append(error)
        finally:
            writer.close()

    async def _exchange(self, http: HttpRequest, response: Response) -> None:
        """Answers, unless the client leaves first."""
        request = self._service.record(http)
        work = asyncio.ensure_future(self._service.handle(request, response))
        gone = asyncio.ensure_future(response.gone())
        try:
            await asyncio.wait({work, gone}, return_when=asyncio.FIRST_COMPLETED)
            if not work.done():
                response.dead = True
                request.aborted = True
                self._service.recorder.changed()
                return
            work.result()
        except Disconnected:
            request.aborted = True
            request.finished = False
            self._service.recorder.changed()
        finally:
            for task in (work, gone):
                task.cancel()
            await asyncio.gather(work, gone, return_exceptions=True)
