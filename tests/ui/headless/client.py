"""A client of ``stream-json`` in this process: real pipes, a real session, the strict API server."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agentcli.runtime.options import SessionOptions
from agentcli.ui.headless.options import HeadlessOptions, Streams
from agentcli.ui.headless.reader import LineReader
from agentcli.ui.headless.run import run_headless

Line = dict[str, Any]
STAMPS = ("uuid", "timestamp", "duration_ms", "duration_api_ms", "cwd", "seconds")
GROWING = ("tools", "slash_commands", "usage", "modelUsage", "total_cost_usd", "cache")
"""Fields that change with every tool and command that is added."""
SECONDS = 60.0


@dataclass
class Client:
    """Writes lines, reads lines.  ``lines`` is everything that was read so far."""

    task: asyncio.Task[int]
    reader: LineReader
    input: int | None
    lines: list[Line] = field(default_factory=list)
    _numbers: Any = field(default_factory=lambda: itertools.count(1))

    def send(self, *values: Any) -> None:
        assert self.input is not None
        for value in values:
            data = value if isinstance(value, bytes) else json.dumps(value).encode()
            os.write(self.input, data + b"\n")

    def say(self, text: Any, **more: Any) -> None:
        self.send({"type": "user", "message": {"role": "user", "content": text}, "session_id": "", **more})

    def request(self, subtype: str, **fields: Any) -> str:
        """Sends a control request; returns its id."""
        name = f"req_{next(self._numbers)}"
        self.send({"type": "control_request", "request_id": name, "request": {"subtype": subtype, **fields}})
        return name

    def answer(self, request: Line, response: Line) -> None:
        body = {"subtype": "success", "request_id": request["request_id"], "response": response}
        self.send({"type": "control_response", "response": body})

    async def line(self) -> Line | None:
        """The next line, or ``None`` at the end."""
        async with asyncio.timeout(SECONDS):
            data = await self.reader.next()
        if data is None:
            return None
        self.lines.append(json.loads(data))
        return self.lines[-1]

    async def until(self, fits: Callable[[Line], bool]) -> Line:
        """Reads until a line fits; ``AssertionError`` when the output ends before."""
        while (line := await self.line()) is not None:
            if fits(line):
                return line
        raise AssertionError(f"the output ended: {[(x['type'], x.get('subtype')) for x in self.lines]}")

    async def kind(self, type: str, subtype: str | None = None) -> Line:
        return await self.until(lambda x: x["type"] == type and subtype in (None, x.get("subtype")))

    async def response(self, name: str) -> Line:
        """The answer to a control request."""
        found = await self.until(lambda x: x["type"] == "control_response" and x["response"]["request_id"] == name)
        response: Line = found["response"]
        return response

    async def asked(self, subtype: str) -> Line:
        """The next control request of the other side."""
        return await self.until(lambda x: x["type"] == "control_request" and x["request"]["subtype"] == subtype)

    def end(self) -> None:
        """Closes the input."""
        if self.input is not None:
            os.close(self.input)
            self.input = None

    async def rest(self) -> int:
        """Closes the input, reads to the end, returns the exit code."""
        self.end()
        while await self.line() is not None:
            pass
        async with asyncio.timeout(SECONDS):
            return await self.task

    def of(self, type: str, subtype: str | None = None) -> list[Line]:
        """The lines of a kind among those read."""
        return [x for x in self.lines if x["type"] == type and subtype in (None, x.get("subtype"))]


@asynccontextmanager
async def running(
    prompt: str = "", *, options: dict[str, Any] | None = None, streaming: bool = True, **how: Any
) -> AsyncIterator[Client]:
    """A headless run with ``stream-json`` output; with ``streaming`` as input too."""
    given = {"cwd": Path.cwd(), "interactive": False, **(options or {})}
    given.setdefault("answers_permissions", bool(how.get("permission_prompts")))
    values = {"output_format": "stream-json", "input_format": "stream-json" if streaming else "text", **how}
    input_read, input_write = os.pipe()
    output_read, output_write = os.pipe()

    async def work() -> int:
        try:
            streams = Streams(input_read, output_write)
            return await run_headless(SessionOptions(**given), prompt, HeadlessOptions(**values), streams=streams)
        finally:
            os.close(output_write)

    client = Client(asyncio.create_task(work()), LineReader(output_read), input_write)
    try:
        yield client
    finally:
        client.end()
        if not client.task.done():
            client.task.cancel()
        await asyncio.wait([client.task])
        while await client.line() is not None:
            pass
        os.close(output_read)
        os.close(input_read)


async def until(true: Callable[[], bool]) -> None:
    """Polls; ``TimeoutError`` if it does not become true."""
    async with asyncio.timeout(SECONDS):
        while not true():
            await asyncio.sleep(0.01)


def normal(lines: list[Line], *, masked: tuple[str, ...] = ()) -> str:
    """The lines with ids, times and places made the same for every run; ``masked`` fields too."""
    names: dict[str, str] = {}

    def one(key: str, value: Any) -> Any:
        if key in masked:
            return f"<{key}>"
        if isinstance(value, dict):
            return {k: one(k, v) for k, v in value.items()}
        if isinstance(value, list):
            return [one(key, v) for v in value]
        if key in STAMPS and value is not None:
            return f"<{key}>"
        if key in ("signature", "version"):
            return f"<{key}>"
        if isinstance(value, float):
            return round(value, 6)
        if isinstance(value, str):
            return _plain(value, names)
        return value

    return "\n".join(json.dumps(one("", line), ensure_ascii=False) for line in lines) + "\n"


_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|perm_[0-9a-f]{32}|hook_[0-9a-f]{32}")


def _plain(text: str, names: dict[str, str]) -> str:
    text = text.replace(str(Path.cwd()), "<project>")
    return _UUID.sub(lambda m: names.setdefault(m[0], f"<id {len(names) + 1}>"), text)
