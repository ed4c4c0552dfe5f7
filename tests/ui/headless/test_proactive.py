"""``-p --proactive``: ticks drive the run; whatever ends it, there is exactly one result."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.api import ApiServer, Gate, after, reply, tool_use
from tests.e2e.program import run
from tests.ui.headless.client import Client, running

LONG = "A long question about the code of this place. " * 100


@pytest.fixture(autouse=True)
def feature(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENTCLI_FEATURE_PROACTIVE", "1")


def options(**budget: float) -> dict[str, Any]:
    settings = json.dumps({"proactive": {"idle": 0.01, **budget}})
    return {"proactive": True, "settings": settings, "permission_mode": "bypassPermissions", "allow_bypass": True}


def touch(name: str) -> Any:
    return tool_use("Bash", {"command": f"touch {name}"})


SLEEP = tool_use("Sleep", {"seconds": 0.01})


async def only_result(client: Client, code: int) -> dict[str, Any]:
    assert await client.rest() == code
    (result,) = client.of("result")
    assert client.lines[-1] is result
    return result


async def test_ticks_drive_it_until_nothing_is_left_to_do(
    api: ApiServer, project: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    work = [reply(touch("a")), "Made a."], [reply(touch("b")), "Made b."]
    api.play(*work[0], *work[1], "Nothing new.", reply(SLEEP), "Slept.", "Still nothing.")
    async with running("make a and b", streaming=False, options=options()) as client:
        result = await only_result(client, 0)
    assert (project / "a").exists()
    assert (project / "b").exists()
    assert (result["subtype"], result["result"], result["num_turns"]) == ("success", "Still nothing.", 8)
    told = [r.last_text for r in api.requests if "(tick)" in r.last_text]
    assert len(told) == 4
    assert "3 ticks in a row had nothing to do" in capfd.readouterr().err


async def test_without_a_prompt_it_begins_with_a_tick(api: ApiServer, project: Path) -> None:
    api.play("Hello.", "Quiet.", "Quiet.", "Bye.")
    async with running("", streaming=False, options=options()) as client:
        result = await only_result(client, 0)
    assert "(tick) Nothing is running." in api.requests[0].last_text
    assert result["result"] == "Bye."


async def test_a_budget_of_tokens_ends_it_between_turns_and_in_one(api: ApiServer, project: Path) -> None:
    api.play("Done.")
    async with running(LONG, streaming=False, options=options(tokens=100)) as client:
        result = await only_result(client, 0)
    assert (result["result"], len(api.requests)) == ("Done.", 1)
    api.play(reply(touch("a")))
    async with running(LONG, streaming=False, options=options(tokens=100)) as client:
        result = await only_result(client, 3)
    assert result["errors"] == ["Stopped: 100 tokens are used."]
    assert len(api.requests) == 2


async def test_no_sleep_is_longer_than_the_time_it_has(api: ApiServer, project: Path) -> None:
    api.play(reply(tool_use("Sleep", {"seconds": 3600})))
    async with running("rest", streaming=False, options=options(seconds=0.5)) as client:
        result = await only_result(client, 3)
    assert result["errors"] == ["Stopped: 0.5 s are over."]


async def test_max_turns_bounds_all_of_it_together(api: ApiServer, project: Path) -> None:
    api.play(reply(touch("a")), "Made.", reply(touch("b")), "never")
    async with running("go", streaming=False, options={**options(), "max_turns": 3}) as client:
        result = await only_result(client, 3)
    assert (result["subtype"], result["num_turns"], len(api.requests)) == ("error_max_turns", 3, 3)


async def test_a_failing_turn_ends_it_with_its_error(api: ApiServer, project: Path) -> None:
    from tests.api import error

    api.play("Fine.", error(400))
    async with running("go", streaming=False, options=options()) as client:
        result = await only_result(client, 1)
    assert (result["subtype"], result["api_error_status"]) == ("error_during_execution", 400)


@pytest.mark.parametrize("where", ["between", "asleep", "answering"])
async def test_an_interruption_ends_it(api: ApiServer, project: Path, where: str) -> None:
    gate = Gate()
    answer = {
        "between": "Done.",
        "asleep": reply(tool_use("Sleep", {"seconds": 3000})),
        "answering": reply("Hel", gate, "lo"),
    }[where]
    api.play(answer)
    async with running("go", streaming=False, partial=True, options=options(idle=3000)) as client:
        first = "content_block_delta" if where == "answering" else "message_stop"
        await client.until(lambda x: x["type"] == "stream_event" and x["event"]["type"] == first)
        os.kill(os.getpid(), signal.SIGINT)
        result = await only_result(client, 130)
        gate.open()
    assert len(api.requests) == 1
    assert result["is_error"] or where == "between"


async def test_with_lines_as_input_ticks_get_results_of_their_own(api: ApiServer, project: Path) -> None:
    gate = Gate()
    api.play("Hello.", "Looked.", after(gate, "Looked again."), *["Looked on."] * 50)
    async with running(options=options()) as client:
        client.say("hi", uuid="u1")
        first = await client.kind("result")
        second = await client.kind("result")
        client.end()
        gate.open()
        assert await client.rest() == 0
    assert (first["result"], first["user_message_uuid"], first.get("self_started")) == ("Hello.", "u1", None)
    assert (second["result"], second.get("user_message_uuid"), second["self_started"]) == ("Looked.", None, True)


def test_what_it_needs_and_what_it_can_t_be_used_with(api: ApiServer, project: Path) -> None:
    off = {"AGENTCLI_FEATURE_PROACTIVE": "0"}
    done = run("-p", "go", "--proactive", "--output-format", "json", cwd=project, env=off)
    assert done.code == 2
    assert done.json["errors"] == [
        "--proactive needs the feature PROACTIVE: AGENTCLI_FEATURE_PROACTIVE=1, or the setting features"
    ]
    schema = run("-p", "go", "--proactive", "--json-schema", '{"type": "object"}', cwd=project)
    assert schema.code == 2
    assert "can't be used together" in schema.err
    assert api.requests == []
