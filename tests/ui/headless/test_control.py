"""Requests over the control channel: every one is answered, and what it asks for holds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.api import ApiServer, Gate, reply, text, tool_use
from tests.extend.worlds import agent, command, skill, write
from tests.ui.headless.client import GROWING, Client, normal, running, until

BASH = {"allowed_tools": ("Bash",)}


async def begun(client: Client, **fields: Any) -> dict[str, Any]:
    """``initialize`` and its answer."""
    return await client.response(client.request("initialize", **fields))


async def test_initialize(api: ApiServer, project: Path, golden) -> None:
    async with running() as client:
        answer = await begun(client, hooks=None)
        assert await client.rest() == 0
    assert (client.lines[0]["type"], client.lines[0]["subtype"]) == ("system", "init")
    assert {"name": "compact", "description": "Replace the conversation by a summary of it"}.items() <= next(
        c for c in answer["response"]["commands"] if c["name"] == "compact"
    ).items()
    golden("initialize.jsonl", normal([answer], masked=("commands", *GROWING)))


async def test_initialize_shapes_the_session(api: ApiServer, project: Path) -> None:
    api.play('{"ok": true}')
    schema = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}
    async with running() as client:
        fields = {"systemPrompt": ["You count.", "Slowly."], "appendSystemPrompt": "In Latin.", "jsonSchema": schema}
        assert (await begun(client, **fields))["subtype"] == "success"
        client.say("go")
        assert (await client.kind("result"))["structured_output"] == {"ok": True}
        assert await client.rest() == 0
    words = "\n".join(b["text"] for b in api.requests[0].json["system"])
    assert "You count.\n\nSlowly." in words
    assert words.endswith("In Latin.")


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"systemPrompt": 7}, "systemPrompt"),
        ({"hooks": []}, "hooks"),
        ({"hooks": {"PreToolUse": {}}}, "PreToolUse"),
        ({"hooks": {"PreToolUse": [{"matcher": "(", "hookCallbackIds": ["a"]}]}}, "regular expression"),
        ({"jsonSchema": {"type": "nonsense"}}, "jsonSchema"),
        ({"agents": []}, "agents"),
        ({"agents": {"tester": {"description": "Tests"}}}, "tester"),
        ({"sdkMcpServers": "calc"}, "sdkMcpServers"),
    ],
)
async def test_a_bad_initialize_is_refused_with_one_result(
    fields: dict[str, Any], words: str, api: ApiServer, project: Path
) -> None:
    async with running() as client:
        answer = await begun(client, **fields)
        assert answer["subtype"] == "error"
        assert words in answer["error"]
        assert await client.rest() == 2
    assert [(x["is_error"], x["errors"]) for x in client.of("result")] == [(True, [answer["error"]])]


async def test_every_request_is_answered(api: ApiServer, project: Path) -> None:
    requests: list[tuple[str, dict[str, Any], str | None]] = [
        ("interrupt", {}, None),
        ("set_permission_mode", {"mode": "acceptEdits"}, None),
        ("set_permission_mode", {"mode": "manual"}, None),
        ("set_permission_mode", {"mode": "yolo"}, "yolo"),
        ("set_permission_mode", {}, "acceptEdits"),
        ("set_permission_mode", {"mode": "bypassPermissions"}, "bypassPermissions"),
        ("set_model", {"model": "haiku"}, None),
        ("set_model", {"model": None}, None),
        ("set_model", {"model": 7}, "null"),
        ("set_model", {"model": "two words"}, "two words"),
        ("set_max_thinking_tokens", {"max_thinking_tokens": 4096}, None),
        ("set_max_thinking_tokens", {"max_thinking_tokens": 0}, None),
        ("set_max_thinking_tokens", {"max_thinking_tokens": None}, None),
        ("set_max_thinking_tokens", {"max_thinking_tokens": -1}, "tokens"),
        ("set_max_thinking_tokens", {"max_thinking_tokens": True}, "tokens"),
        ("apply_flag_settings", {"settings": {"model": "haiku", "effortLevel": "low"}}, None),
        ("apply_flag_settings", {"settings": {"permissions": {"defaultMode": "plan"}}}, None),
        ("apply_flag_settings", {"settings": {"effortLevel": "enormous"}}, "enormous"),
        ("apply_flag_settings", {"settings": {"hooks": {}}}, "hooks"),
        ("apply_flag_settings", {}, "settings"),
        ("mcp_status", {}, None),
        ("mcp_toggle", {"serverName": "x", "enabled": True}, "'x'"),
        ("mcp_reconnect", {"serverName": "x"}, "'x'"),
        ("rewind_files", {"user_message_id": "u"}, "no checkpoint of a user message 'u'"),
        ("rewind_files", {}, "user_message_id"),
        ("seed_read_state", {"path": "missing", "mtime": 1}, "is no file"),
        ("seed_read_state", {"path": "missing"}, "mtime"),
        ("rename_session", {"title": "A title"}, None),
        ("rename_session", {"title": " "}, "title"),
        ("rename_session", {"title": "A title", "session_id": "another"}, "another"),
        ("reload_skills", {}, None),
        ("reload_output_styles", {}, None),
        ("cancel_async_message", {"message_uuid": "u"}, None),
        ("cancel_async_message", {}, "message_uuid"),
        ("stop_task", {"task_id": "nothing"}, "nothing"),
        ("stop_task", {}, "task_id"),
        ("initialize", {}, "first"),
        ("can_use_tool", {}, "agentcli"),
        ("hook_callback", {}, "agentcli"),
        ("elicitation", {}, "agentcli"),
        ("mcp_message", {}, "server_name"),
        ("mcp_message", {"server_name": "x", "message": {}}, "'x'"),
        ("no_such_thing", {}, "no_such_thing"),
        ("", {}, "subtype"),
    ]
    async with running() as client:
        await begun(client)
        for subtype, fields, words in requests:
            answer = await client.response(client.request(subtype, **fields))
            if words is None:
                assert answer["subtype"] == "success", (subtype, fields, answer)
            else:
                assert answer["subtype"] == "error", (subtype, fields, answer)
                assert words in answer["error"]
        assert await client.rest() == 0


async def test_context_usage_before_and_after_a_turn(api: ApiServer, project: Path) -> None:
    (project / "CLAUDE.md").write_text("Use tabs.\n")
    api.play("an answer")
    async with running() as client:
        await begun(client)
        first = (await client.response(client.request("get_context_usage")))["response"]
        client.say("go")
        await client.kind("result")
        second = (await client.response(client.request("get_context_usage")))["response"]
        assert await client.rest() == 0
    for usage, estimated in ((first, True), (second, False)):
        parts = {c["name"]: c for c in usage["categories"]}
        assert usage["estimated"]["total"] is estimated
        assert sum(c["tokens"] for c in parts.values() if c["kind"] == "used") == usage["totalTokens"]
        assert sum(c["tokens"] for c in parts.values()) == usage["rawMaxTokens"]
        assert 0 < usage["percentage"] < 100
        assert {s["name"] for s in usage["systemTools"]} >= {"Bash", "Read"}
        assert usage["systemPromptSections"]
        files = [(Path(f["path"]).name, f["type"]) for f in usage["memoryFiles"]]
        assert files == [("CLAUDE.md", "project")]
    exact = api.requests[0].cache
    assert second["totalTokens"] - exact.total in range(1, 20)


async def test_interrupt_ends_the_turn_with_one_result(api: ApiServer, project: Path) -> None:
    """Every finished call has its result, and the conversation goes on after it."""
    api.play(reply(text("I wait."), tool_use("Bash", {"command": "touch began; sleep 60"})), "going on")
    async with running(options=BASH) as client:
        await begun(client)
        client.say("wait", uuid="11111111-1111-4111-8111-111111111111")
        await client.kind("assistant")
        await until((project / "began").exists)
        client.say("and then", uuid="22222222-2222-4222-8222-222222222222")
        answer = await client.response(client.request("interrupt"))
        await client.until(lambda x: x["type"] == "result")
        await client.until(lambda x: x["type"] == "result")
        assert await client.rest() == 0
    assert answer["response"] == {"still_queued": ["22222222-2222-4222-8222-222222222222"]}
    results = client.of("result")
    assert [(r["subtype"], r["is_error"], r["user_message_uuid"][:4]) for r in results] == [
        ("error_during_execution", True, "1111"),
        ("success", False, "2222"),
    ]
    assert [x["message"]["content"][0]["is_error"] for x in client.of("user")] == [True]
    assert len(api.requests[1].tool_results) == 1


async def test_interrupt_right_behind_the_prompt(api: ApiServer, project: Path) -> None:
    """The interruption is of the turn that the prompt begins, even when both came at once."""
    api.always("never mind")
    async with running() as client:
        await begun(client)
        client.say("go")
        client.request("interrupt")
        result = await client.kind("result")
        assert await client.rest() == 1
    assert result["subtype"] == "error_during_execution"


async def test_model_and_thinking_wait_for_the_end_of_the_turn(api: ApiServer, project: Path) -> None:
    gate = Gate()
    api.play(reply("Hel", gate, "lo"), "second")
    async with running() as client:
        await begun(client)
        client.say("one")
        await api.arrived(1)
        answer = await client.response(client.request("set_model", model="haiku"))
        gate.open()
        await client.kind("result")
        client.say("two")
        await client.kind("result")
        assert await client.rest() == 0
    assert [r.json["model"] for r in api.requests] == ["claude-sonnet-5-5", answer["response"]["model"]]


async def test_a_background_command_is_stopped(api: ApiServer, project: Path) -> None:
    api.play(reply(tool_use("Bash", {"command": "sleep 50", "run_in_background": True})), "started")
    async with running(options=BASH) as client:
        await begun(client)
        client.say("go")
        started = await client.kind("system", "task_started")
        await client.kind("result")
        answer = await client.response(client.request("stop_task", task_id=started["task_id"]))
        assert answer["subtype"] == "success"
        assert await client.rest() == 0
    ended = client.of("system", "task_notification")
    assert [(x["task_id"], x["status"]) for x in ended] == [(started["task_id"], "stopped")]


async def test_the_first_line_lists_what_the_session_has(api: ApiServer, project: Path) -> None:
    skill(project, "tidy", description="Tidies up")
    command(project, "git/push", "---\ndescription: Push\nargument-hint: [remote]\n---\nPush.")
    agent(project, "checker", model="haiku")
    write(
        project / ".claude" / "output-styles" / "terse.md", "---\nname: terse\ndescription: Few words\n---\nBe terse."
    )
    server = {"mcpServers": {"tickets": {"command": "sleep", "args": ["60"]}}}
    settings = json.dumps({"outputStyle": "terse"})
    async with running(options={"mcp_config": (json.dumps(server),), "settings": settings}) as client:
        answer = (await begun(client))["response"]
        assert await client.rest() == 0
    (init,) = client.of("system", "init")
    assert init["skills"] == ["tidy"]
    assert {"tidy", "git:push", "compact"} <= set(init["slash_commands"])
    assert {"checker", "general-purpose", "explore", "plan"} <= set(init["agents"])
    assert (init["output_style"], init["plugins"]) == ("terse", [])
    assert init["mcp_servers"] == [{"name": "tickets", "status": "pending"}]
    assert {"name": "checker", "description": "Does checker.", "model": "haiku"} in answer["agents"]
    assert {"terse", "default", "explanatory"} <= set(answer["available_output_styles"])
    assert answer["output_style"] == "terse"
    push = next(c for c in answer["commands"] if c["name"] == "git:push")
    assert push == {"name": "git:push", "description": "Push", "argumentHint": "[remote]", "aliases": []}
