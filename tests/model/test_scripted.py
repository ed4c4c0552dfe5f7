"""The scripted client streams what the API would stream."""

from __future__ import annotations

import pytest

from agentcli.conversation import ConversationCache, PromptPart, SystemPrompt
from agentcli.errors import StreamError
from agentcli.messages import Usage, user
from agentcli.model.scripted import Answer, ScriptedClient, call, say
from agentcli.ports.model import ApiEvent, AttemptFailed, CacheReport, ModelRequest


def request(*texts: str) -> ModelRequest:
    return ModelRequest(
        system=SystemPrompt((PromptPart("intro", "static", "You are agentcli." * 20),), "default"),
        tools=(),
        messages=tuple(user(t) for t in texts),
        model="claude-sonnet-5-5",
        conversation=ConversationCache(),
    )


async def collect(client: ScriptedClient, asked: ModelRequest) -> list:
    return [e async for e in client.stream(asked)]


async def test_text_and_call_come_as_small_deltas() -> None:
    client = ScriptedClient([say("Hello there, reader", call("Bash", command="ls"))], chunk=10)
    events = await collect(client, request("hi"))
    raw = [e.raw for e in events if isinstance(e, ApiEvent)]
    assert [r["type"] for r in raw] == [
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_delta",
        "content_block_stop",
        "content_block_start",
        "content_block_delta",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
    ]
    assert raw[5]["content_block"] == {"type": "tool_use", "id": "toolu_scripted_0001", "name": "Bash", "input": {}}
    assert "".join(r["delta"]["partial_json"] for r in raw[6:8]) == '{"command": "ls"}'
    assert raw[-2]["delta"]["stop_reason"] == "tool_use"
    assert isinstance(events[-1], CacheReport)


async def test_second_request_reads_what_the_first_wrote() -> None:
    client = ScriptedClient(["one", "two"])
    first = (await collect(client, request("a")))[-1]
    second = (await collect(client, request("a", "b")))[-1]
    assert first.usage.cache_read == 0
    assert second.usage.cache_read == first.usage.cache_write_5m == second.readable
    assert second.usage.cache_write_5m > 0
    assert client.ledger.total.requests == 2


async def test_a_function_answers_the_request_and_a_failed_attempt_is_followed_by_the_next_answer() -> None:
    async def later(asked: ModelRequest) -> str:
        return f"{len(asked.messages)} message"

    client = ScriptedClient([Answer(say("half").blocks, fail="connection lost"), later])
    events = await collect(client, request("a"))
    kinds = [e.raw["type"] if isinstance(e, ApiEvent) else type(e).__name__ for e in events]
    assert kinds.count("message_start") == 2
    assert kinds.index("AttemptFailed") < kinds.index("message_stop")
    assert AttemptFailed("connection lost") in events


async def test_an_empty_script_is_an_error_unless_there_is_another_answer() -> None:
    with pytest.raises(StreamError):
        await collect(ScriptedClient([]), request("a"))
    events = await collect(ScriptedClient([], otherwise=Answer(say("done").blocks, usage=Usage(1, 1))), request("a"))
    assert events[-1].usage == Usage(1, 1)
