"""Which failures are tried again, when, and how often: seen on the wire, on a virtual clock."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from agentcli.errors import ApiError
from agentcli.messages import assistant, user
from agentcli.model.connection import Connection
from agentcli.model.retry import RetryPolicy, retry_after_seconds
from agentcli.ports.model import FallbackPlanned, ModelEvent, RetryPlanned
from tests.api import ApiServer, error, error_event, http_date, reply, reset
from tests.model.clock import VirtualClock
from tests.model.conftest import MakeClient
from tests.model.worlds import ask, collect, report

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


def planned(events: list[ModelEvent]) -> list[RetryPlanned]:
    return [e for e in events if isinstance(e, RetryPlanned)]


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 504, 529])
async def test_passing_failures_are_tried_again(api: ApiServer, make_client: MakeClient, status: int) -> None:
    api.play(error(status), "fine")
    events = await collect(make_client().stream(ask()))
    assert [(e.attempt, e.max_attempts, e.status) for e in planned(events)] == [(1, 10, status)]
    assert [r.body for r in api.requests] == [api.requests[0].body] * 2
    assert report(events).usage.output > 0


@pytest.mark.parametrize(
    ("status", "kind", "advice"),
    [
        (400, "invalid_request", "refused the request"),
        (401, "authentication", "Check the key (ANTHROPIC_API_KEY)"),
        (402, "billing", "balance"),
        (403, "permission", "permissions"),
        (404, "model_not_found", "/model"),
        (413, "prompt_too_long", "/compact"),
    ],
)
async def test_refusals_are_told_in_one_line_and_not_tried_again(
    api: ApiServer, make_client: MakeClient, status: int, kind: str, advice: str
) -> None:
    api.play(error(status, "because"))
    with pytest.raises(ApiError) as caught:
        await collect(make_client().stream(ask()))
    assert (caught.value.kind, caught.value.status, len(api.requests)) == (kind, status, 1)
    assert advice in str(caught.value)
    assert "because" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.request_id == "req_000001"


@pytest.mark.parametrize(
    "message",
    [
        "prompt is too long: 1200000 tokens > 1000000 maximum",
        "the request exceeds the available context size, try increasing it",
        "input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000",
    ],
)
async def test_a_prompt_that_is_too_long_has_its_own_kind(
    api: ApiServer, make_client: MakeClient, message: str
) -> None:
    api.play(error(400, message))
    with pytest.raises(ApiError) as caught:
        await collect(make_client().stream(ask()))
    assert caught.value.kind == "prompt_too_long"


async def test_the_servers_time_is_kept_and_hardly_exceeded(
    api: ApiServer, make_client: MakeClient, clock: VirtualClock
) -> None:
    api.play(error(429, retry_after=7), error(429, retry_after_ms=300, retry_after=http_date(60)), "fine")
    events = await collect(make_client().stream(ask()))
    assert 7 <= clock.slept[0] <= 7.35
    assert 0.3 <= clock.slept[1] <= 0.32
    assert [e.delay for e in planned(events)] == clock.slept


async def test_waits_grow_with_jitter_while_the_api_is_overloaded(
    api: ApiServer, make_client: MakeClient, clock: VirtualClock
) -> None:
    api.play(*[error(529)] * 6, "fine")
    events = await collect(make_client().stream(ask()))
    steps = [0.5, 1, 2, 4, 8, 16]
    assert all(0.75 * s <= waited <= s for s, waited in zip(steps, clock.slept, strict=True))
    assert len(api.requests) == 7 == 1 + len(planned(events))
    assert {e.error for e in planned(events)} == {"overloaded_error"}


async def test_tries_are_counted_once_and_end(api: ApiServer, make_client: MakeClient) -> None:
    api.always(error(503))
    with pytest.raises(ApiError, match=r"\(503\) after 4 attempts") as caught:
        await collect(make_client(retry=None, env={"CLAUDE_CODE_MAX_RETRIES": "3"}).stream(ask()))
    assert (len(api.requests), caught.value.attempts, caught.value.kind) == (4, 4, "server_error")


async def test_the_server_may_forbid_or_ask_for_a_retry(api: ApiServer, make_client: MakeClient) -> None:
    api.play(error(503, should_retry=False))
    with pytest.raises(ApiError):
        await collect(make_client().stream(ask()))
    assert len(api.requests) == 1
    api.play(error(400, "come back", should_retry=True), "fine")
    assert len(planned(await collect(make_client().stream(ask())))) == 1


async def test_a_day_is_not_slept_through(api: ApiServer, make_client: MakeClient, clock: VirtualClock) -> None:
    api.play(error(429, "quota", retry_after=86400))
    with pytest.raises(ApiError, match="asks to wait 24 h; agentcli waits at most 10 min") as caught:
        await collect(make_client().stream(ask()))
    assert (clock.slept, caught.value.retry_after, caught.value.kind) == ([], 86400, "rate_limit")


async def test_a_reset_connection_and_an_overload_in_mid_stream_are_tried_again(
    api: ApiServer, make_client: MakeClient
) -> None:
    api.play(reset(), reply("half", error_event()), "whole")
    events = await collect(make_client().stream(ask()))
    assert [e.error for e in planned(events)] == ["connection", "overloaded_error"]


async def test_nobody_listening_is_told_with_the_address(make_client: MakeClient, clock: VirtualClock) -> None:
    link = Connection("gateway", "http://127.0.0.1:1", api_key="k", key_source="ANTHROPIC_API_KEY")
    client = make_client(connection=link, retry=RetryPolicy(retries=2, random=random.Random(1)))
    with pytest.raises(ApiError, match=r"connection failed after 3 attempts.*http://127.0.0.1:1") as caught:
        await collect(client.stream(ask()))
    assert (caught.value.kind, len(clock.slept)) == ("connection", 2)


async def test_the_price_of_a_fallback_is_told(api: ApiServer, make_client: MakeClient) -> None:
    api.play("one", error(529), error(529), error(529), "two")
    client = make_client(fallback_models=("claude-haiku-5-5",))
    first = ask()
    await collect(client.stream(first))
    events = await collect(client.stream(replace(first, messages=(*first.messages, assistant("one"), user("go on")))))
    (fallback,) = [e for e in events if isinstance(e, FallbackPlanned)]
    assert fallback.uncached_tokens > 100
    assert fallback.cost is not None
    assert 0 < fallback.cost < 0.1


async def test_after_repeated_overload_the_fallback_model_answers_for_the_rest_of_the_turn(
    api: ApiServer, make_client: MakeClient
) -> None:
    api.play(error(529), error(529), error(529), "from the other", "again", "back")
    client = make_client(fallback_models=("claude-sonnet-5-5", "claude-haiku-5-5"))
    events = await collect(client.stream(ask()))
    assert [e for e in events if isinstance(e, FallbackPlanned)] == [
        FallbackPlanned("claude-haiku-5-5", "claude-sonnet-5-5", 0)
    ]
    await collect(client.stream(ask()))
    client.new_turn()
    await collect(client.stream(ask()))
    models = [r.model for r in api.requests]
    assert models == ["claude-sonnet-5-5"] * 3 + ["claude-haiku-5-5"] * 2 + ["claude-sonnet-5-5"]
    assert list(client.ledger.by_model()) == ["claude-haiku-5-5", "claude-sonnet-5-5"]


async def test_a_refused_key_is_asked_for_once_more(api: ApiServer, make_client: MakeClient) -> None:
    api.options.keys = {"fresh"}
    api.refused_is_fine = True
    old = Connection("gateway", api.url, api_key="stale", key_source="apiKeyHelper")

    async def refresh() -> Connection:
        return Connection("gateway", api.url, api_key="fresh", key_source="apiKeyHelper")

    api.play("fine")
    assert report(await collect(make_client(connection=old, refresh_key=refresh).stream(ask()))).usage.output > 0
    assert [r.status for r in api.requests] == [401, 200]


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after-ms": "300", "retry-after": "7"}, 0.3),
        ({"retry-after": "Mon, 30 Nov 2026 12:01:00 GMT"}, 60.0),
        ({"retry-after": "Mon, 30 Nov 2026 11:00:00 GMT"}, 0.0),
        ({"retry-after": "Mon, 30 Nov 2026 12:01:00 GMT", "date": "Mon, 30 Nov 2026 12:00:50 GMT"}, 10.0),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "99999999999999999999"}, 1e9),
        ({"retry-after-ms": "-1e300"}, 0.0),
        ({"retry-after": "nan"}, None),
    ],
)
def test_the_wait_that_headers_ask_for(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after_seconds(headers, NOW) == seconds


def test_the_number_of_retries_has_a_cap() -> None:
    assert RetryPolicy.from_env({"CLAUDE_CODE_MAX_RETRIES": "100"}).retries == 15
    assert RetryPolicy.from_env({"CLAUDE_CODE_MAX_RETRIES": "0"}).retries == 0
    assert RetryPolicy.from_env({}).retries == 10
    assert max(RetryPolicy(random=random.Random(1)).delay(n, None) for n in range(1, 16)) <= 32
