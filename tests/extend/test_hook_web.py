"""Hooks that post the event to a server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from agentcli.ports.permissions import HookVerdict
from tests.extend.worlds import bench, one

DENY = b'{"hookSpecificOutput": {"permissionDecision": "deny", "permissionDecisionReason": "no"}}'


@dataclass
class Server:
    """Answers every request with the same bytes; ``None`` never answers."""

    answer: bytes | None
    port: int = 0
    heads: list[str] = field(default_factory=list)
    bodies: list[dict[str, Any]] = field(default_factory=list)
    gone: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook?a=1"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        length = next(int(line.split(":")[1]) for line in head.split("\r\n") if line.startswith("Content-Length"))
        self.heads.append(head)
        self.bodies.append(json.loads(await reader.readexactly(length)))
        if self.answer is not None:
            writer.write(self.answer)
        else:
            await reader.read()
        writer.close()
        self.gone.set()


@asynccontextmanager
async def server(answer: bytes | None) -> AsyncIterator[Server]:
    made = Server(answer)
    listening = await asyncio.start_server(made.serve, "127.0.0.1", 0)
    made.port = listening.sockets[0].getsockname()[1]
    async with listening:
        yield made


def response(body: bytes, status: str = "200 OK", *headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status}", *(headers or (f"Content-Length: {len(body)}",))]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


CHUNKS = b"%x\r\n%b\r\n%x\r\n%b\r\n0\r\n\r\n" % (10, DENY[:10], len(DENY) - 10, DENY[10:])


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (response(DENY), HookVerdict("deny", "no")),
        (response(DENY, "200 OK", "Connection: close"), HookVerdict("deny", "no")),
        (response(CHUNKS, "200 OK", "Transfer-Encoding: chunked"), HookVerdict("deny", "no")),
        (response(b"", "204 No Content"), HookVerdict()),
        (response(b"fine"), HookVerdict()),
    ],
)
async def test_the_answer_is_what_a_command_would_print(project: Path, answer: bytes, expected: HookVerdict) -> None:
    async with server(answer) as made, bench(project, one("PreToolUse", {"type": "http", "url": made.url})) as run:
        assert await run.call(command="ls") == expected
    assert made.heads[0].startswith("POST /hook?a=1 HTTP/1.1\r\n")
    assert (made.bodies[0]["tool_name"], made.bodies[0]["hook_event_name"]) == ("Bash", "PreToolUse")


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (response(DENY, "500 Oops"), "failed with status 500; nothing was blocked"),
        (
            response(DENY, "302 Found", "Location: http://127.0.0.1/other"),
            "failed with status 302; nothing was blocked",
        ),
        (b"SSH-2.0-x\r\n\r\n", "failed: the answer is not HTTP; nothing was blocked"),
        (b"", "failed: the answer is not HTTP; nothing was blocked"),
        (None, "got no answer within 0.2 s; nothing was blocked"),
    ],
)
async def test_a_failing_server_blocks_nothing(project: Path, answer: bytes | None, problem: str) -> None:
    async with server(answer) as made:
        hook = {"type": "http", "url": made.url, "timeout": 0.2 if answer is None else 5}
        async with bench(project, one("PreToolUse", hook)) as run:
            assert await run.call() == HookVerdict(messages=(f"PreToolUse hook `{made.url}` {problem}",))
        async with asyncio.timeout(5):
            await made.gone.wait()


async def test_headers_take_only_variables_that_are_allowed(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN", "t1")
    monkeypatch.setenv("OTHER", "o1")
    headers = {"Authorization": "Bearer $TOKEN", "X-Other": "<${OTHER}>", "Content-Length": "1", "host": "x"}
    async with server(response(b"{}")) as made:
        hook = {"type": "http", "url": made.url, "headers": headers, "allowedEnvVars": ["TOKEN"]}
        async with bench(project, one("Stop", hook)) as run:
            assert await run.fire("Stop") == HookVerdict()
    lines = made.heads[0].split("\r\n")
    assert {"Authorization: Bearer t1", "X-Other: <>", f"Host: 127.0.0.1:{made.port}"} <= set(lines)
    assert "o1" not in made.heads[0]


@pytest.mark.parametrize("url", ["ftp://x/y", "http://", "https://[::1", "http://x/a b", "file:///etc/passwd"])
async def test_addresses_that_are_none(project: Path, url: str) -> None:
    async with bench(project, one("Stop", {"type": "http", "url": url})) as run:
        (message,) = (await run.fire("Stop")).messages
    assert message.endswith("; nothing was blocked")


async def test_a_server_that_is_not_there(project: Path) -> None:
    async with server(b"") as made:
        url = made.url
    async with bench(project, one("Stop", {"type": "http", "url": url})) as run:
        (message,) = (await run.fire("Stop")).messages
    assert "failed: " in message


async def test_the_settings_may_allow_some_addresses_only(project: Path, home: Path) -> None:
    (home / ".claude").mkdir()
    (home / ".claude" / "settings.json").write_text('{"allowedHttpHookUrls": ["https://hooks.example.com/*"]}')
    async with (
        server(response(DENY)) as made,
        bench(project, one("PreToolUse", {"type": "http", "url": made.url})) as run,
    ):
        (message,) = (await run.call()).messages
    assert "allowedHttpHookUrls in the settings does not allow this address" in message
    assert made.heads == []
