"""``can_use_tool``: asked, answered, withdrawn; each question has one answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agentcli.errors import UsageError
from agentcli.ports.permissions import Answer, PermissionUpdate
from agentcli.ui.headless.approvals import read_answer, suggestion
from tests.api import ApiServer, reply, tool_use
from tests.ui.headless.client import Client, normal, running

TOUCH = tool_use("Bash", {"command": "touch made"}, id="toolu_touch")
ASKING = {"permission_prompts": True}


async def begun(client: Client) -> None:
    await client.response(client.request("initialize"))
    client.say("go")


async def test_allowed(api: ApiServer, project: Path, golden) -> None:
    api.play(reply(TOUCH), "done")
    async with running(**ASKING) as client:
        await begun(client)
        question = await client.asked("can_use_tool")
        assert not (project / "made").exists()
        client.answer(question, {"behavior": "allow", "updatedInput": question["request"]["input"]})
        client.answer(question, {"behavior": "deny", "message": "too late"})
        await client.kind("result")
        assert await client.rest() == 0
    assert (project / "made").exists()
    golden("question.jsonl", normal([question]))


async def test_denied_with_a_message(api: ApiServer, project: Path) -> None:
    api.play(reply(TOUCH), "I see.")
    async with running(**ASKING) as client:
        await begun(client)
        client.answer(await client.asked("can_use_tool"), {"behavior": "deny", "message": "not on a Monday"})
        result = await client.kind("result")
        assert await client.rest() == 0
    assert not (project / "made").exists()
    assert result["permission_denials"] == [
        {"tool_name": "Bash", "tool_use_id": "toolu_touch", "tool_input": {"command": "touch made"}}
    ]
    assert "not on a Monday" in json.dumps(api.requests[1].tool_results)


async def test_denied_with_an_interruption(api: ApiServer, project: Path) -> None:
    api.play(reply(TOUCH))
    async with running(**ASKING) as client:
        await begun(client)
        answer = {"behavior": "deny", "message": "stop", "interrupt": True}
        client.answer(await client.asked("can_use_tool"), answer)
        result = await client.kind("result")
        assert await client.rest() == 1
    assert (result["is_error"], result["terminal_reason"]) == (True, "aborted_streaming")
    assert len(api.requests) == 1


async def test_the_input_is_changed(api: ApiServer, project: Path) -> None:
    api.play(reply(TOUCH), "done")
    async with running(**ASKING) as client:
        await begun(client)
        changed = {"behavior": "allow", "updatedInput": {"command": "touch other"}}
        client.answer(await client.asked("can_use_tool"), changed)
        await client.kind("result")
        assert await client.rest() == 0
    assert [(project / n).exists() for n in ("made", "other")] == [False, True]


async def test_a_rule_that_comes_with_the_answer_holds(api: ApiServer, project: Path) -> None:
    again = tool_use("Bash", {"command": "touch again"})
    api.play(reply(TOUCH), reply(again), "done")
    async with running(**ASKING) as client:
        await begun(client)
        question = await client.asked("can_use_tool")
        rule = {"toolName": "Bash", "ruleContent": "touch:*"}
        update = {"type": "addRules", "rules": [rule], "behavior": "allow", "destination": "session"}
        client.answer(question, {"behavior": "allow", "updatedPermissions": [update]})
        await client.kind("result")
        assert await client.rest() == 0
    assert (project / "again").exists()
    assert len(client.of("control_request")) == 1


@pytest.mark.parametrize("body", [{}, {"behavior": "perhaps"}, {"behavior": "allow", "updatedInput": "x"}])
async def test_an_answer_that_is_none_denies(body: dict[str, Any], api: ApiServer, project: Path, capfd) -> None:
    api.play(reply(TOUCH), "done")
    async with running(**ASKING) as client:
        await begun(client)
        client.answer(await client.asked("can_use_tool"), body)
        assert len((await client.kind("result"))["permission_denials"]) == 1
        assert await client.rest() == 0
    assert not (project / "made").exists()
    assert "not understood" in capfd.readouterr().err


async def test_a_client_that_fails_denies(api: ApiServer, project: Path) -> None:
    api.play(reply(TOUCH), "done")
    async with running(**ASKING) as client:
        await begun(client)
        question = await client.asked("can_use_tool")
        body = {"subtype": "error", "request_id": question["request_id"], "error": "the callback raised"}
        client.send({"type": "control_response", "response": body})
        await client.kind("result")
        assert await client.rest() == 0
    assert "the callback raised" in json.dumps(api.requests[1].tool_results)


async def test_an_interruption_withdraws_the_question(api: ApiServer, project: Path) -> None:
    api.play(reply(TOUCH))
    async with running(**ASKING) as client:
        await begun(client)
        question = await client.asked("can_use_tool")
        client.request("interrupt")
        withdrawn = await client.kind("control_cancel_request")
        client.answer(question, {"behavior": "allow"})
        await client.kind("result")
        assert await client.rest() == 1
    assert withdrawn["request_id"] == question["request_id"]
    assert not (project / "made").exists()


async def test_the_end_of_the_input_denies_what_is_open_and_what_follows(api: ApiServer, project: Path) -> None:
    api.play(reply(TOUCH), reply(tool_use("Bash", {"command": "touch later"})), "done")
    async with running(**ASKING) as client:
        await begun(client)
        await client.asked("can_use_tool")
        assert await client.rest() == 0
    assert [(project / n).exists() for n in ("made", "later")] == [False, False]
    assert len(client.of("result")[0]["permission_denials"]) == 2


async def test_nobody_is_asked_without_the_option(api: ApiServer, project: Path) -> None:
    api.play(reply(TOUCH), "done")
    async with running() as client:
        await begun(client)
        await client.kind("result")
        assert await client.rest() == 0
    assert client.of("control_request") == []
    assert not (project / "made").exists()


def test_answers_of_the_protocol() -> None:
    updates = [
        {"type": "setMode", "mode": "acceptEdits", "destination": "session"},
        {"type": "addDirectories", "directories": ["/a"], "destination": "localSettings"},
        {"type": "removeRules", "rules": [{"toolName": "Read"}], "behavior": "deny", "destination": "userSettings"},
    ]
    assert read_answer({"behavior": "allow", "updatedInput": {"a": 1}, "updatedPermissions": updates}) == Answer(
        True,
        updated_input={"a": 1},
        updates=(
            PermissionUpdate("setMode", mode="acceptEdits"),
            PermissionUpdate("addDirectories", directories=("/a",), destination="localSettings"),
            PermissionUpdate("removeRules", ("Read",), behavior="deny", destination="userSettings"),
        ),
    )
    assert read_answer({"behavior": "deny"}) == Answer(False)


@pytest.mark.parametrize(
    "update",
    [
        7,
        {"type": "nothing"},
        {"type": "addRules", "behavior": "allow"},
        {"type": "addRules", "rules": [{}], "behavior": "allow"},
        {"type": "addRules", "rules": [], "behavior": "sometimes"},
        {"type": "addRules", "rules": [], "behavior": "allow", "destination": "moon"},
        {"type": "setMode", "mode": "yolo"},
        {"type": "addDirectories", "directories": "/a"},
    ],
)
def test_a_wrong_update_spoils_the_answer(update: object) -> None:
    with pytest.raises(UsageError):
        read_answer({"behavior": "allow", "updatedPermissions": [update]})


def test_suggestions_go_out_split() -> None:
    record = {
        "type": "addRules",
        "destination": "localSettings",
        "rules": ["Bash(git log:*)", "Read"],
        "behavior": "allow",
    }
    assert suggestion(record)["rules"] == [{"toolName": "Bash", "ruleContent": "git log:*"}, {"toolName": "Read"}]
