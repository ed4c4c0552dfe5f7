"""The API itself: accepts or refuses a request, takes the script's step, and answers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

from tests.api import models
from tests.api.cache import Cache, Lookup, output_cost
from tests.api.clock import VirtualClock
from tests.api.diagnose import cache_miss_reason
from tests.api.errors import Refusal
from tests.api.faults import Fault, Garbage, Gate, Pause, RawEvent
from tests.api.models import Model
from tests.api.options import Options
from tests.api.playbook import Concrete, Playbook, resolve
from tests.api.recorder import Json, Recorder, Request
from tests.api.render import ChainBlock, as_blocks
from tests.api.script import After, ErrorReply, Reply
from tests.api.signing import Prefix
from tests.api.stream import Answer, Event
from tests.api.validate import Accepted, accept
from tests.api.web import PRICE, searches
from tests.api.wire import HttpRequest, Response, encode, sse

BINDING = "thinking-binding-controls-2026-08-01"
PLAIN = {"content-type": "application/json"}


class Service:
    """One API with its script, its record and its cache.  Lives on the server's event loop."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.clock = VirtualClock()
        self.recorder = Recorder()
        self.playbook = Playbook()
        self.cache = Cache(self.clock)
        self._answered: dict[str, tuple[Model, Sequence[ChainBlock]]] = {}
        self._requests = 0
        self._ids = 0

    def record(self, http: HttpRequest) -> Request:
        """Notes the request; its body is parsed if it can be."""
        self._requests += http.method == "POST"  # what is asked about models is not counted: it may come at any time
        now = self.clock.now()
        request = Request(self._requests, http.method, http.path, http.query, dict(http.headers), http.body, now)
        try:
            request.json = json.loads(http.body) if http.body else None
        except ValueError:
            request.json = None
        self.recorder.add(request)
        return request

    async def handle(self, request: Request, response: Response) -> None:
        """Answers one request.  Whatever is wrong with it becomes an error answer."""
        try:
            await self._route(request, response)
        except Refusal as refusal:
            request.refused = request.method == "POST"  # a model that there is not may be asked about
            await self._error(request, response, ErrorReply(refusal.status, refusal.body, {}))
        finally:
            self.recorder.changed()

    async def _route(self, request: Request, response: Response) -> None:
        path = request.path
        if any(path == m or path.startswith(m + "/") for m in self.options.missing):
            raise Refusal(404, f"{request.method} {path} not found")
        match request.method, path:
            case "POST", "/v1/messages":
                await self._messages(request, response)
            case "POST", "/v1/messages/count_tokens":
                total = sum(b.tokens for b in accept(request, self.options).chain)
                await self._whole(request, response, {"input_tokens": total})
            case "GET", "/v1/models":
                data = [models.info(m) for m in models.MODELS.values()]
                page = {"data": data, "has_more": False, "first_id": data[0]["id"], "last_id": data[-1]["id"]}
                await self._whole(request, response, page)
            case "GET", _ if path.startswith("/v1/models/"):
                name = path.removeprefix("/v1/models/")
                model = models.find(name)
                if model is None:
                    raise Refusal(404, f"model: {name}")
                await self._whole(request, response, models.info(model))
            case _:
                raise Refusal(404, f"{request.method} {path} not found")

    async def _messages(self, request: Request, response: Response) -> None:
        accepted = accept(request, self.options)
        warming = request.json.get("max_tokens") == 0
        step = Reply((), "max_tokens", usage={"output_tokens": 0}) if warming else self.playbook.take(request)
        if step is None:
            raise Refusal(400, "the test server's script has no step left for this request")
        lookup = self.cache.look(
            accepted.chain if self.options.cache_fields else [],
            key=request.key,
            model=accepted.model,
            opening=request.opening,
        )
        await self._perform(await resolve(step, request), request, response, accepted, lookup)

    async def _perform(
        self, step: Concrete, request: Request, response: Response, accepted: Accepted, lookup: Lookup
    ) -> None:
        match step:
            case After():
                await self._wait(step.control)
                later = await resolve(step.step, request)
                await self._perform(later, request, response, accepted, lookup)
            case ErrorReply():
                await self._error(request, response, step)
            case Fault():
                request.status = 0
                await self._fault(step, response)
            case Reply():
                answer = self._answer(step, request, accepted, lookup)
                if request.json.get("stream"):
                    await self._stream(answer, request, response, lookup)
                else:
                    await self._at_once(answer, request, response, lookup)

    def _answer(self, step: Reply, request: Request, accepted: Accepted, lookup: Lookup) -> Answer:
        total = sum(b.tokens for b in accepted.chain)
        usage = lookup.figures.usage() if self.options.cache_fields else {"input_tokens": total}
        extra: Json = {}
        if accepted.transformations and BINDING in request.betas:
            extra["input_transformations"] = accepted.transformations
        previous = (request.json.get("diagnostics") or {}).get("previous_message_id")
        if previous:
            now = (accepted.model, accepted.chain)
            extra["diagnostics"] = {"cache_miss_reason": cache_miss_reason(self._answered.get(previous), now)}

        def sign(block: Json, before: list[Json]) -> str:
            prefix = Prefix(request.json, model=accepted.model.id, account=request.key)
            for message in [*request.messages, {"role": "assistant", "content": before}]:
                for said in as_blocks(message["content"]):
                    prefix.add(message["role"], said)
            return prefix.signature().over(block)

        def new_id(kind: str) -> str:
            return self._new_id(kind, request)

        request.message_id = new_id("msg")
        self._answered[request.message_id] = (accepted.model, accepted.chain)
        answer = Answer(step, request.message_id, request.model, usage, sign, new_id, extra)
        request.content = answer.content
        return answer

    async def _stream(self, answer: Answer, request: Request, response: Response, lookup: Lookup) -> None:
        request.status = 200
        headers = {"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache"}
        await response.start(200, {**headers, "request-id": _request_id(request)})
        for item in answer.events():
            match item:
                case Event(name, data):
                    if answer.reply.gap and name == "content_block_delta":
                        await asyncio.sleep(answer.reply.gap)
                    # What the client may ask about when it has the event must be true before it has it.
                    if name == "message_start":
                        self._begin(request, answer, lookup)
                    elif name == "message_stop":
                        self._finish(request, answer)
                    await response.chunk(sse(name, data))
                case RawEvent(name, data, last):
                    await response.chunk(sse(name, data))
                    if last:
                        await response.end()
                        return
                case Garbage(data):
                    await response.chunk(data)
                case Pause() | Gate():
                    await self._wait(item)
                case Fault():
                    await self._fault(item, response)
                    return
        self._finish(request, answer)
        await response.end()

    async def _at_once(self, answer: Answer, request: Request, response: Response, lookup: Lookup) -> None:
        """The whole message in one body; a fault in it happens in place of the answer."""
        for item in answer.events():
            match item:
                case Pause() | Gate():
                    await self._wait(item)
                case Fault():
                    request.status = 0
                    await self._fault(item, response)
                    return
                case Garbage(data):
                    await response.send(200, data, PLAIN)
                    return
                case RawEvent(_, data, True):
                    await self._error(request, response, ErrorReply(529, data, {}))
                    return
        self._begin(request, answer, lookup)
        self._finish(request, answer)
        await self._whole(request, response, answer.message())

    def _begin(self, request: Request, answer: Answer, lookup: Lookup) -> None:
        request.usage = answer.final_usage
        request.cache = lookup.figures
        self.cache.begin(lookup)
        self.recorder.changed()

    def _finish(self, request: Request, answer: Answer) -> None:
        request.usage = answer.final_usage
        request.finished = True
        model = models.find(request.model)
        if model is not None and request.cache is not None:
            output = output_cost(model, request.cache, request.usage["output_tokens"])
            request.cost = request.cache.cost + output + searches(request.content) * PRICE

    async def _wait(self, control: Pause | Gate) -> None:
        match control:
            case Pause(seconds):
                await asyncio.sleep(seconds)
            case Gate():
                await control.pass_through()

    async def _fault(self, fault: Fault, response: Response) -> None:
        match fault.kind:
            case "reset":
                response.reset()
            case "cut":
                await response.cut()
            case "close" if response.started:
                await response.end()
            case "close":
                await response.send(200, b"", {"content-type": "text/event-stream; charset=utf-8"})
            case "stall":
                await asyncio.Event().wait()
            case "pings":
                while True:
                    await response.chunk(sse("ping", {"type": "ping"}))
                    await asyncio.sleep(fault.every)
            case _:
                raise ValueError(f"no fault is called {fault.kind!r}")

    async def _whole(self, request: Request, response: Response, value: Any) -> None:
        request.status = 200
        await response.send(200, encode(value), {**PLAIN, "request-id": _request_id(request)})

    async def _error(self, request: Request, response: Response, reply: ErrorReply) -> None:
        request.status = reply.status
        body = reply.body
        if isinstance(body, dict):
            request.error = body["error"]
            body = encode({**body, "request_id": _request_id(request)})
        await response.send(reply.status, body, {**PLAIN, "request-id": _request_id(request), **reply.headers})

    def _new_id(self, kind: str, request: Request) -> str:
        """An id that neither this server nor the conversation has used."""
        while True:
            self._ids += 1
            made = f"{kind}_{self._ids:06d}"
            if made.encode() not in request.body:
                return made


def _request_id(request: Request) -> str:
    return f"req_{request.number:06d}"
