"""The server as the real SDK sees it: answers, streams, records."""

from __future__ import annotations

import asyncio
import json
import os
from typing import Any

import pytest

from tests.api import ApiServer, Gate, after, reply, text, thinking, tool_use
from tests.api.conftest import Connect
from tests.api.samples import HEADERS, base, post

MODEL = "claude-opus-5-5"


def ask(*messages: Any, **more: Any) -> dict[str, Any]:
    return {
        "model": MODEL,
        "max_tokens": 100,
        "messages": list(messages) or [{"role": "user", "content": "hi"}],
        **more,
    }


async def test_a_stream_arrives_as_scripted(connect: Connect) -> None:
    async with ApiServer(
        reply(thinking("hm"), text("Hello wor", "ld"), tool_use("Read", {"file_path": "a"}, id="toolu_a"))
    ) as api:
        async with connect(api).messages.stream(**ask()) as stream:
            deltas = [e.text async for e in stream if e.type == "text"]
            message = await stream.get_final_message()
        assert deltas == ["Hello wor", "ld"]
        assert [b.type for b in message.content] == ["thinking", "text", "tool_use"]
        assert message.content[2].model_dump(exclude_none=True) == {
            "type": "tool_use",
            "id": "toolu_a",
            "name": "Read",
            "input": {"file_path": "a"},
        }
        assert message.stop_reason == "tool_use"
        (request,) = api.requests
        assert (request.status, request.finished, request.model, request.key) == (200, True, MODEL, "sk-test")
        assert request.last_text == "hi"


async def test_a_message_arrives_whole(connect: Connect) -> None:
    async with ApiServer("Hello") as api:
        message = await connect(api).messages.create(**ask())
        assert [b.model_dump(exclude_none=True) for b in message.content] == [{"type": "text", "text": "Hello"}]
        assert message.stop_reason == "end_turn"


async def test_an_answer_can_depend_on_the_request_and_wait_at_a_gate(connect: Connect) -> None:
    gate = Gate()
    async with ApiServer(after(gate, lambda r: f"you said {r.last_text}")) as api:
        task = asyncio.create_task(connect(api).messages.create(**ask()))
        await asyncio.to_thread(gate.wait_reached)
        assert not task.done()
        gate.open()
        assert (await task).content[0].text == "you said hi"


async def test_lanes_serve_conversations_of_their_own(connect: Connect) -> None:
    async with ApiServer("main") as api:
        api.lane("explore", "from the lane")
        sub = await connect(api).messages.create(**ask({"role": "user", "content": "please explore"}))
        main = await connect(api).messages.create(**ask())
        assert [m.content[0].text for m in (sub, main)] == ["from the lane", "main"]


async def test_a_script_that_is_over_refuses(connect: Connect) -> None:
    async with ApiServer() as api:
        with pytest.raises(Exception, match="no step left"):
            await connect(api).messages.create(**ask())
        assert [r.status for r in api.refused] == [400]


async def test_torn_streams_carry_the_same_text(connect: Connect) -> None:
    async with ApiServer(reply("Grüße \U0001f600 an alle")) as api:
        api.options.torn = 3
        async with connect(api).messages.stream(**ask()) as stream:
            assert await stream.get_final_text() == "Grüße \U0001f600 an alle"


async def test_requests_can_follow_at_once_on_one_connection() -> None:
    async with ApiServer() as api:
        api.always("ok")
        reader, writer = await asyncio.open_connection(*api.url.removeprefix("http://").split(":"))
        body = json.dumps(base()).encode()
        head = "".join(f"{k}: {v}\r\n" for k, v in HEADERS.items())
        one = f"POST /v1/messages HTTP/1.1\r\n{head}content-length: {len(body)}\r\n\r\n".encode() + body
        writer.write(one * 3)
        for _ in range(3):
            answered = (await reader.readuntil(b"\r\n\r\n")).decode()
            assert answered.startswith("HTTP/1.1 200")
            await reader.readexactly(int(answered.split("content-length: ")[1].split("\r\n")[0]))
        writer.close()
        assert [r.finished for r in api.requests] == [True] * 3


def test_the_fixture_points_the_environment_at_the_server(api: ApiServer) -> None:
    assert (os.environ["ANTHROPIC_BASE_URL"], os.environ["ANTHROPIC_API_KEY"]) == (api.url, api.key)
    api.play("ok")
    assert post(api, base())[0] == 200
    api.assert_clean()
    assert post(api, {**base(), "foo": 1})[0] == 400
    with pytest.raises(AssertionError, match="foo: Extra inputs are not permitted"):
        api.assert_clean()
    api.refused_is_fine = True


async def test_a_broken_answer_function_is_reported(connect: Connect) -> None:
    api = ApiServer(lambda r: 1 / 0).start()  # type: ignore[arg-type, return-value]
    with pytest.raises(Exception, match="onnection"):
        await connect(api).messages.create(**ask())
    with pytest.raises(ExceptionGroup):
        api.close()
