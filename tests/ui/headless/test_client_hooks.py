"""Hooks that the client holds: asked over the control channel, their answers obeyed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agentcli.ports.permissions import HookVerdict
from agentcli.ui.headless.hooks import Matcher, read_verdict
from tests.api import ApiServer, reply, tool_use
from tests.ui.headless.client import Client, normal, running

TOUCH = tool_use("Bash", {"command": "touch made"}, id="toolu_touch")


async def begun(client: Client, event: str, **matcher: Any) -> None:
    hooks = {event: [{"matcher": "Bash", "hookCallbackIds": ["hook_0"], **matcher}]}
    answer = await client.response(client.request("initialize", hooks=hooks))
    assert answer["subtype"] == "success"
    client.say("go")


async def test_a_hook_denies(api: ApiServer, project: Path, golden) -> None:
    api.play(reply(TOUCH), "I see.")
    async with running(options={"allowed_tools": ("Bash",)}) as client:
        await begun(client, "PreToolUse")
        question = await client.asked("hook_callback")
        own = {
            "hookEventName": "PreToolUse",
            "permissionDecision": "deny",
            "permissionDecisionReason": "never on Mondays",
        }
        client.answer(question, {"hookSpecificOutput": own})
        await client.kind("result")
        assert await client.rest() == 0
    assert not (project / "made").exists()
    assert "never on Mondays" in json.dumps(api.requests[1].tool_results)
    golden("hook.jsonl", normal([question], masked=("transcript_path",)))


async def test_a_hook_allows_and_changes_the_input(api: ApiServer, project: Path) -> None:
    api.play(reply(TOUCH), "done")
    async with running() as client:
        await begun(client, "PreToolUse")
        own = {"permissionDecision": "allow", "updatedInput": {"command": "touch other"}}
        client.answer(await client.asked("hook_callback"), {"hookSpecificOutput": own})
        await client.kind("result")
        assert await client.rest() == 0
    assert [(project / n).exists() for n in ("made", "other")] == [False, True]


async def test_a_stop_hook_makes_the_turn_go_on(api: ApiServer, project: Path) -> None:
    api.play("done", "really done")
    async with running() as client:
        await begun(client, "Stop", matcher=None)
        client.answer(await client.asked("hook_callback"), {"decision": "block", "reason": "run the tests"})
        second = await client.asked("hook_callback")
        client.answer(second, {})
        assert (await client.kind("result"))["result"] == "really done"
        assert await client.rest() == 0
    assert second["request"]["input"]["stop_hook_active"] is True
    assert "run the tests" in api.requests[1].last_text


@pytest.mark.parametrize(("failure", "made"), [("block", False), (None, True)])
async def test_a_hook_that_fails(failure: str | None, made: bool, api: ApiServer, project: Path) -> None:
    api.play(reply(TOUCH), "done")
    async with running(options={"allowed_tools": ("Bash",)}) as client:
        await begun(client, "PreToolUse", onFailure=failure)
        question = await client.asked("hook_callback")
        body = {"subtype": "error", "request_id": question["request_id"], "error": "it raised"}
        client.send({"type": "control_response", "response": body})
        await client.kind("result")
        assert await client.rest() == 0
    assert (project / "made").exists() is made


async def test_a_hook_that_does_not_answer_is_withdrawn(api: ApiServer, project: Path) -> None:
    api.play(reply(TOUCH), "done")
    async with running(options={"allowed_tools": ("Bash",)}) as client:
        await begun(client, "PreToolUse", timeout=0.05)
        question = await client.asked("hook_callback")
        withdrawn = await client.kind("control_cancel_request")
        await client.kind("result")
        assert await client.rest() == 0
    assert withdrawn["request_id"] == question["request_id"]
    assert (project / "made").exists()


async def test_a_stop_hook_that_always_objects_is_bounded(api: ApiServer, project: Path) -> None:
    api.always("done")
    async with running(options={"environment": {"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "2"}}) as client:
        await begun(client, "Stop", matcher=None)
        while True:
            line = await client.until(lambda x: x["type"] == "result" or ("request_id" in x and "request" in x))
            if line["type"] == "result":
                break
            client.answer(line, {"decision": "block", "reason": "once more"})
        assert await client.rest() == 1
    assert (line["subtype"], line["terminal_reason"]) == ("error_during_execution", "hook_stopped")
    assert len(api.requests) == 3


async def test_the_end_waits_for_no_hook(api: ApiServer, project: Path) -> None:
    api.play("done")
    async with running() as client:
        hooks = {name: [{"hookCallbackIds": ["hook_0"]}] for name in ("SessionEnd", "Stop")}
        await client.response(client.request("initialize", hooks=hooks))
        client.say("go")
        await client.asked("hook_callback")
        assert await client.rest() == 0
    assert [x["is_error"] for x in client.of("result")] == [False]


async def test_an_unknown_event_is_said(api: ApiServer, project: Path, capfd) -> None:
    api.play("done")
    async with running() as client:
        await begun(client, "FullMoon")
        await client.kind("result")
        assert await client.rest() == 0
    assert "FullMoon" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("pattern", "names"),
    [("", "Bash Read"), ("*", "Bash Read"), ("Bash", "Bash"), ("Bash|Edit", "Bash"), ("Ba.*", "Bash"), ("Bas", "")],
)
def test_matchers(pattern: str, names: str) -> None:
    assert [n for n in ("Bash", "Read") if Matcher(pattern, ()).matches(n)] == names.split()


def test_outputs_of_hooks() -> None:
    own = {"additionalContext": "it rains", "decision": {"behavior": "allow", "updatedInput": {"a": 1}}}
    body = {"continue": False, "stopReason": "enough", "systemMessage": "hello", "hookSpecificOutput": own}
    assert read_verdict(body) == HookVerdict(
        behavior="allow",
        updated_input={"a": 1},
        context=("it rains",),
        messages=("hello",),
        stop=True,
        stop_reason="enough",
    )
    assert read_verdict({"hookSpecificOutput": 7, "systemMessage": [], "decision": []}) == HookVerdict()
