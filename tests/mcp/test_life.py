"""Connecting, losing, connecting again, and ending servers."""

from __future__ import annotations

import asyncio
import time

import pytest

from agentcli.errors import ToolError
from tests.mcp.world import World, processes_with, states, texts, tool, until


async def test_a_server_is_connected_and_its_tools_can_be_called(mcp: World) -> None:
    mcp.servers.add("alpha", tools=[tool("read", path={"type": "string"})], instructions="Be \x1b[1mkind\0.\x1b[0m")
    async with mcp.open() as room:
        assert states(room) == {"alpha": "connected"}
        assert list(room.tools) == ["mcp__alpha__read"]
        result = await mcp.call(room, "mcp__alpha__read", path="x")
        assert texts(result) == ['read {"path": "x"}']
        assert not result.is_error
        assert await room.instructions() == "## alpha\n\nBe kind."


async def test_silent_missing_exiting_and_refusing_servers_each_say_what_is_wrong(mcp: World) -> None:
    mcp.servers.add("mute", mute=True)
    mcp.servers.add("fork", {"command": "sh", "args": ["-c", "sleep 3600.123 & exit 0"]})
    mcp.servers.add("missing", {"command": "no-such-program-xyz"})
    mcp.servers.add("web", {"type": "http", "url": "http://127.0.0.1:9/mcp"})
    mcp.host_options = {"start": 1.5}
    began = time.monotonic()
    async with mcp.open() as room:
        assert time.monotonic() - began < 8, "servers are waited for one after the other"
        await until(lambda: set(states(room).values()) == {"failed"})
        reasons = {s.name: s.reason for s in room.statuses()}
        assert reasons["mute"] == "no answer within 1.5 s"
        assert reasons["fork"].startswith("exited (code 0)")
        assert reasons["missing"] == "not found: no-such-program-xyz"
        assert reasons["web"].startswith("can't be reached")
    assert not processes_with("sleep 3600.123", str(mcp.servers.directory))


@pytest.mark.parametrize(
    ("name", "message"),
    [("exit", "exited (code 3)"), ("half", "exited (code 0)"), ("closeout", "closed its output")],
)
async def test_a_server_that_ends_during_a_call_gives_an_error_at_once_and_comes_back(
    mcp: World, name: str, message: str
) -> None:
    calls = {"exit": {"exit": 3}, "half": {"half": True}, "closeout": {"closeout": True}, "ok": {"text": "fine"}}
    mcp.servers.add("d", tools=[tool(n) for n in calls], calls=calls, ignores_unknown=True)
    async with mcp.open() as room:
        began = time.monotonic()
        with pytest.raises(ToolError, match=r"The MCP server d is not connected: ") as error:
            await mcp.call(room, f"mcp__d__{name}")
        assert message in str(error.value)
        assert time.monotonic() - began < 2
        assert texts(await mcp.call(room, "mcp__d__ok")) == ["fine"]
        assert states(room) == {"d": "connected"}


async def test_a_call_that_hangs_times_out_and_the_server_is_started_anew(mcp: World) -> None:
    calls = {"hang": {"sleep": 9999}, "ok": {"text": "fine"}}
    mcp.servers.add("d", tools=[tool(n) for n in calls], calls=calls, ignores_unknown=True)
    mcp.host_options = {"call": 0.4}
    async with mcp.open() as room:
        hung, second = await asyncio.gather(
            mcp.call(room, "mcp__d__hang"), mcp.call(room, "mcp__d__ok"), return_exceptions=True
        )
        assert str(hung) == "The MCP server d: timed out after 0.4 s."
        assert isinstance(second, ToolError)
        assert texts(await mcp.call(room, "mcp__d__ok")) == ["fine"]


async def test_half_a_surrogate_pair_in_an_answer_is_replaced(mcp: World) -> None:
    lone = {"result": {"content": [{"type": "text", "text": "a\ud800b \ud83d\ude00"}]}}
    mcp.servers.add("d", tools=[tool("lone")], calls={"lone": lone})
    async with mcp.open() as room:
        assert texts(await mcp.call(room, "mcp__d__lone")) == ["a\ufffdb \U0001f600"]


@pytest.mark.parametrize(
    "line",
    [
        '{"jsonrpc": "2.0", "id": ID, "result": [1]}',
        '{"jsonrpc": "2.0", "id": ID}',
        '{"id": ID, "error": "it went wrong"}',
    ],
)
async def test_an_answer_that_is_not_valid_is_an_error_of_its_call(mcp: World, line: str) -> None:
    mcp.servers.add("d", tools=[tool("odd"), tool("ok")], calls={"odd": {"line": line}})
    async with mcp.open() as room:
        async with asyncio.timeout(10):
            with pytest.raises(ToolError, match="the server's answer is not valid JSON-RPC"):
                await mcp.call(room, "mcp__d__odd")
        assert texts(await mcp.call(room, "mcp__d__ok")) == ["ok {}"]
        assert states(room) == {"d": "connected"}


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('{"jsonrpc": "2.0", "id": 0.5, "result": {}}', "not valid JSON-RPC"),
        ('{"jsonrpc": "2.0", "id": [ID], "result": {}}', "not valid JSON-RPC"),
        ('{"jsonrpc": "2.0", "id": null, "result": {}}', "not valid JSON-RPC"),
        ('{"jsonrpc": "2.0", "result": {}}', "not valid JSON-RPC"),
        ('{"jsonrpc": "2.0", "id": "call", "result": {}}', "under the id 'call', which no request has"),
        ('{"jsonrpc": "2.0", "id": 9999, "result": {}}', "under the id 9999, which no request has"),
        (
            '{"jsonrpc": "2.0", "id": null, "error": {"code": -32700, "message": "bad"}}',
            "could not read a request: bad",
        ),
        ('[{"jsonrpc": "2.0", "id": ID, "result": [1]}]', "not valid JSON-RPC"),
        ('[7, {"jsonrpc": "2.0", "result": {}}]', "not valid JSON-RPC"),
    ],
)
async def test_an_answer_to_nobody_ends_the_call(mcp: World, line: str, words: str) -> None:
    mcp.servers.add("d", tools=[tool("odd"), tool("ok")], calls={"odd": {"line": line}})
    async with mcp.open() as room:
        async with asyncio.timeout(10):
            with pytest.raises(ToolError, match=words):
                await mcp.call(room, "mcp__d__odd")
        assert texts(await mcp.call(room, "mcp__d__ok")) == ["ok {}"]
        assert states(room) == {"d": "connected"}


@pytest.mark.parametrize(
    "line",
    [
        '[{"jsonrpc": "2.0", "id": ID, "result": {"content": [{"type": "text", "text": "fine"}]}}]',
        '{"jsonrpc": "2.0", "id": ID.0, "result": {"content": [{"type": "text", "text": "fine"}]}}',
        '{"jsonrpc": "2.0", "id": "ID", "result": {"content": [{"type": "text", "text": "fine"}]}}',
        (
            '{"jsonrpc": "2.0", "id": null, "error": {"code": -32601, "message": "unknown notice"}}\n'
            '{"level": "info", "id": "0815", "msg": "a log"}\n'
            '{"jsonrpc": "2.0", "id": ID, "result": {"content": [{"type": "text", "text": "fine"}]}}'
        ),
    ],
)
async def test_an_answer_in_an_old_or_odd_form_is_understood(mcp: World, line: str) -> None:
    mcp.servers.add("d", tools=[tool("odd")], calls={"odd": {"line": line}})
    async with mcp.open() as room:
        async with asyncio.timeout(10):
            assert texts(await mcp.call(room, "mcp__d__odd")) == ["fine"]


async def test_an_interrupted_call_returns_at_once_and_the_server_is_told(mcp: World, tmp_path: object) -> None:
    notes = mcp.cwd.parent / "notes"
    mcp.servers.add("d", tools=[tool("slow"), tool("ok")], calls={"slow": {"sleep": 0.3}}, notes=str(notes))
    async with mcp.open() as room:
        running = asyncio.create_task(mcp.call(room, "mcp__d__slow"))
        await until(lambda: notes.exists() and "call slow" in notes.read_text())
        began = time.monotonic()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert time.monotonic() - began < 0.2
        await until(lambda: "cancelled" in notes.read_text())
        assert texts(await mcp.call(room, "mcp__d__ok")) == ["ok {}"]
        assert states(room) == {"d": "connected"}


async def test_a_server_that_knows_only_the_newest_protocol_is_understood(mcp: World) -> None:
    mcp.servers.add("new", tools=[tool("read")], only="2026-07-28")
    async with mcp.open() as room:
        assert states(room) == {"new": "connected"}, (room.statuses(), room.log_tail("new"))
        assert texts(await mcp.call(room, "mcp__new__read")) == ["read {}"]


async def test_the_environment_of_a_server_has_no_key_of_ours(mcp: World, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "MCP_CLIENT_SECRET"):
        monkeypatch.setenv(name, "secret-value")
    monkeypatch.setenv("OTHER", "kept")
    code = "import json,os,sys; print(json.dumps(dict(os.environ)), file=sys.stderr, flush=True); sys.exit(5)"
    mcp.servers.add("s", {"command": "python3", "args": ["-c", code], "env": {"OWN": "x"}})
    async with mcp.open() as room:
        await until(lambda: states(room) == {"s": "failed"})
        seen = "\n".join(room.log_tail("s"))
        (path,) = (p for p in [room.statuses()[0].log] if p)
    with open(path) as file:
        text = file.read()
    assert "secret-value" not in text + seen
    assert '"OTHER": "kept"' in text
    assert '"OWN": "x"' in text
    assert f'"CLAUDE_PROJECT_DIR": "{mcp.cwd}"' in text


async def test_nothing_is_loaded_and_nothing_waits_without_servers(mcp: World) -> None:
    room = mcp.room()
    room.start()
    assert not room.configured
    assert await room.collect("first_message") == []
    assert room.late_tools() == ()
    assert room.statuses() == ()
    await room.close()
