"""The engine with the real SDK on the strict server: what it sends is accepted, whatever happened before."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from agentcli.agent import Limits
from agentcli.agent.stops import CALL_CUT
from agentcli.conversation import PromptPart, SystemPrompt
from agentcli.events import AssistantMessage, AttemptDiscarded, TextDelta, ToolFinished, ToolStarted
from agentcli.messages import ImageBlock, Json, TextBlock, assistant
from agentcli.model.client import AnthropicClient
from agentcli.model.connection import Connection
from agentcli.model.options import ClientOptions
from agentcli.ports.display import TextDisplay
from agentcli.ports.frontend import UserInput
from agentcli.ports.prompt import Reminder
from agentcli.ports.tools import ToolResult
from agentcli.prompt.split import split_sys_prompt_prefix
from tests.agent.world import FakeTool, Prompt, World, make, result_texts, standard_tools
from tests.api import ApiServer, Gate, Request, close, error, reply, text, thinking, tool_use

MakeWorld = Callable[..., World]
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


@pytest.fixture
async def on_server(api: ApiServer) -> AsyncIterator[MakeWorld]:
    clients: list[AnthropicClient] = []

    def build(*steps: Any, **options: Any) -> World:
        api.play(*steps)
        connection = Connection("first_party", api.url, api_key=api.key, key_source="ANTHROPIC_API_KEY")
        client = AnthropicClient(connection, splitter=split_sys_prompt_prefix, options=ClientOptions(stall=30.0))
        clients.append(client)
        return make(client, **options)

    yield build
    for client in clients:
        await client.close()


def blocks(request: Request) -> list[str]:
    """All blocks of a request in order, without moved cache marks."""
    found = []
    for message in request.messages:
        for block in message["content"]:
            bare = {k: v for k, v in block.items() if k != "cache_control"}
            found.append(json.dumps([message["role"], bare]))
    return found


async def test_a_session_of_forty_steps_only_grows_and_loses_no_cached_token(
    api: ApiServer, on_server: MakeWorld
) -> None:
    steps: list[Any] = []
    for _ in range(4):
        steps += [reply(thinking("hm"), text("I look."), *(tool_use("Echo", {"text": "x" * 60}) for _ in range(3)))] * 9
        steps.append("Done.")
    long = SystemPrompt((PromptPart("identity", "identity", "You are agentcli. " * 200),), "default")
    world = on_server(*steps, prompt=Prompt(long))
    for number in range(4):
        world.told.due += [("first_message", Reminder("head", "head")), ("before_step", Reminder("n", f"n {number}"))]
        world.agent.steer(UserInput(f"by the way {number}"))
        assert (await world.turn(f"prompt {number}")).outcome == "completed"
    assert len(api.requests) == 40
    for before, after in zip(api.requests, api.requests[1:], strict=False):
        old, new = blocks(before), blocks(after)
        assert new[: len(old)] == old
        assert len(new) > len(old)
        assert (after.tools, after.system) == (before.tools, before.system)
    assert sum(r.cache.lost for r in api.requests if r.cache) == 0


async def test_after_an_interruption_the_server_takes_the_next_request(api: ApiServer, on_server: MakeWorld) -> None:
    gate = Gate()

    async def forever(input: Json) -> str:
        await asyncio.Event().wait()
        raise AssertionError("never")

    tools = standard_tools() | {"Hang": FakeTool("Hang", forever, "write")}
    world = on_server(
        reply(thinking("hm"), tool_use("Echo", {"text": "x"}), tool_use("Hang"), tool_use("Put")),
        reply(text("Half of an ans"), gate, text("wer")),
        "At last.",
        tools=tools,
    )
    turn = asyncio.create_task(world.turn("one"))
    await world.until(ToolStarted, 2)
    world.agent.interrupt()
    assert (await turn).outcome == "interrupted"
    turn = asyncio.create_task(world.turn("two"))
    await world.until(TextDelta)
    world.agent.interrupt()
    await turn
    gate.open()
    assert (await world.turn("three")).outcome == "completed"
    assert [m.role for m in world.state.messages] == ["user", "assistant", "user", "assistant", "user", "assistant"]
    assert world.state.messages[3] == assistant("Half of an ans")
    assert len(world.seen(ToolFinished)) == 3


async def test_a_dropped_stream_gives_one_whole_answer_and_one_run(api: ApiServer, on_server: MakeWorld) -> None:
    world = on_server(
        reply(text("Hello wor"), tool_use("Put", {"a": 1}), close()),
        reply(text("Hello world"), tool_use("Put", {"a": 1})),
        "Done.",
    )
    assert (await world.turn()).outcome == "completed"
    assert len(world.seen(AttemptDiscarded)) == 1
    assert len(world.seen(ToolStarted)) == 1
    assert [m.message.text() for m in world.seen(AssistantMessage)] == ["Hello world", "Done."]
    assert api.requests[0].body == api.requests[1].body


async def test_a_cut_call_is_not_run_and_the_server_takes_what_follows(api: ApiServer, on_server: MakeWorld) -> None:
    world = on_server(
        reply(tool_use("Echo", {"text": "a"}), tool_use("Put", {"content": "long"}), stop_reason="max_tokens"),
        "Smaller, then.",
    )
    assert (await world.turn()).outcome == "completed"
    results = result_texts(world.state.messages[2])
    assert [(t, failed) for _, t, failed in results] == [("echo a", False), (CALL_CUT, True)]


async def test_a_refused_image_is_replaced_and_the_conversation_goes_on(api: ApiServer, on_server: MakeWorld) -> None:
    api.refused_is_fine = True

    def show(input: Json) -> ToolResult:
        return ToolResult((TextBlock("a.png"), ImageBlock("image/png", PIXEL)), TextDisplay("image"))

    message = "messages.2.content.0.content.1.image.source.base64.data: image dimensions exceed max allowed size"
    world = on_server(
        reply(thinking("hm"), tool_use("Show")),
        error(400, message),
        "I can't see it.",
        "And now.",
        tools=standard_tools() | {"Show": FakeTool("Show", show)},
    )
    assert (await world.turn("show me")).outcome == "completed"
    assert (await world.turn("and now?")).outcome == "completed"
    assert [r.status for r in api.requests] == [200, 400, 200, 200]


async def test_a_compaction_reads_everything_that_had_been_sent(api: ApiServer, on_server: MakeWorld) -> None:
    world = on_server(
        reply(thinking("hm"), text("I look."), tool_use("Echo", {"text": "x" * 20_000})),
        "I saw it.",
        "## Requests\nlook",
        "Further.",
        limits=Limits(),
    )
    await world.turn("look")
    compacted = await world.agent.compact()
    assert compacted is not None
    assert (await world.turn("next")).outcome == "completed"
    summary, before = api.requests[2], api.requests[1]
    assert blocks(summary)[: len(blocks(before))] == blocks(before)
    assert summary.cache is not None
    assert summary.cache.lost == 0
    assert len(api.requests[3].messages) == 1
