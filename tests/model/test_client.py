"""The client on the wire: the real SDK against a strict server."""

from __future__ import annotations

import asyncio

import pytest

from agentcli.messages import assistant, user
from agentcli.ports.model import ApiEvent
from tests.api import ApiServer, Gate, after, reply, stall, text, tool_use
from tests.model.conftest import MakeClient
from tests.model.worlds import ask, collect, report


async def test_an_answer_streams_through_untouched(api: ApiServer, make_client: MakeClient) -> None:
    api.play(reply(text("Hello wor", "ld"), tool_use("Read", {"path": "a"})))
    events = await collect(make_client().stream(ask()))
    raw = [e.raw for e in events if isinstance(e, ApiEvent)]
    assert [r["delta"]["text"] for r in raw if r.get("delta", {}).get("type") == "text_delta"] == ["Hello wor", "ld"]
    assert (raw[0]["type"], raw[-1]["type"]) == ("message_start", "message_stop")
    assert report(events).usage.total_input == api.requests[0].cache.total


async def test_the_second_request_reads_all_that_the_first_had_sent(api: ApiServer, make_client: MakeClient) -> None:
    api.play("one", "two")
    client = make_client()
    first = ask()
    await collect(client.stream(first))
    second = ask(*first.messages, assistant("one"), user("and now?"), conversation=first.conversation)
    seen = report(await collect(client.stream(second)))
    assert api.requests[1].cache.lost == 0
    assert (seen.cause, seen.readable) == ("", api.requests[1].cache.read)
    assert seen.cost == client.monitor.last.cost
    assert client.ledger.total.requests == 2


async def test_tokens_are_counted_by_the_server(api: ApiServer, make_client: MakeClient) -> None:
    api.play("one")
    client = make_client()
    asked = ask()
    counted = await client.count(asked)
    assert counted == report(await collect(client.stream(asked))).usage.total_input
    api.options.missing.add("/v1/messages/count_tokens")
    api.refused_is_fine = True
    assert await client.count(asked) is None


async def test_a_model_without_catalog_row_gets_its_windows_from_the_server(
    api: ApiServer, make_client: MakeClient
) -> None:
    client = make_client()
    info = await client.refresh_model("claude-opus-4-5")
    assert (info.window, info.max_output, info.name) == (200_000, 64_000, "Claude Opus 4.5")
    api.refused_is_fine = True
    assert await client.refresh_model("qwen") == client.info("qwen")


async def test_closing_the_stream_closes_the_connection_at_once(api: ApiServer, make_client: MakeClient) -> None:
    api.play(reply("Hello", stall()))
    events = make_client().stream(ask())
    async for event in events:
        if isinstance(event, ApiEvent) and event.raw["type"] == "content_block_delta":
            break
    await events.aclose()
    (request,) = await api.arrived(1, finished=True)
    assert request.aborted


async def test_cancelling_while_waiting_for_the_answer_leaves_nothing_open(
    api: ApiServer, make_client: MakeClient
) -> None:
    gate = Gate()
    api.play(after(gate, "late"))
    task = asyncio.create_task(collect(make_client().stream(ask())))
    await asyncio.to_thread(gate.wait_reached)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    (request,) = await api.arrived(1, finished=True)
    assert request.aborted


async def test_prewarming_writes_tools_and_system(api: ApiServer, make_client: MakeClient) -> None:
    api.play("", "one")
    client = make_client()
    asked = ask(model="claude-sonnet-5", max_tokens=100)
    warmed = await client.prewarm(asked)
    assert warmed is not None
    await collect(client.stream(asked))
    assert api.requests[1].cache.read == warmed.cache_write > 1_000
    assert await client.prewarm(ask(model="claude-opus-5-5")) is None


async def test_a_server_without_cache_fields_works(api: ApiServer, make_client: MakeClient) -> None:
    api.options.cache_fields = False
    api.options.any_model = True
    api.play("one", "two")
    client = make_client(provider="gateway")
    first = ask(model="qwen2.5-coder")
    await collect(client.stream(first))
    again = ask(*first.messages, assistant("one"), user("more"), model="qwen2.5-coder")
    seen = report(await collect(client.stream(again)))
    assert (seen.cost, seen.cause, seen.alert) == (None, "", False)
    assert api.requests[0].json.get("thinking") is None


async def test_a_preview_is_what_will_be_sent_and_decides_nothing(api: ApiServer, make_client: MakeClient) -> None:
    api.play("one")
    client = make_client()
    asked = ask()
    shown = client.preview(asked)
    assert (asked.conversation.choices, asked.conversation.beta_headers) == ({}, [])
    await collect(client.stream(asked))
    assert api.requests[0].body == shown.data
