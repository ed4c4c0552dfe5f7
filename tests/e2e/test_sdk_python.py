"""A public Python client of the stream-json protocol drives the whole program as its command line."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp.types import ToolAnnotations

from tests.api import ApiServer, Gate, reply, text, thinking, tool_use

sdk = pytest.importorskip("claude_agent_sdk", reason="the client library is not installed (extra dev)")
CLI = Path(sys.executable).with_name("agentcli")
SECONDS = 60
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": False}


def options(project: Path, **more: Any) -> Any:
    return sdk.ClaudeAgentOptions(cli_path=CLI, cwd=project, **more)


async def asked(prompt: Any, given: Any) -> list[Any]:
    """Every message of a one-shot query."""
    async with asyncio.timeout(SECONDS):
        return [message async for message in sdk.query(prompt=prompt, options=given)]


async def answered(client: Any) -> list[Any]:
    """The messages of a turn, its result last."""
    async with asyncio.timeout(SECONDS):
        return [message async for message in client.receive_response()]


def texts(messages: list[Any]) -> list[str]:
    spoken = [m for m in messages if isinstance(m, sdk.AssistantMessage)]
    return [b.text for m in spoken for b in m.content if isinstance(b, sdk.TextBlock)]


async def test_one_question(api: ApiServer, project: Path) -> None:
    """Thinking, a tool, partial messages; the default system prompt option sends no empty block."""
    (project / "a.txt").write_text("hello\n")
    api.play(reply(thinking("hm"), text("I look."), tool_use("Read", {"file_path": "a.txt"})), "It says hello.")
    heard: list[str] = []
    given = options(project, include_partial_messages=True, allowed_tools=["Read"], max_turns=3, stderr=heard.append)
    messages = await asked("what does it say?", given)
    kinds = [type(m).__name__ for m in messages if not isinstance(m, sdk.StreamEvent)]
    assert kinds == ["SystemMessage", "AssistantMessage", "UserMessage", "AssistantMessage", "ResultMessage"]
    assert texts(messages) == ["I look.", "It says hello."]
    deltas = [m.event for m in messages if isinstance(m, sdk.StreamEvent)]
    shown = "".join(e["delta"].get("text", "") for e in deltas if e["type"] == "content_block_delta")
    assert shown == "I look.It says hello."
    result = messages[-1]
    assert (result.subtype, result.is_error, result.num_turns, result.result) == ("success", False, 2, "It says hello.")
    assert result.usage["output_tokens"] > 0
    assert heard == []
    assert all(block["text"] for r in api.requests for block in r.json["system"])


async def test_a_conversation(api: ApiServer, project: Path) -> None:
    """Several turns of one process: permission callbacks, an interruption, context, mode and model."""
    answers = {
        "touch one": sdk.PermissionResultAllow,
        "touch two": lambda: sdk.PermissionResultDeny(message="not two"),
        "touch three": lambda: sdk.PermissionResultAllow(updated_input={"command": "touch four"}),
    }
    questions: list[tuple[str, str]] = []

    async def may(name: str, given: dict[str, Any], context: Any) -> Any:
        questions.append((name, given["command"]))
        return answers[given["command"]]()

    agents = {"tester": sdk.AgentDefinition(description="Runs tests", prompt="You run tests.", tools=["Bash"])}
    async with sdk.ClaudeSDKClient(options(project, can_use_tool=may, agents=agents)) as client:
        info = await client.get_server_info()
        assert {"name": "tester", "description": "Runs tests"}.items() <= info["agents"][-1].items()
        assert {c["name"] for c in info["commands"]} >= {"compact", "context"}
        api.play(reply(*(tool_use("Bash", {"command": c}) for c in answers)), "made")
        await client.query("make files")
        first = await answered(client)
        assert questions == [("Bash", c) for c in answers]
        assert sorted(p.name for p in project.iterdir()) == ["four", "one"]
        assert [d["tool_input"]["command"] for d in first[-1].permission_denials] == ["touch two"]
        assert "not two" in json.dumps(api.requests[1].tool_results)

        gate = Gate()
        api.play(reply("I begin", gate, "and never end"))
        await client.query("take long")
        await api.arrived(3)
        await asyncio.to_thread(gate.wait_reached)
        await client.interrupt()
        second = await answered(client)
        gate.open()
        assert second[-1].is_error

        usage = await client.get_context_usage()
        assert sum(c["tokens"] for c in usage["categories"]) == usage["rawMaxTokens"]
        await client.set_permission_mode("acceptEdits")
        await client.set_model("haiku")
        with pytest.raises(Exception, match="two words"):
            await client.set_model("two words")
        assert await client.get_mcp_status() == {"mcpServers": []}
        api.play("third")
        await client.query("go on")
        third = await answered(client)
    assert third[-1].result == "third"
    assert "haiku" in api.requests[-1].json["model"]
    assert len({m.session_id for m in (first[-1], second[-1], third[-1])}) == 1


async def test_an_answer_as_data_and_a_resumed_session(api: ApiServer, project: Path) -> None:
    api.play('{"n": "one"}', '{"n": 1}')
    schema = {"type": "json_schema", "schema": SCHEMA}
    result = (await asked("count", options(project, output_format=schema)))[-1]
    assert (result.structured_output, result.num_turns) == ({"n": 1}, 2)
    api.play("I remember.")
    resumed = await asked("and now?", options(project, resume=result.session_id, setting_sources=[], model="haiku"))
    assert (resumed[-1].session_id, resumed[-1].result) == (result.session_id, "I remember.")
    sent = [m["role"] for m in api.requests[-1].messages]
    assert sent == ["user", "assistant", "user", "assistant", "user"]


async def test_hooks(api: ApiServer, project: Path) -> None:
    seen: list[tuple[str, str]] = []

    async def guard(given: dict[str, Any], tool_use_id: str | None, context: Any) -> dict[str, Any]:
        seen.append((given["hook_event_name"], given["tool_input"]["command"]))
        denial = {"permissionDecision": "deny", "permissionDecisionReason": "guarded"}
        return {"hookSpecificOutput": {"hookEventName": "PreToolUse", **denial}}

    api.play(reply(tool_use("Bash", {"command": "touch made"})), "I see.")
    hooks = {"PreToolUse": [sdk.HookMatcher(matcher="Bash", hooks=[guard])]}
    messages = await asked("make it", options(project, hooks=hooks, permission_mode="bypassPermissions"))
    assert seen == [("PreToolUse", "touch made")]
    assert not (project / "made").exists()
    assert texts(messages) == ["I see."]


async def test_files_are_taken_back(api: ApiServer, project: Path) -> None:
    """By the name of a message that the client has heard in the echo of its prompt."""
    echo = {"replay-user-messages": None}
    given = options(project, enable_file_checkpointing=True, permission_mode="acceptEdits", extra_args=echo)
    async with sdk.ClaudeSDKClient(given) as client:
        api.play(reply(tool_use("Write", {"file_path": "made", "content": "new"})), "done")
        await client.query("make it")
        heard = await answered(client)
        prompt = next(m for m in heard if isinstance(m, sdk.UserMessage) and m.content == "make it")
        assert (project / "made").exists()
        await client.rewind_files(prompt.uuid)
        assert not (project / "made").exists()
        with pytest.raises(Exception, match="no checkpoint"):
            await client.rewind_files("another")


async def test_an_error_becomes_an_exception(api: ApiServer, project: Path) -> None:
    api.always(reply(tool_use("Bash", {"command": "true"})))
    with pytest.raises(sdk.ClaudeSDKError, match="max-turns"):
        await asked("for ever", options(project, max_turns=1, allowed_tools=["Bash"]))


async def test_tools_of_the_client(api: ApiServer, project: Path) -> None:
    """An in-process MCP server of the client answers a call."""

    @sdk.tool("add", "Adds two numbers", {"a": int, "b": int})
    async def add(given: dict[str, Any]) -> dict[str, Any]:
        return {"content": [{"type": "text", "text": str(given["a"] + given["b"])}]}

    server = sdk.create_sdk_mcp_server("calc", tools=[add])
    given = options(project, mcp_servers={"calc": server}, allowed_tools=["mcp__calc__add"])
    api.play(reply(tool_use("mcp__calc__add", {"a": 1, "b": 2})), "three")
    messages = await asked("1 + 2", given)
    assert texts(messages) == ["three"]
    assert "3" in json.dumps(api.requests[1].tool_results)


async def test_what_tools_of_the_client_give_back(api: ApiServer, project: Path) -> None:
    """Errors, images and calls side by side; permission questions name the tool; the server is switched and seen."""
    hints = {"annotations": ToolAnnotations(readOnlyHint=True)}
    together = asyncio.Barrier(2)

    @sdk.tool("meet", "Waits for the other", {"n": int}, **hints)
    async def meet(given: dict[str, Any]) -> dict[str, Any]:
        async with asyncio.timeout(SECONDS):
            await together.wait()
        return {"content": [{"type": "text", "text": f"met {given['n']}"}]}

    @sdk.tool("draw", "Draws", {}, **hints)
    async def draw(given: dict[str, Any]) -> dict[str, Any]:
        return {"content": [{"type": "image", "data": PIXEL, "mimeType": "image/png"}]}

    @sdk.tool("fail", "Fails", {}, **hints)
    async def fail(given: dict[str, Any]) -> dict[str, Any]:
        return {"content": [{"type": "text", "text": "no luck"}], "is_error": True}

    @sdk.tool("crash", "Crashes", {}, **hints)
    async def crash(given: dict[str, Any]) -> dict[str, Any]:
        raise RuntimeError("out of order")

    questions: list[str] = []

    async def may(name: str, given: dict[str, Any], context: Any) -> Any:
        questions.append(name)
        return sdk.PermissionResultAllow()

    server = sdk.create_sdk_mcp_server("lab", version="2.1", tools=[meet, draw, fail, crash])
    given = options(project, mcp_servers={"lab": server}, can_use_tool=may)
    calls = [("meet", {"n": 1}), ("meet", {"n": 2}), ("draw", {}), ("fail", {}), ("crash", {})]
    async with sdk.ClaudeSDKClient(given) as client:
        api.play(reply(*(tool_use(f"mcp__lab__{name}", body) for name, body in calls)), "seen")
        await client.query("try them all")
        assert texts(await answered(client)) == ["seen"]
        found = api.requests[1].tool_results
        assert [block["content"][0]["type"] for block in found] == ["text", "text", "image", "text", "text"]
        assert [block.get("is_error", False) for block in found] == [False, False, False, True, True]
        for words in ("met 1", "met 2", "no luck", "out of order"):
            assert words in json.dumps(found)
        assert sorted(questions) == sorted(f"mcp__lab__{name}" for name, _ in calls)

        (status,) = (await client.get_mcp_status())["mcpServers"]
        assert (status["name"], status["status"]) == ("lab", "connected")
        assert status["serverInfo"] == {"name": "lab", "version": "2.1"}
        assert [t["name"] for t in status["tools"]] == ["meet", "draw", "fail", "crash"]
        await client.toggle_mcp_server("lab", False)
        assert [s["status"] for s in (await client.get_mcp_status())["mcpServers"]] == ["disabled"]
        await client.toggle_mcp_server("lab", True)
        await client.reconnect_mcp_server("lab")
        assert [s["status"] for s in (await client.get_mcp_status())["mcpServers"]] == ["connected"]
        with pytest.raises(Exception, match="There is no MCP server 'other'"):
            await client.reconnect_mcp_server("other")


async def test_a_turn_is_interrupted_in_a_tool_of_the_client(api: ApiServer, project: Path) -> None:
    """The tool hears of it, and the next turn works."""
    began, ended = asyncio.Event(), asyncio.Event()

    @sdk.tool("wait", "Waits for ever", {})
    async def wait(given: dict[str, Any]) -> dict[str, Any]:
        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return {"content": []}

    server = sdk.create_sdk_mcp_server("slow", tools=[wait])
    given = options(project, mcp_servers={"slow": server}, allowed_tools=["mcp__slow__wait"])
    async with sdk.ClaudeSDKClient(given) as client:
        api.play(reply(tool_use("mcp__slow__wait", {})), "next")
        await client.query("wait")
        async with asyncio.timeout(SECONDS):
            await began.wait()
            await client.interrupt()
            await ended.wait()
        assert (await answered(client))[-1].is_error
        await client.query("go on")
        assert texts(await answered(client)) == ["next"]
