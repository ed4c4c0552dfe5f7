"""Lines of standard input: prompts wait their turn, what can't be read has a result, the end ends the session."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from agentcli.messages import ImageBlock
from agentcli.ports.frontend import UserInput
from agentcli.ui.headless.inputs import (
    ControlAnswer,
    ControlCancel,
    ControlRequest,
    Other,
    Prompt,
    Unreadable,
    parse_line,
)
from agentcli.ui.headless.reader import LONGEST_INPUT, LineReader, Overlong
from tests.api import ApiServer, Gate, after, reply, tool_use
from tests.mcp.world import Servers
from tests.ui.headless.client import running, until

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


@pytest.mark.parametrize(
    ("line", "value"),
    [
        (b'{"type": "control_request", "request_id": "a", "request": {"subtype": "x", "n": 1}}',
         ControlRequest("a", "x", {"subtype": "x", "n": 1})),
        (b'{"type": "control_request"}', ControlRequest("", "", {})),
        (b'{"type": "control_request", "request_id": 7, "request": [1]}', ControlRequest("", "", {})),
        (b'{"type": "control_response", "response": {"subtype": "success", "request_id": "a", "response": {"b": 1}}}',
         ControlAnswer("a", {"b": 1})),
        (b'{"type": "control_response", "response": {"subtype": "error", "request_id": "a", "error": "no"}}',
         ControlAnswer("a", {}, "no")),
        (b'{"type": "control_response"}', Other("control_response")),
        (b'{"type": "control_cancel_request", "request_id": "a"}', ControlCancel("a")),
        (b'{"type": "keep_alive"}', Other("keep_alive")),
    ],
)  # fmt: skip
def test_lines_that_are_no_prompts(line: bytes, value: object) -> None:
    assert parse_line(line) == value


@pytest.mark.parametrize(
    "line",
    [
        b"", b"no json", b"[1]", b"7", b"{}", b'{"type": 7}', b"\xff\xfe", b"[" * 100_000, Overlong(),
        b'{"type": "user"}', b'{"type": "user", "message": "hi"}', b'{"type": "user", "message": {"role": "user"}}',
        b'{"type": "user", "message": {"role": "assistant", "content": "x"}}',
        b'{"type": "user", "message": {"content": "  "}}', b'{"type": "user", "message": {"content": []}}',
        b'{"type": "user", "message": {"content": [{"type": "text"}]}}',
        b'{"type": "user", "message": {"content": ["x"]}}',
        b'{"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": "t"}]}}',
    ],
)  # fmt: skip
def test_lines_that_can_not_be_read(line: bytes) -> None:
    assert isinstance(parse_line(line), Unreadable)


def test_prompts() -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}}
    words = [{"type": "text", "text": "what is"}, image, {"type": "text", "text": "this?"}]

    def found(content: Any, **more: Any) -> tuple[UserInput, str, bool]:
        import json

        line = {"type": "user", "message": {"role": "user", "content": content}, **more}
        prompt = parse_line(json.dumps(line).encode())
        assert isinstance(prompt, Prompt)
        assert prompt.raw == line
        return prompt.input, prompt.uuid, prompt.verbatim

    assert found("hi") == (UserInput("hi"), "", False)
    assert found("/x", uuid="u", client_composed=True) == (UserInput("/x"), "u", True)
    assert found(words) == (UserInput("what is\nthis?", (ImageBlock("image/png", PIXEL),)), "", False)


async def test_the_reader_keeps_lines_whole() -> None:
    read, write = os.pipe()
    reader = LineReader(read)
    await asyncio.to_thread(os.write, write, b"one\r\n\n  \ntw")
    assert await reader.next() == b"one"
    await asyncio.to_thread(os.write, write, b"o\nthree")
    os.close(write)
    assert [await reader.next() for _ in range(4)] == [b"two", b"three", None, None]
    os.close(read)


async def test_an_endless_line_costs_no_memory(tmp_path: Path) -> None:
    file = tmp_path / "lines"
    file.write_bytes(b"x" * (LONGEST_INPUT + 5) + b"\nshort\n")
    with file.open("rb") as opened:
        reader = LineReader(opened.fileno())
        assert isinstance(await reader.next(), Overlong)
        assert await reader.next() == b"short"
        assert await reader.next() is None


async def test_no_input_at_all() -> None:
    assert await LineReader(None).next() is None


async def test_prompts_that_come_meanwhile_have_a_turn_and_a_result_each(api: ApiServer, project: Path) -> None:
    gate = Gate()
    api.play(reply("fir", gate, "st"), "second", "third")
    async with running(replay=True) as client:
        client.say("one", uuid="u1")
        await api.arrived(1)
        client.say("two", uuid="u2")
        client.say([{"type": "text", "text": "three"}])
        client.end()
        gate.open()
        assert await client.rest() == 0
    assert [x["result"] for x in client.of("result")] == ["fir\nst", "second", "third"]
    assert [x.get("user_message_uuid") for x in client.of("result")] == ["u1", "u2", None]
    order = [x["type"] for x in client.lines if x["type"] in ("user", "assistant", "result")]
    assert order == ["user", "assistant", "result"] * 3
    echoes = client.of("user")
    assert [(x["isReplay"], x["message"]["content"]) for x in echoes[:2]] == [(True, "one"), (True, "two")]
    assert echoes[0]["uuid"] == "u1"
    assert {x["session_id"] for x in client.lines if "session_id" in x} == {client.lines[0]["session_id"]}
    assert [r.last_text.split("\n")[-1] for r in api.requests] == ["one", "two", "three"]


async def test_a_line_that_can_not_be_read_has_a_result_in_its_place(api: ApiServer, project: Path, capfd) -> None:
    api.play("first", "second")
    async with running() as client:
        client.say("one")
        client.send(b"{broken")
        client.send({"type": "user", "message": {"role": "user", "content": 7}, "uuid": "u2"})
        client.send({"type": "unheard_of"})
        client.say("two")
        assert await client.rest() == 0
    results = client.of("result")
    assert [x["is_error"] for x in results] == [False, True, True, False]
    assert [x.get("error_type") for x in results] == [None, "invalid_input", "invalid_input", None]
    assert results[2]["user_message_uuid"] == "u2"
    complaints = capfd.readouterr().err
    assert "not JSON" in complaints
    assert "unheard_of" in complaints


async def test_nothing_but_an_unreadable_line_is_an_error(api: ApiServer, project: Path) -> None:
    async with running() as client:
        client.send(b"hello")
        assert await client.rest() == 1
    assert [x["is_error"] for x in client.of("result")] == [True]


async def test_an_end_without_a_line(api: ApiServer, project: Path, capfd) -> None:
    async with running() as client:
        assert await client.rest() == 2
    assert [x["errors"] for x in client.of("result")] == [["no prompt: standard input ended before a line came"]]
    assert "no prompt" in capfd.readouterr().err


async def test_a_prompt_of_the_command_line_comes_first(api: ApiServer, project: Path) -> None:
    api.play("first", "second")
    async with running("one") as client:
        client.say("two")
        assert await client.rest() == 0
    assert [r.last_text.split("\n")[-1] for r in api.requests] == ["one", "two"]


async def test_slash_commands(api: ApiServer, project: Path) -> None:
    api.play("an answer", "taken as it is", "no command")
    async with running() as client:
        client.say("hello")
        client.say("/status")
        client.say("/mode nonsense")
        client.say("/status", client_composed=True)
        client.say("/usr/bin/env is missing")
        client.say("/exit")
        client.say("never")
        assert await client.rest() == 0
    results = client.of("result")
    assert [(x["subtype"], x["num_turns"]) for x in results] == [
        ("success", 1),
        ("success", 0),
        ("error_during_execution", 0),
        ("success", 1),
        ("success", 1),
        ("success", 0),
        ("error_during_execution", 0),
    ]
    assert client.of("system", "local_command_output")[0]["content"] == results[1]["result"]
    assert [r.last_text.split("\n")[-1] for r in api.requests] == ["hello", "/status", "/usr/bin/env is missing"]


async def test_states_for_clients_that_read_them(api: ApiServer, project: Path) -> None:
    api.play("one", "two")
    async with running(states=True) as client:
        client.say("a")
        client.say("b")
        assert await client.rest() == 0
    kinds = [x.get("state") or x["type"] for x in client.lines if x["type"] == "result" or x.get("state")]
    assert kinds == ["running", "result", "result", "idle"]


async def test_a_prompt_of_a_server_is_a_command(api: ApiServer, project: Path, tmp_path: Path) -> None:
    servers = Servers(tmp_path)
    said = {"messages": [{"role": "user", "content": {"type": "text", "text": "Please review."}}]}
    answers = {"prompts/list": {"prompts": [{"name": "review"}]}, "prompts/get": said}
    servers.add("docs", tools=[], capabilities={"tools": {}, "prompts": {}}, answers=answers)
    api.play("reviewed")
    async with running("/mcp__docs__review", options={"mcp_config": (servers.json,)}) as client:
        assert await client.rest() == 0
    assert "Please review." in api.requests[0].last_text


async def test_background_commands_end_with_the_session(api: ApiServer, project: Path) -> None:
    gate = Gate()
    command = {"command": "echo $$ > pid.new; mv pid.new pid; sleep 300", "run_in_background": True}
    api.play(reply(tool_use("Bash", command)), after(gate, reply("started")))
    async with running(options={"permission_mode": "bypassPermissions"}) as client:
        client.say("go")
        await until((project / "pid").exists)
        gate.open()
        assert await client.rest() == 0
    assert not Path(f"/proc/{(project / 'pid').read_text().strip()}").exists()
