"""Every failure that can be scripted, as the real SDK meets it."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import anthropic
import httpx2
import pytest

from tests.api import (
    ApiServer,
    Options,
    block,
    close,
    cut,
    error,
    error_event,
    event,
    garbage,
    http_date,
    pause,
    pings,
    reply,
    reset,
    server_tool_use,
    stall,
    text,
    tool_use,
)
from tests.api.conftest import Connect
from tests.api.samples import MODEL
from tests.api.web import cited, hit, search, search_fails

ASK: dict[str, Any] = {"model": MODEL, "max_tokens": 100, "messages": [{"role": "user", "content": "hi"}]}


async def stream(client: anthropic.AsyncAnthropic) -> list[Any]:
    """All raw events of a streamed answer."""
    return [e async for e in await client.messages.create(**ASK, stream=True)]


@pytest.mark.parametrize(
    ("status", "expected", "kind"),
    [
        (400, anthropic.BadRequestError, "invalid_request_error"),
        (401, anthropic.AuthenticationError, "authentication_error"),
        (403, anthropic.PermissionDeniedError, "permission_error"),
        (404, anthropic.NotFoundError, "not_found_error"),
        (408, anthropic.APIStatusError, "timeout_error"),
        (409, anthropic.ConflictError, "conflict_error"),
        (413, anthropic.APIStatusError, "request_too_large"),
        (429, anthropic.RateLimitError, "rate_limit_error"),
        (500, anthropic.InternalServerError, "api_error"),
        (502, anthropic.InternalServerError, "api_error"),
        (503, anthropic.InternalServerError, "api_error"),
        (504, anthropic.InternalServerError, "timeout_error"),
        (529, anthropic.InternalServerError, "overloaded_error"),
    ],
)
async def test_statuses(connect: Connect, status: int, expected: type[anthropic.APIStatusError], kind: str) -> None:
    async with ApiServer(error(status, "no")) as api:
        with pytest.raises(expected) as caught:
            await connect(api).messages.create(**ASK)
        assert (caught.value.status_code, caught.value.type) == (status, kind)
        assert caught.value.request_id == "req_000001"
        (request,) = api.requests
        assert (request.status, request.error, request.refused, request.cache) == (
            status,
            {"type": kind, "message": "no"},
            False,
            None,
        )


async def test_retry_headers(connect: Connect) -> None:
    async with ApiServer(
        error(429, retry_after=0),
        error(529, retry_after_ms=1),
        error(503, retry_after=http_date(0)),
        error(400, should_retry=True, retry_after_ms=1),
        error(503, should_retry=False),
    ) as api:
        with pytest.raises(anthropic.InternalServerError) as caught:
            await connect(api, max_retries=9).messages.create(**ASK)
        assert caught.value.response.headers["x-should-retry"] == "false"
        assert [r.status for r in api.requests] == [429, 529, 503, 400, 503]
        assert len({r.body for r in api.requests}) == 1


async def test_a_body_can_be_no_json(connect: Connect) -> None:
    async with ApiServer(error(502, body=b"<html>bad gateway</html>")) as api:
        with pytest.raises(anthropic.InternalServerError) as caught:
            await connect(api).messages.create(**ASK)
        assert caught.value.body == "<html>bad gateway</html>"


async def test_reset_before_the_answer(connect: Connect) -> None:
    async with ApiServer(reset()) as api:
        with pytest.raises(anthropic.APIConnectionError):
            await connect(api).messages.create(**ASK)
        assert [(r.status, r.finished) for r in api.requests] == [(0, False)]


@pytest.mark.parametrize("fault", [reset(), cut()])
async def test_a_connection_that_dies_in_the_middle(connect: Connect, fault: Any) -> None:
    async with ApiServer(reply(text("Hello wor", fault)), "whole") as api:
        client = connect(api)
        with pytest.raises(httpx2.HTTPError):
            await stream(client)
        (request,) = api.requests
        assert (request.status, request.finished, request.content) == (
            200,
            False,
            [{"type": "text", "text": "Hello wor"}],
        )
        assert [e.type for e in await stream(client)][-1] == "message_stop"


async def test_a_clean_end_without_message_stop(connect: Connect) -> None:
    async with ApiServer(reply(text("Hel", close()))) as api:
        assert [e.type for e in await stream(connect(api))] == [
            "message_start",
            "content_block_start",
            "content_block_delta",
        ]


async def test_message_stop_without_message_delta(connect: Connect) -> None:
    async with ApiServer(reply("Hello", omit=["message_delta"])) as api:
        assert [e.type for e in await stream(connect(api))] == [
            "message_start",
            "content_block_start",
            "content_block_delta",
            "content_block_stop",
            "message_stop",
        ]


async def test_an_error_event(connect: Connect) -> None:
    async with ApiServer(reply(text("Hel", error_event()))) as api:
        with pytest.raises(anthropic.APIStatusError) as caught:
            await stream(connect(api))
        assert (caught.value.status_code, caught.value.type) == (200, "overloaded_error")


async def test_silence_ends_with_the_clients_patience(connect: Connect) -> None:
    async with ApiServer(reply(text("Hel", stall()))) as api:
        with pytest.raises(httpx2.ReadTimeout):
            await stream(connect(api, timeout=httpx2.Timeout(20, read=0.2)))
        (request,) = await api.arrived(1, finished=True)
        assert (request.aborted, request.finished) == (True, False)


async def test_pings_only(connect: Connect) -> None:
    async with ApiServer(reply(text("Hel", pings()))) as api:
        task = asyncio.create_task(stream(connect(api, timeout=httpx2.Timeout(20, read=5))))
        await api.arrived(1)
        done, _ = await asyncio.wait({task}, timeout=0.2)
        assert not done
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        (request,) = await api.arrived(1, finished=True)
        assert request.aborted


async def test_garbage_in_the_stream(connect: Connect) -> None:
    async with ApiServer(reply(text("Hel", garbage()), text("lo"))) as api:
        response = await connect(api).messages.with_raw_response.create(**ASK, stream=True)
        raw = b"".join([chunk async for chunk in response.http_response.aiter_bytes()])
        assert b"\x00\xff<html>" in raw


async def test_an_event_and_a_block_of_tomorrow(connect: Connect) -> None:
    async with ApiServer(
        reply(event("brand_new", {"x": 1}), "Hello", block({"type": "brand_new_block", "x": 1}))
    ) as api:
        async with connect(api).messages.stream(**ASK) as answer:
            message = await answer.get_final_message()
        assert [b.type for b in message.content] == ["text", "brand_new_block"]


async def test_a_tool_input_that_is_cut_off(connect: Connect) -> None:
    cut_off = '{"file_path":"a","content":"# Part one'
    async with ApiServer(reply(tool_use("Write", raw=cut_off), stop_reason="max_tokens", chunk=7)) as api:
        events = await stream(connect(api))
        assert "".join(e.delta.partial_json for e in events if e.type == "content_block_delta") == cut_off
        assert [e.delta.stop_reason for e in events if e.type == "message_delta"] == ["max_tokens"]


async def test_a_call_without_input_has_no_delta(connect: Connect) -> None:
    async with ApiServer(reply(tool_use("Bash"))) as api:
        assert [e.type for e in await stream(connect(api))][1:3] == ["content_block_start", "content_block_stop"]


@pytest.mark.parametrize(
    "reason",
    ["end_turn", "tool_use", "max_tokens", "stop_sequence", "pause_turn", "refusal", "model_context_window_exceeded"],
)
async def test_stop_reasons(connect: Connect, reason: str) -> None:
    details = {"category": "cyber", "explanation": "no"} if reason == "refusal" else None
    sequence = "END" if reason == "stop_sequence" else None
    step = reply("Hello", stop_reason=reason, stop_sequence=sequence, stop_details=details)
    async with ApiServer(step) as api:
        async with connect(api).messages.stream(**ASK) as answer:
            message = await answer.get_final_message()
        assert (message.stop_reason, message.stop_sequence) == (reason, sequence)
        assert (message.stop_details is not None) == (reason == "refusal")


async def test_server_side_tools(connect: Connect) -> None:
    found = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}
    async with ApiServer(
        reply(server_tool_use("web_search", {"query": "x"}, id="srvtoolu_1"), block(found), "Found.")
    ) as api:
        async with connect(api).messages.stream(**ASK) as answer:
            message = await answer.get_final_message()
        kinds = ["server_tool_use", "web_search_tool_result", "text"]
        assert ([b.type for b in message.content], message.stop_reason) == (kinds, "end_turn")


async def test_a_search_with_citations_as_the_sdk_reads_it_and_as_it_goes_back(connect: Connect) -> None:
    news, blog = hit("News", "https://a.test/n", "2 days ago"), hit("Blog", "https://b.test/")
    failed = search_fails("y", "too_many_requests")
    async with ApiServer(reply(*search("x", news, blog), *failed, cited("It is so.", news, blog)), "Yes.") as api:
        client = connect(api)
        async with client.messages.stream(**ASK) as answer:
            message = await answer.get_final_message()
        assert message.usage.server_tool_use is not None
        assert message.usage.server_tool_use.web_search_requests == 1
        cites = message.content[-1].citations
        assert [(c.type, c.url, c.cited_text) for c in cites] == [
            ("web_search_result_location", "https://a.test/n", "It is so."),
            ("web_search_result_location", "https://b.test/", "It is so."),
        ]
        assert message.content[3].content.error_code == "too_many_requests"
        assert api.requests[0].cost == pytest.approx(api.requests[0].cache.cost + 0.01, abs=0.005)
        back = {"role": "assistant", "content": api.requests[0].content}
        more = {**ASK, "messages": [*ASK["messages"], back, {"role": "user", "content": "Sure?"}]}
        async with client.messages.stream(**more) as answer:
            await answer.get_final_message()
        api.assert_clean()


async def test_surrogates_travel_as_escapes(connect: Connect) -> None:
    async with ApiServer(reply(text("a\ud83d", "\ude00b"))) as api:
        deltas = [e.delta.text for e in await stream(connect(api)) if e.type == "content_block_delta"]
        assert deltas == ["a\ud83d", "\ude00b"]


async def test_time_passes_between_deltas(connect: Connect) -> None:
    async with ApiServer(reply(text("a", pause(0.05), "b"), gap=0.05)) as api:
        began = time.monotonic()
        await stream(connect(api))
        assert time.monotonic() - began >= 0.15


async def test_a_server_without_cache_fields(connect: Connect) -> None:
    async with ApiServer("Hello", "Hello") as api:
        api.options.cache_fields = False
        client = connect(api)
        usages = []
        for _ in range(2):
            message = await client.messages.create(**ASK, cache_control={"type": "ephemeral"})
            usages.append(message.usage.model_dump(exclude_none=True))
        assert usages == [{"input_tokens": 1, "output_tokens": 2}] * 2


async def test_a_local_server_takes_everything(connect: Connect) -> None:
    async with ApiServer("Hello", options=Options.local()) as api:
        unknown = {
            "foo": 1,
            "messages": [*ASK["messages"], {"role": "user", "content": [{"type": "text", "text": ""}]}],
        }
        events = [
            e
            async for e in await connect(api).messages.create(
                **{**ASK, "model": "qwen"}, stream=True, extra_body=unknown
            )
        ]
        usage = [e.usage.model_dump(exclude_none=True) for e in events if e.type == "message_delta"]
        assert usage == [{"output_tokens": 2}]


async def test_paths_can_be_missing(connect: Connect) -> None:
    async with ApiServer() as api:
        client = connect(api)
        assert (await client.models.retrieve(MODEL)).max_input_tokens == 1_000_000
        assert MODEL in [m.id async for m in client.models.list()]
        assert (await client.messages.count_tokens(model=MODEL, messages=ASK["messages"])).input_tokens == 1
        api.options.missing |= {"/v1/models", "/v1/messages/count_tokens"}
        with pytest.raises(anthropic.NotFoundError):
            await client.models.retrieve(MODEL)
        with pytest.raises(anthropic.NotFoundError):
            await client.messages.count_tokens(model=MODEL, messages=ASK["messages"])
        assert [r.path for r in api.all_requests] == [
            f"/v1/models/{MODEL}",
            "/v1/models",
            "/v1/messages/count_tokens",
            f"/v1/models/{MODEL}",
            "/v1/messages/count_tokens",
        ]
        assert api.requests == []
