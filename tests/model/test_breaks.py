"""Cache breaks, made one by one on a server with a simulated cache: the right cause, price and label."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest

from agentcli.messages import ImageBlock, Message, ToolResultBlock, ToolUseBlock, assistant, user
from agentcli.model.client import AnthropicClient
from agentcli.model.monitor import Observation
from agentcli.ports.model import ModelRequest, ToolSpec
from tests.api import ApiServer
from tests.model.clock import VirtualClock
from tests.model.conftest import MakeClient
from tests.model.worlds import BASH, MEMORY, READ, STATIC, ask, collect, prompt

LONG = "A long question about the code. " * 300
MCP = ToolSpec("mcp__web__get", "Gets a page.", {"type": "object"}, mcp=True)
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def first() -> ModelRequest:
    return ask(user(LONG), assistant("Fine."), user(LONG + "And more."), tools=(READ, BASH))


def onwards(request: ModelRequest, **changes: Any) -> ModelRequest:
    """The next request of the conversation: the answer and a new question behind what was sent."""
    messages = changes.pop("messages", request.messages)
    return replace(request, messages=(*messages, assistant("one"), user("Next question.")), **changes)


def tail(request: ModelRequest, number: int, message: Message) -> tuple[Message, ...]:
    return (*request.messages[:number], message, *request.messages[number + 1 :])


@dataclass(frozen=True)
class Break:
    change: Callable[[ModelRequest], ModelRequest]
    cause: str
    expected: bool = False
    alert: bool = True


TABLE = {
    "tool added": Break(
        lambda r: onwards(r, tools=(READ, BASH, ToolSpec("Edit", "Edits.", {"type": "object"}))), "tool `Edit` added"
    ),
    "tool removed": Break(lambda r: onwards(r, tools=(READ,)), "tool `Bash` removed"),
    "tools reordered": Break(lambda r: onwards(r, tools=(BASH, READ)), "tools reordered"),
    "one byte of a tool": Break(
        lambda r: onwards(r, tools=(replace(READ, description="Reads a file!"), BASH)),
        "tool `Read` changed (+0 bytes at 42)",
    ),
    "tool of a server rendered in front": Break(
        lambda r: onwards(r, tools=(READ, BASH, MCP)), "tool `mcp__web__get` added", expected=True, alert=False
    ),
    "model": Break(
        lambda r: onwards(r, model="claude-opus-5-5"),
        "model changed (claude-sonnet-5-5 to claude-opus-5-5)",
        expected=True,
        alert=False,
    ),
    "effort": Break(lambda r: onwards(r, effort="low"), "effort changed (default to low)", expected=True, alert=False),
    "one byte of the static region": Break(
        lambda r: onwards(r, system=prompt(static="I" + STATIC[1:])), "section `intro` changed (+0 bytes at 0)"
    ),
    "a section grown": Break(
        lambda r: onwards(r, system=prompt(memory=MEMORY[:120] + "It has 14 byte" + MEMORY[120:])),
        "section `memory` changed (+14 bytes at 120)",
    ),
    "one byte of the last section": Break(
        lambda r: onwards(r, system=prompt(env="cwd: /q")), "section `env_info_simple` changed (+0 bytes at 6)"
    ),
    "thinking": Break(
        lambda r: onwards(r, thinking="off"),
        "thinking changed (adaptive to between_tools)",
        expected=True,
        alert=False,
    ),
    "tool choice": Break(lambda r: onwards(r, tool_choice="none"), "tool choice changed (auto to none)"),
    "first image": Break(
        lambda r: replace(r, messages=(*r.messages, assistant("one"), user("Look.", ImageBlock("image/png", PIXEL)))),
        "first image of the conversation",
        expected=True,
        alert=False,
    ),
    "one byte of an old message": Break(
        lambda r: onwards(r, messages=tail(r, 0, user("B" + LONG[1:]))), "history rewritten at message 1"
    ),
    "an old answer": Break(
        lambda r: onwards(r, messages=tail(r, 1, assistant("Fine!"))), "history rewritten at message 2"
    ),
    "compaction": Break(
        lambda r: replace(r, messages=(user("A summary."),), intent="compaction"),
        "history rewritten at message 1 by compaction",
        expected=True,
        alert=False,
    ),
    "rewind": Break(
        lambda r: replace(r, messages=r.messages[:1], intent="rewind"),
        "history cut back to message 1 by rewind",
        expected=True,
        alert=False,
    ),
}


async def observe(client: AnthropicClient, api: ApiServer, before: ModelRequest, after: ModelRequest) -> Observation:
    api.play("one", "two")
    await collect(client.stream(before))
    await collect(client.stream(after))
    seen = client.monitor.last
    assert seen is not None
    return seen


@pytest.mark.parametrize("case", TABLE)
async def test_each_change_is_named_priced_and_labelled(api: ApiServer, make_client: MakeClient, case: str) -> None:
    row = TABLE[case]
    before = first()
    seen = await observe(make_client(), api, before, row.change(before))
    told, figures = api.requests
    assert (seen.cause, seen.expected, seen.alert) == (row.cause, row.expected, row.alert)
    assert seen.before == told.cache.total
    assert seen.lost == told.cache.total - figures.cache.read > 0
    assert seen.usage.cache_read == figures.cache.read
    assert abs(seen.readable - figures.cache.read) <= 0.05 * seen.before
    price = 4 if case == "model" else 2
    again = min(seen.lost, figures.cache.written)
    assert seen.lost_cost == pytest.approx(again * 1.15 * price / 1e6)
    assert seen.cost == pytest.approx(figures.cache.cost + seen.usage.output * price * 5 / 1e6)


async def test_appending_loses_nothing(api: ApiServer, make_client: MakeClient) -> None:
    before = first()
    seen = await observe(make_client(), api, before, onwards(before))
    assert (seen.cause, seen.lost, seen.expected, seen.alert) == ("", 0, True, False)
    assert seen.readable == seen.before == api.requests[1].cache.read


async def test_a_pause_past_the_ttl_is_expected(api: ApiServer, make_client: MakeClient, clock: VirtualClock) -> None:
    before = first()
    client = make_client()
    api.play("one", "two")
    await collect(client.stream(before))
    for moving in (clock, api.clock):
        moving.advance(7 * 60)
    await collect(client.stream(onwards(before)))
    seen = client.monitor.last
    assert (seen.cause, seen.expected, seen.alert) == ("idle 7 min > TTL 5 min", True, False)
    assert seen.lost == api.requests[1].cache.lost == seen.before


async def test_an_hour_of_cache_survives_a_pause(api: ApiServer, make_client: MakeClient, clock: VirtualClock) -> None:
    before = first()
    client = make_client(env={"ENABLE_PROMPT_CACHING_1H": "1"})
    api.play("one", "two")
    await collect(client.stream(before))
    for moving in (clock, api.clock):
        moving.advance(7 * 60)
    await collect(client.stream(onwards(before)))
    assert client.monitor.last.cause == ""
    assert client.monitor.last.usage.cache_write_1h == api.requests[1].cache.written_1h > 0
    assert api.requests[1].cache.lost == 0


async def test_an_eviction_is_the_servers(api: ApiServer, make_client: MakeClient) -> None:
    before = first()
    client = make_client()
    api.play("one", "two")
    await collect(client.stream(before))
    api.cache.evict()
    await collect(client.stream(onwards(before)))
    seen = client.monitor.last
    assert (seen.cause, seen.expected, seen.alert) == ("prefix unchanged: evicted by the server", False, True)
    assert seen.line() == (
        f"cache break: prefix unchanged: evicted by the server: {seen.lost / 1000:.1f}k tokens paid again, "
        f"${seen.lost_cost:.4f}"
    )
    assert client.monitor.totals.breaks == 1


async def test_a_compaction_does_not_hide_an_eviction(api: ApiServer, make_client: MakeClient) -> None:
    before = ask(user(LONG), system=prompt(memory=MEMORY * 4))
    client = make_client()
    api.play("one", "two")
    await collect(client.stream(before))
    api.cache.evict()
    await collect(client.stream(replace(before, messages=(user("A summary."),), intent="compaction")))
    seen = client.monitor.last
    assert "evicted by the server" in seen.cause
    assert (seen.expected, seen.alert) == (False, True)


async def test_a_prefix_under_the_minimum_is_named_and_no_break(api: ApiServer, make_client: MakeClient) -> None:
    small = ask(user("hi"), system=prompt(static="Short.", memory="Short."), model="claude-opus-4-6")
    seen = await observe(make_client(), api, small, onwards(small))
    assert (seen.cause, seen.expected) == ("prefix under the model's minimum of 4,096 tokens", True)


async def test_a_small_loss_is_recorded_but_not_alerted(api: ApiServer, make_client: MakeClient) -> None:
    small = ask(user("hi"), assistant("ho"), user("hi"), system=prompt(memory="Short."))
    seen = await observe(make_client(), api, small, onwards(small, messages=tail(small, 0, user("ha"))))
    assert seen.cause == "history rewritten at message 1"
    assert (seen.expected, seen.alert) == (False, False)
    report = seen.report()
    assert (report.cause, report.lost, report.lost_cost) == (seen.cause, seen.lost, seen.lost_cost)


async def test_many_results_in_one_step_are_all_read_again(api: ApiServer, make_client: MakeClient) -> None:
    """More blocks than a lookup goes back: the second mark finds the entry at once."""
    client = make_client()
    start = ask(user(LONG))
    calls = [ToolUseBlock(f"toolu_{n:02}", "Read", {"path": f"f{n}"}) for n in range(25)]
    results = [ToolResultBlock(c.id, (user(f"content of {c.id} " * 20).content[0],)) for c in calls]
    step = replace(start, messages=(*start.messages, assistant(*calls), user(*results)))
    api.play("one", "two", "three")
    for request in (start, step, replace(step, messages=(*step.messages, assistant("two"), user("go on")))):
        await collect(client.stream(request))
    assert [r.cache.lost for r in api.requests] == [0, 0, 0]
    assert client.monitor.totals.efficiency == 1.0


async def test_going_on_after_a_rewind_reads_what_is_still_there(api: ApiServer, make_client: MakeClient) -> None:
    client = make_client()
    first_ = ask(user(LONG))
    second = replace(first_, messages=(*first_.messages, assistant("one"), user(LONG)))
    again = replace(first_, messages=(*first_.messages, assistant("one"), user("another way")), intent="rewind")
    api.play("one", "two", "three")
    for request in (first_, second, again):
        await collect(client.stream(request))
    assert api.requests[2].cache.missed < 10
    assert client.monitor.last.expected


async def test_the_apis_own_diagnosis_stands_beside_ours(api: ApiServer, make_client: MakeClient) -> None:
    before = first()
    seen = await observe(make_client(), api, before, onwards(before, system=prompt(env="cwd: /elsewhere")))
    first_body, second_body = (r.json for r in api.requests)
    assert first_body["diagnostics"] == {"previous_message_id": None}
    assert second_body["diagnostics"] == {"previous_message_id": api.requests[0].message_id}
    assert seen.api_cause == "system_changed"
    assert "the API says system_changed" in seen.line()


async def test_the_price_of_a_switch_is_known_before(api: ApiServer, make_client: MakeClient) -> None:
    api.play("one")
    client = make_client()
    await collect(client.stream(first()))
    price = client.monitor.switch_price("claude-opus-5-5")
    assert price.tokens == api.requests[0].cache.total + client.monitor.last.usage.output
    assert price.cost == pytest.approx(price.tokens * 1.25 * 4 / 1e6)
    assert price.line().startswith("re-reads ")
    assert client.monitor.switch_price("qwen").cost is None
