"""MCP servers of type ``sdk`` live in the client: ``mcp_message`` carries what is said to them and by them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agentcli.ui.headless.reader import LONGEST_INPUT
from tests.api import ApiServer, reply, tool_use
from tests.ui.headless.client import Client, Line, running

INFO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {"tools": {"listChanged": True}},
    "serverInfo": {"name": "calc", "version": "1.2"},
}
ADD = {"name": "add", "description": "Adds.", "inputSchema": {"type": "object"}}
CALL = reply(tool_use("mcp__calc__add", {"a": 1}))
ALLOWED = {"allowed_tools": ("mcp__calc__*",)}


def text(words: str) -> Line:
    return {"content": [{"type": "text", "text": words}]}


def answered(request: Line, result: Line) -> Line:
    """What the client gives back for a request to its server."""
    return {"mcp_response": {"jsonrpc": "2.0", "id": request["request"]["message"]["id"], "result": result}}


async def told(client: Client, method: str) -> Line:
    """The next message to the server, which has to be of that method."""
    request = await client.asked("mcp_message")
    assert request["request"]["server_name"] == "calc"
    assert request["request"]["message"]["method"] == method
    return request


async def listed(client: Client, *tools: Line) -> None:
    request = await told(client, "tools/list")
    client.answer(request, answered(request, {"tools": list(tools)}))


async def begun(client: Client) -> None:
    """``initialize`` of the session, and of the server."""
    client.request("initialize", sdkMcpServers=["calc"])
    request = await told(client, "initialize")
    client.answer(request, answered(request, INFO))
    client.answer(await told(client, "notifications/initialized"), {"mcp_response": {"jsonrpc": "2.0", "result": {}}})
    await listed(client, ADD)


def results(api: ApiServer) -> str:
    return json.dumps(api.requests[-1].tool_results)


async def test_a_tool_of_the_client(api: ApiServer, project: Path) -> None:
    api.play(CALL, "two")
    async with running(options=ALLOWED) as client:
        await begun(client)
        client.say("1 + 1")
        call = await told(client, "tools/call")
        assert call["request"]["message"]["params"]["arguments"] == {"a": 1}
        client.answer(call, answered(call, text("2 it is")))
        assert (await client.kind("result"))["result"] == "two"
        status = (await client.response(client.request("mcp_status")))["response"]["mcpServers"]
        assert await client.rest() == 0
    assert client.of("system", "init")[0]["mcp_servers"] == [{"name": "calc", "status": "pending"}]
    assert "2 it is" in results(api)
    assert status == [
        {
            "name": "calc",
            "status": "connected",
            "scope": "flag",
            "config": {"type": "sdk", "name": "calc"},
            "serverInfo": {"name": "calc", "version": "1.2"},
            "tools": [{"name": "add", "description": "Adds.", "annotations": {}}],
        }
    ]
    assert client.of("system", "informational") == []


@pytest.mark.parametrize(
    ("response", "words"),
    [
        ({}, "none to this request"),
        ({"mcp_response": "four"}, 'none to this request: \\"four\\"'),
        ({"mcp_response": {"jsonrpc": "2.0", "id": 99, "result": {}}}, "none to this request"),
        ({"mcp_response": {"jsonrpc": "2.0", "id": 1, "method": "ping"}}, "none to this request"),
        ({"mcp_response": {"jsonrpc": "2.0", "id": None, "error": {"code": -32603, "message": "boom"}}}, "boom"),
    ],
)
async def test_an_answer_that_is_none_ends_the_call(response: Line, words: str, api: ApiServer, project: Path) -> None:
    api.play(CALL, "I see.")
    async with running(options=ALLOWED) as client:
        await begun(client)
        client.say("1 + 1")
        client.answer(await told(client, "tools/call"), response)
        assert (await client.kind("result"))["result"] == "I see."
        assert await client.rest() == 0
    assert words in results(api)
    assert api.requests[-1].tool_results[0]["is_error"]


async def test_the_client_refuses_or_says_too_much(api: ApiServer, project: Path) -> None:
    api.play(reply(tool_use("mcp__calc__add", {}), tool_use("mcp__calc__add", {})), "I see.")
    async with running(options=ALLOWED) as client:
        await begun(client)
        client.say("1 + 1")
        first = await told(client, "tools/call")
        refused = {"subtype": "error", "request_id": first["request_id"], "error": "no such server"}
        client.send({"type": "control_response", "response": refused})
        second = await told(client, "tools/call")
        client.answer(second, answered(second, text("x" * LONGEST_INPUT)))
        assert (await client.kind("result"))["result"] == "I see."
        assert await client.rest() == 0
    assert "no such server" in results(api)
    assert f"more than {LONGEST_INPUT:,} bytes" in results(api)
    assert len(client.of("result")) == 1


async def test_calls_side_by_side(api: ApiServer, project: Path) -> None:
    """Answers may come in any order."""
    reads = {**ADD, "annotations": {"readOnlyHint": True}}
    api.play(reply(*(tool_use("mcp__calc__add", {"n": n}) for n in range(3))), "done")
    async with running(options=ALLOWED) as client:
        client.request("initialize", sdkMcpServers=["calc"])
        request = await told(client, "initialize")
        client.answer(request, answered(request, INFO))
        client.answer(await told(client, "notifications/initialized"), {})
        await listed(client, reads)
        client.say("go")
        calls = [await told(client, "tools/call") for _ in range(3)]
        for call in reversed(calls):
            client.answer(call, answered(call, text(f"n is {call['request']['message']['params']['arguments']['n']}")))
        await client.kind("result")
        assert await client.rest() == 0
    told_in_order = [r["content"][0]["text"] for r in api.requests[-1].tool_results]
    assert told_in_order == ["n is 0", "n is 1", "n is 2"]


async def test_an_interrupted_call_is_withdrawn(api: ApiServer, project: Path) -> None:
    api.play(CALL, "next")
    async with running(options=ALLOWED) as client:
        await begun(client)
        client.say("1 + 1")
        call = await told(client, "tools/call")
        client.request("interrupt")
        notice = await told(client, "notifications/cancelled")
        number = call["request"]["message"]["id"]
        assert notice["request"]["message"]["params"]["requestId"] == number
        withdrawn = await client.kind("control_cancel_request")
        assert withdrawn["request_id"] == call["request_id"]
        client.answer(notice, {})
        client.answer(call, answered(call, text("too late")))
        assert (await client.kind("result"))["is_error"]
        client.say("and now?")
        assert (await client.kind("result"))["result"] == "next"
        assert await client.rest() == 0


async def test_the_input_ends_in_a_call(api: ApiServer, project: Path) -> None:
    api.play(CALL, "I see.")
    async with running(options=ALLOWED) as client:
        await begun(client)
        client.say("1 + 1")
        await told(client, "tools/call")
        assert await client.rest() == 0
    assert [x["result"] for x in client.of("result")] == ["I see."]
    assert "closed the input" in results(api)


async def test_a_call_has_the_timeout_that_the_client_chose(api: ApiServer, project: Path) -> None:
    api.play(CALL, "I see.")
    async with running(options=ALLOWED) as client:
        configs = {"calc": {"timeout": 1000}}
        client.request("initialize", sdkMcpServers=["calc"], sdkMcpServerConfigs=configs)
        request = await told(client, "initialize")
        client.answer(request, answered(request, INFO))
        client.answer(await told(client, "notifications/initialized"), {})
        await listed(client, ADD)
        client.say("1 + 1")
        await told(client, "tools/call")
        assert (await client.kind("result"))["result"] == "I see."
        assert await client.rest() == 0
    assert "timed out after 1 s" in results(api)


async def test_the_server_says_that_its_tools_changed(api: ApiServer, project: Path) -> None:
    api.play(reply(tool_use("mcp__calc__sub", {})), "done")
    async with running(options=ALLOWED) as client:
        await begun(client)
        changed = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}
        sent = client.request("mcp_message", server_name="calc", message=changed)
        assert (await client.response(sent))["subtype"] == "success"
        await listed(client, ADD, {**ADD, "name": "sub"})
        client.say("go")
        call = await told(client, "tools/call")
        assert call["request"]["message"]["params"]["name"] == "sub"
        client.answer(call, answered(call, text("0")))
        await client.kind("result")
        assert await client.rest() == 0


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        ({"action": "accept", "content": {"name": "Ada"}}, {"action": "accept", "content": {"name": "Ada"}}),
        ({"action": "decline"}, {"action": "decline"}),
        ({"action": "shrug"}, {"action": "decline"}),
    ],
)
async def test_the_server_asks_the_user(answer: Line, outcome: Line, api: ApiServer, project: Path) -> None:
    api.play(CALL, "done")
    schema = {"type": "object", "properties": {"name": {"type": "string"}}}
    ask = {"jsonrpc": "2.0", "id": "q1", "method": "elicitation/create"}
    ask["params"] = {"message": "Who?", "requestedSchema": schema}  # type: ignore[assignment]
    async with running(options=ALLOWED) as client:
        await begun(client)
        client.say("go")
        call = await told(client, "tools/call")
        client.request("mcp_message", server_name="calc", message=ask)
        question = await client.asked("elicitation")
        expected = {"mcp_server_name": "calc", "message": "Who?", "mode": "form", "requested_schema": schema}
        assert question["request"] == {"subtype": "elicitation", **expected}
        client.answer(question, answer)
        back = await client.asked("mcp_message")
        assert back["request"]["message"] == {"jsonrpc": "2.0", "id": "q1", "result": outcome}
        client.answer(back, {})
        client.answer(call, answered(call, text("thanks")))
        await client.kind("result")
        assert await client.rest() == 0


async def test_without_a_client_there_is_a_reason(api: ApiServer, project: Path) -> None:
    """For that server only; and a project's file can't name one at all."""
    (project / ".mcp.json").write_text(json.dumps({"mcpServers": {"foreign": {"type": "sdk", "name": "foreign"}}}))
    api.play("hello")
    given: dict[str, Any] = {"mcp_config": (json.dumps({"mcpServers": {"calc": {"type": "sdk", "name": "calc"}}}),)}
    async with running("go", options=given, streaming=False) as client:
        assert await client.rest() == 0
    assert client.of("result")[0]["result"] == "hello"
    said = "\n".join(json.dumps(x) for x in client.of("system"))
    assert "MCP server calc: a server of type sdk lives in the program that drives agentcli" in said
    assert "MCP server foreign" in said
    assert "--mcp-config" in said
