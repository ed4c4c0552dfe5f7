"""Remote servers: streamable HTTP, SSE, headers, and losing them."""

from __future__ import annotations

import asyncio
import json
import socket
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, suppress
from multiprocessing.context import ForkServerProcess
from pathlib import Path

import pytest

from agentcli.errors import ToolError
from agentcli.messages import TextBlock
from agentcli.ports.elicitation import ElicitReply
from tests.mcp.forks import script, start
from tests.mcp.test_results import Person
from tests.mcp.world import World, states, texts, tool, until

SERVER = Path(__file__).with_name("sdk_server.py")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def listening(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


Run = Callable[..., ForkServerProcess]


@pytest.fixture
def run() -> Iterator[Run]:
    """Starts the server and waits until it listens."""
    running: list[ForkServerProcess] = []

    def begin(kind: str, port: int, *token: str) -> ForkServerProcess:
        process = start(script, str(SERVER), kind, str(port), *token)
        running.append(process)
        deadline = time.monotonic() + 20
        while not listening(port):
            assert time.monotonic() < deadline
            assert process.is_alive()
            time.sleep(0.02)
        return process

    yield begin
    for process in running:
        process.kill()
        process.join()


async def test_over_http_everything_works_and_a_restart_is_survived(mcp: World, run: Run) -> None:
    port = free_port()
    first = run("http", port)
    mcp.servers.add("sdk", {"type": "http", "url": f"http://127.0.0.1:{port}/mcp"})
    mcp.host_options = {"elicitor": Person(ElicitReply("accept", {"ok": True})), "backoff": (0.2,)}
    async with mcp.open() as room:
        assert states(room) == {"sdk": "connected"}
        assert texts(await mcp.call(room, "mcp__sdk__add", a=1, b=2)) == ["3"]
        assert texts(await mcp.call(room, "mcp__sdk__danger")) == ["ok=True"]
        await until(room.mentions)
        assert await room.attached("@sdk:note://one") == (TextBlock("[resource note://one]\nthe first note"),)
        assert await room.prompt("mcp__sdk__review", "this") == (TextBlock("Please review this."),)
        assert texts(await mcp.call(room, "mcp__sdk__grow")) == ["grown"]
        await room.between_steps()
        assert "mcp__sdk__late" in room.tools
        first.kill()
        first.join()
        with pytest.raises(ToolError, match="The MCP server sdk"):
            await mcp.call(room, "mcp__sdk__add", a=1, b=2)
        run("http", port)
        assert texts(await mcp.call(room, "mcp__sdk__add", a=2, b=2)) == ["4"]
        assert states(room) == {"sdk": "connected"}


async def test_over_sse_too(mcp: World, run: Run) -> None:
    port = free_port()
    run("sse", port)
    mcp.servers.add("sdk", {"type": "sse", "url": f"http://127.0.0.1:{port}/sse"})
    async with mcp.open() as room:
        assert states(room) == {"sdk": "connected"}
        assert texts(await mcp.call(room, "mcp__sdk__add", a=1, b=2)) == ["3"]


@asynccontextmanager
async def raw_sse(answers: Mapping[str, str]) -> AsyncIterator[str]:
    """A legacy server over SSE: its address.  ``answers`` is what it says to each method, ``ID`` for the request's."""
    events: asyncio.Queue[str] = asyncio.Queue()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        if head.startswith("get"):
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\nevent: endpoint\ndata: /post\n\n")
            while True:
                writer.write(f"event: message\ndata: {await events.get()}\n\n".encode())
                await writer.drain()
        message = json.loads(await reader.readexactly(int(head.partition("content-length:")[2].split()[0])))
        if message["method"] in answers:
            events.put_nowait(answers[message["method"]].replace("ID", json.dumps(message["id"])))
        writer.write(b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        await writer.drain()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await answer(reader, writer)
        finally:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()

    serving: set[asyncio.Task[None]] = set()

    def begin(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        serving.add(asyncio.create_task(serve(reader, writer)))

    server = await asyncio.start_server(begin, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/sse"
    finally:
        server.close()
        for task in serving:
            task.cancel()
        await asyncio.gather(*serving, return_exceptions=True)


@pytest.mark.parametrize(
    "answer", ["nonsense", '{"jsonrpc": "2.0", "id": ID}', '{"jsonrpc": "2.0", "id": 0.5, "result": {}}']
)
async def test_an_answer_over_sse_that_is_no_message_ends_the_call(mcp: World, answer: str) -> None:
    info = {
        "protocolVersion": "2024-11-05",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "old", "version": "1"},
    }
    listed = {"tools": [tool("odd")]}
    answers = {
        "initialize": f'{{"jsonrpc": "2.0", "id": ID, "result": {json.dumps(info)}}}',
        "tools/list": f'{{"jsonrpc": "2.0", "id": ID, "result": {json.dumps(listed)}}}',
        "tools/call": answer,
    }
    async with raw_sse(answers) as url:
        mcp.servers.add("old", {"type": "sse", "url": url})
        async with mcp.open() as room:
            assert states(room) == {"old": "connected"}
            for _ in range(2):
                async with asyncio.timeout(10):
                    with pytest.raises(ToolError, match="the server's answer is not valid JSON-RPC"):
                        await mcp.call(room, "mcp__old__odd")


async def test_headers_come_from_the_entry_and_from_a_helper(mcp: World, run: Run) -> None:
    port = free_port()
    run("http", port, "secret")
    url = f"http://127.0.0.1:{port}/mcp"
    mcp.env = {"TOKEN": "secret"}
    mcp.servers.add("given", {"type": "http", "url": url, "headers": {"Authorization": "Bearer ${TOKEN}"}})
    helper = """echo '{"Authorization": "Bearer secret"}'"""
    mcp.servers.add("helped", {"type": "http", "url": url, "headersHelper": helper})
    mcp.servers.add("wrong", {"type": "http", "url": url, "headersHelper": "echo nothing"})
    mcp.servers.add("failing", {"type": "http", "url": url, "headersHelper": "exit 4"})
    mcp.servers.add("bare", {"type": "http", "url": url})
    async with mcp.open() as room:
        await until(lambda: "pending" not in states(room).values())
        found = {s.name: (s.state, s.reason) for s in room.statuses()}
        assert found == {
            "given": ("connected", ""),
            "helped": ("connected", ""),
            "wrong": ("failed", "headersHelper must print a JSON object of headers"),
            "failing": ("failed", "headersHelper exited with code 4"),
            "bare": ("needs-auth", "wants a login: log in with `agentcli mcp login bare`"),
        }
    for path in (mcp.cwd.parent / "home").rglob("*"):
        assert not path.is_file() or b"secret" not in path.read_bytes()
