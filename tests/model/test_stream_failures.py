"""Answers that break off: each way is recognised, the attempt is void, and the same bytes are sent again."""

from __future__ import annotations

import pytest

from agentcli.errors import ApiError, StreamError
from agentcli.ports.model import ApiEvent, AttemptFailed, ModelEvent, RetryPlanned
from tests.api import (
    ApiServer,
    close,
    cut,
    error,
    error_event,
    event,
    garbage,
    pings,
    reply,
    reset,
    stall,
    text,
    tool_use,
)
from tests.model.clock import VirtualClock
from tests.model.conftest import MakeClient
from tests.model.worlds import ask, collect, report


def words(events: list[ModelEvent]) -> str:
    """The text of the attempt that counts: everything before the last ``AttemptFailed`` is void."""
    found = ""
    for e in events:
        if isinstance(e, AttemptFailed):
            found = ""
        elif isinstance(e, ApiEvent) and e.raw.get("delta", {}).get("type") == "text_delta":
            found += e.raw["delta"]["text"]
    return found


HALF = text("Hello wor")
CALL = ('{"path": "a', cut())
BROKEN = {
    "connection cut": (reply(HALF, tool_use("Write", raw=CALL)), "connection was lost"),
    "connection reset": (reply(HALF, reset()), "connection was lost"),
    "clean end without message_stop": (reply(HALF, close()), "no message_stop"),
    "silence": (reply(HALF, stall()), "no progress"),
    "pings only": (reply(HALF, pings()), "no progress"),
    "garbage": (reply(HALF, garbage()), "could not be understood"),
    "data that is not JSON": (reply(HALF, garbage(b"event: x\ndata: {nope\n\n")), "not JSON"),
    "an event without type": (reply(HALF, garbage(b'event: x\ndata: ["a"]\n\n')), "no type"),
    "message_stop without message_delta": (reply(HALF, omit=["message_delta"]), "no message_delta"),
    "a delta without a place": (reply(HALF, event("content_block_delta", {"index": None, "delta": {}})), "'index'"),
    "a delta that is none": (reply(HALF, event("content_block_delta", {"index": 0, "delta": None})), "'delta'"),
    "a block that is none": (
        reply(HALF, event("content_block_start", {"index": 1, "content_block": "x"})),
        "no usable",
    ),
    "no message_start": (reply(HALF, omit=["message_start"]), "began with"),
    "error event": (reply(HALF, error_event()), "Overloaded"),
}


@pytest.mark.parametrize("case", BROKEN)
async def test_a_broken_answer_is_thrown_away_and_asked_for_again(
    api: ApiServer, make_client: MakeClient, case: str
) -> None:
    step, reason = BROKEN[case]
    api.play(step, "Hello world.")
    events = await collect(make_client(stall=0.3).stream(ask()))
    failed = [e for e in events if isinstance(e, AttemptFailed)]
    planned = [e for e in events if isinstance(e, RetryPlanned)]
    begun = case != "no message_start"
    assert len(failed) == int(begun)
    assert reason in planned[0].message
    assert words(events) == "Hello world."
    assert [r.body for r in api.requests] == [api.requests[0].body] * 2
    assert report(events).usage.output == 4


async def test_an_unknown_event_passes_and_does_no_harm(api: ApiServer, make_client: MakeClient) -> None:
    api.play(reply("Hel", event("brand_new", {"index": 7}), "lo"))
    events = await collect(make_client().stream(ask()))
    assert words(events) == "Hello"
    assert not [e for e in events if isinstance(e, AttemptFailed)]


async def test_after_the_last_try_the_error_says_what_happened(
    api: ApiServer, make_client: MakeClient, clock: VirtualClock
) -> None:
    api.always(reply(HALF, cut()))
    client = make_client(env={})
    events: list[ModelEvent] = []
    with pytest.raises(StreamError, match="broke off after 11 attempts"):
        async for e in client.stream(ask()):
            events.append(e)
    assert len(api.requests) == 11 == 1 + len([e for e in events if isinstance(e, RetryPlanned)])
    assert isinstance(events[-1], AttemptFailed)
    assert len({r.body for r in api.requests}) == 1
    assert client.ledger.total.requests == 0


async def test_a_refusal_inside_the_stream_is_not_tried_again(api: ApiServer, make_client: MakeClient) -> None:
    api.play(reply(HALF, error_event("invalid_request_error", "bad things")))
    with pytest.raises(ApiError, match="bad things") as caught:
        await collect(make_client().stream(ask()))
    assert (caught.value.kind, caught.value.type) == ("invalid_request", "invalid_request_error")
    assert len(api.requests) == 1


async def test_pings_keep_a_slow_answer_alive_for_a_while(api: ApiServer, make_client: MakeClient) -> None:
    """A ping in time, then content: the answer counts although it took longer than the watchdog's time."""
    api.play(reply("Hel", gap=0.05, chunk=1))
    events = await collect(make_client(stall=0.3).stream(ask()))
    assert words(events) == "Hel"


async def test_a_page_in_place_of_a_stream_is_told_as_such(api: ApiServer, make_client: MakeClient) -> None:
    api.play(error(200, body=b"<html>log in</html>", headers={"content-type": "text/html"}))
    with pytest.raises(ApiError, match="text/html, not with an event stream"):
        await collect(make_client().stream(ask()))
    assert len(api.requests) == 1
