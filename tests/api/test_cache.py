"""The simulated cache, against figures worked out by hand.

``words(n)`` is a text of exactly ``n`` tokens (7 bytes are 2 tokens).  The model's minimum is 512 where nothing else is
said.
"""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any

import pytest

from tests.api import ApiServer, Gate, after, error, reply, thinking, totals
from tests.api.cache import Totals
from tests.api.samples import HEADERS, image, png, post, result, said
from tests.api.tokens import count_text

Json = dict[str, Any]
MODEL = "claude-sonnet-5-5"
OLD = "claude-haiku-4-5"
FIVE = {"type": "ephemeral"}
HOUR = {"type": "ephemeral", "ttl": "1h"}
GLOBAL = {"type": "ephemeral", "scope": "global"}
SCOPE = {"anthropic-beta": "prompt-caching-scope-2026-01-05"}
Figures = tuple[int, int, int, int]
"""(read, written for 5 minutes, written for an hour, uncached)."""


def words(tokens: int, letter: str = "a") -> str:
    """A text of so many tokens: ceil(2 * bytes / 7)."""
    return letter * (tokens * 7 // 2)


def block(tokens: int, letter: str = "a", mark: Json | None = None) -> Json:
    return said(words(tokens, letter), **({"cache_control": mark} if mark else {}))


def body(*content: Json, system: list[Json] | None = None, model: str = MODEL, **more: Any) -> Json:
    messages = [{"role": "user", "content": list(content)}]
    return {"model": model, "max_tokens": 100, "messages": messages, "system": system or [block(600, "s")], **more}


def ask(api: ApiServer, request: Json, headers: dict[str, str] | None = None) -> Figures:
    """Sends it; the figures that the answer's usage shows."""
    api.play("ok")
    status, answer = post(api, request, headers=headers)
    assert status == 200, answer
    usage = answer["usage"]
    created = usage["cache_creation"]
    assert usage["cache_creation_input_tokens"] == sum(created.values())
    return (
        usage["cache_read_input_tokens"],
        created["ephemeral_5m_input_tokens"],
        created["ephemeral_1h_input_tokens"],
        usage["input_tokens"],
    )


@pytest.fixture
def server() -> Any:
    with ApiServer() as api:
        yield api


def test_words_are_exact() -> None:
    assert [count_text(words(n)) for n in (1, 2, 511, 512, 600, 601)] == [1, 2, 511, 512, 600, 601]
    assert count_text("ü") == 1
    assert count_text("12345678") == 3


def test_no_mark_no_cache(server: ApiServer) -> None:
    assert [ask(server, body(block(10))) for _ in range(2)] == [(0, 0, 0, 610)] * 2


def test_written_then_read(server: ApiServer) -> None:
    system = [block(600, "s", FIVE)]
    assert ask(server, body(block(10), system=system)) == (0, 600, 0, 10)
    assert ask(server, body(block(20, "b"), system=system)) == (600, 0, 0, 20)
    assert ask(server, body(block(20, "b", FIVE), system=system)) == (600, 20, 0, 0)
    assert ask(server, body(block(20, "b", FIVE), system=system)) == (620, 0, 0, 0)


def test_a_conversation_that_grows_loses_nothing(server: ApiServer) -> None:
    request = body(block(10, "a", FIVE), system=[block(600, "s", FIVE)])
    assert ask(server, request) == (0, 610, 0, 0)
    for step in range(3):
        del request["messages"][-1]["content"][-1]["cache_control"]
        request["messages"] += [
            {"role": "assistant", "content": [said("ok")]},
            {"role": "user", "content": [block(40, "b", FIVE)]},
        ]
        # "ok" is one token: each round adds 41 to what the round before had sent.
        assert ask(server, request) == (610 + 41 * step, 41, 0, 0)
    figures = [r.cache for r in server.requests if r.cache]
    assert [(f.previous, f.common, f.lost, f.missed) for f in figures] == [
        (0, 0, 0, 0),
        (610, 610, 0, 0),
        (651, 651, 0, 0),
        (692, 692, 0, 0),
    ]


def test_two_marks_write_two_entries(server: ApiServer) -> None:
    both = body(block(100, "a", FIVE), system=[block(600, "s", FIVE)])
    assert ask(server, both) == (0, 700, 0, 0)
    assert len(server.cache) == 2
    other = body(block(100, "b", FIVE), system=[block(600, "s", FIVE)])
    assert ask(server, other) == (600, 100, 0, 0)


def test_an_entry_is_written_only_at_a_mark(server: ApiServer) -> None:
    assert ask(server, body(block(100, "a"), block(100, "b", FIVE))) == (0, 800, 0, 0)
    # The first block was never marked: a request that ends there finds nothing.
    assert ask(server, body(block(100, "a", FIVE))) == (0, 700, 0, 0)


@pytest.mark.parametrize(("blocks", "figures"), [(19, (1100, 19, 0, 0)), (20, (600, 520, 0, 0))])
def test_the_lookup_goes_back_twenty_blocks(server: ApiServer, blocks: int, figures: Figures) -> None:
    system = [block(600, "s", FIVE)]
    assert ask(server, body(block(500, "p", FIVE), system=system)) == (0, 1100, 0, 0)
    new = [block(1, str(i % 10)) for i in range(blocks - 1)]
    assert ask(server, body(block(500, "p"), *new, block(1, "n", FIVE), system=system)) == figures


def test_a_second_mark_at_the_old_entry_bridges_any_distance(server: ApiServer) -> None:
    ask(server, body(block(500, "p", FIVE)))
    new = [block(1, str(i % 10)) for i in range(40)]
    assert ask(server, body(block(500, "p", FIVE), *new, block(1, "n", FIVE))) == (1100, 41, 0, 0)


@pytest.mark.parametrize(
    ("model", "minimum"),
    [
        ("claude-opus-5-5", 512),
        ("claude-sonnet-5", 1024),
        ("claude-opus-4-8", 1024),
        ("claude-opus-4-7", 2048),
        ("claude-opus-4-6", 4096),
        (OLD, 4096),
    ],
)
def test_minimum_by_model(server: ApiServer, model: str, minimum: int) -> None:
    below = body(block(5), system=[block(minimum - 1, "s", FIVE)], model=model)
    assert [ask(server, below) for _ in range(2)] == [(0, 0, 0, minimum + 4)] * 2
    enough = body(block(5), system=[block(minimum, "s", FIVE)], model=model)
    assert [ask(server, enough) for _ in range(2)] == [(0, minimum, 0, 5), (minimum, 0, 0, 5)]


def test_an_early_mark_below_the_minimum_is_paid_with_the_later_one(server: ApiServer) -> None:
    request = body(block(500, "a", FIVE), system=[block(100, "s", FIVE)])
    assert ask(server, request) == (0, 600, 0, 0)
    assert len(server.cache) == 1


def test_entries_expire_and_reads_renew_them(server: ApiServer) -> None:
    request = body(block(10), system=[block(600, "s", FIVE)])
    assert ask(server, request) == (0, 600, 0, 10)
    for _ in range(3):
        server.clock.advance(299)
        assert ask(server, request) == (600, 0, 0, 10)
    server.clock.advance(300)
    assert ask(server, request) == (0, 600, 0, 10)


def test_an_hour_costs_twice_and_lasts(server: ApiServer) -> None:
    request = body(block(100, "a", FIVE), system=[block(600, "s", HOUR)])
    assert ask(server, request) == (0, 100, 600, 0)
    server.clock.advance(3599)
    assert ask(server, request) == (600, 100, 0, 0)
    server.clock.advance(3600)
    assert ask(server, request) == (0, 100, 600, 0)


def test_an_entry_can_be_read_once_its_answer_has_begun(server: ApiServer) -> None:
    request = body(block(10), system=[block(600, "s", FIVE)])
    first, second = Gate(), Gate()
    server.play(after(first, reply("one")), after(second, reply("two")))
    usages: dict[int, Json] = {}
    threads = []
    for number in (1, 2):
        threads.append(threading.Thread(target=lambda n=number: usages.update({n: post(server, request)[1]["usage"]})))
        threads[-1].start()
        server.wait_for(number)
    # Both were accepted before either had begun: both pay.
    first.wait_reached()
    second.wait_reached()
    first.open()
    threads[0].join(20)
    assert ask(server, request) == (600, 0, 0, 10)
    second.open()
    threads[1].join(20)
    assert [usages[n]["cache_creation_input_tokens"] for n in (1, 2)] == [600, 600]


def test_a_failed_request_writes_nothing(server: ApiServer) -> None:
    request = body(block(10), system=[block(600, "s", FIVE)])
    server.play(error(529))
    assert post(server, request)[0] == 529
    assert ask(server, request) == (0, 600, 0, 10)


def test_entries_belong_to_a_key_and_global_ones_to_everybody(server: ApiServer) -> None:
    other = {"x-api-key": "sk-other"}
    own = body(block(10), system=[block(600, "s", FIVE)])
    ask(server, own)
    assert ask(server, own, other) == (0, 600, 0, 10)
    shared = body(block(10), system=[block(700, "g", GLOBAL), block(50, "y", FIVE)])
    assert ask(server, shared, SCOPE) == (0, 750, 0, 10)
    assert ask(server, shared, {**SCOPE, **other}) == (700, 50, 0, 10)
    # The own entry behind the global one is there for its own key.
    assert ask(server, shared, SCOPE) == (750, 0, 0, 10)


TOOL = {"name": "Read", "description": "d" * 2035, "input_schema": {"type": "object"}}
"""2,100 bytes of JSON: 600 tokens."""
TOOLS = [{**TOOL, "cache_control": FIVE}]


def full(**more: Any) -> Json:
    """A request with a mark at the end of each level: 600 + 600 + 500 tokens."""
    return {**body(block(500, "a", FIVE), system=[block(600, "s", FIVE)], tools=TOOLS), **more}


FAST = {"anthropic-beta": "fast-mode-2026-02-01"}
"""Sent from the start, since a new header changes the key."""
CHANGES: dict[str, tuple[Json, dict[str, str], Figures]] = {
    "nothing": ({}, {}, (1700, 0, 0, 0)),
    "message": ({"messages": [{"role": "user", "content": [block(500, "b", FIVE)]}]}, {}, (1200, 500, 0, 0)),
    "tool_choice": ({"tool_choice": {"type": "none"}}, {}, (1200, 500, 0, 0)),
    "thinking": ({"thinking": {"type": "between_tools"}}, {}, (1200, 500, 0, 0)),
    "speed": ({"speed": "fast"}, FAST, (600, 1100, 0, 0)),
    "system": ({"system": [block(600, "t", FIVE)]}, {}, (600, 1100, 0, 0)),
    "tool": ({"tools": [{**TOOLS[0], "description": "e" * 2035}]}, {}, (0, 1700, 0, 0)),
    "tool added in front": ({"tools": [{**TOOL, "name": "Edit"}, *TOOLS]}, {}, (0, 2300, 0, 0)),
    "deferred tool added": ({"tools": [*TOOLS, {**TOOL, "name": "mcp", "defer_loading": True}]}, {}, (1700, 0, 0, 0)),
    "web search added": (
        {"tools": [*TOOLS, {"type": "web_search_20260318", "name": "web_search"}]},
        {},
        (600, 1100 + 15, 0, 0),
    ),
    "model": ({"model": "claude-haiku-5-5"}, {}, (0, 1700, 0, 0)),
    "effort": ({"output_config": {"effort": "low"}}, {}, (0, 1700, 0, 0)),
    "beta": ({}, {"anthropic-beta": "context-management-2025-06-27"}, (0, 1700, 0, 0)),
    "version": ({}, {"anthropic-version": "2023-06-01"}, (1700, 0, 0, 0)),
    "mark moved": (
        {"tools": [TOOL], "messages": [{"role": "user", "content": [block(500, "a")]}]},
        {},
        (1200, 0, 0, 500),
    ),
}


@pytest.mark.parametrize(("change", "headers", "figures"), CHANGES.values(), ids=CHANGES.keys())
def test_what_a_change_loses(server: ApiServer, change: Json, headers: dict[str, str], figures: Figures) -> None:
    assert ask(server, full(), headers if headers == FAST else {}) == (0, 1700, 0, 0)
    assert ask(server, full(**change), headers) == figures


def test_the_first_image_loses_the_messages(server: ApiServer) -> None:
    request = full()
    ask(server, request)
    picture = image(png(75, 10))
    request["messages"][0]["content"].append({**picture, "cache_control": FIVE})
    # 75 x 10 pixels are one token.
    assert ask(server, request) == (1200, 501, 0, 0)
    request["messages"][0]["content"].append({**picture, "cache_control": FIVE})
    request["messages"][0]["content"][0].pop("cache_control")
    assert ask(server, request) == (1701, 1, 0, 0)


def test_a_deferred_tool_is_rendered_where_it_is_referenced(server: ApiServer) -> None:
    deferred = {**TOOL, "name": "mcp", "defer_loading": True}
    request = full(tools=[*TOOLS, deferred])
    assert ask(server, request) == (0, 1700, 0, 0)
    request["messages"][0]["content"][0].pop("cache_control")
    call = {"type": "tool_use", "id": "toolu_1", "name": "Read", "input": {}}
    found = result("toolu_1", [{"type": "tool_reference", "tool_name": "mcp"}], cache_control=FIVE)
    request["messages"] += [{"role": "assistant", "content": [call]}, {"role": "user", "content": [found]}]
    # The call: 2 for its name, 1 for its input.  The reference: 43 bytes of JSON.  The definition: 2,120 bytes.
    assert ask(server, request) == (1700, 3 + 13 + 606, 0, 0)


def test_thinking_of_earlier_turns_is_stripped_on_old_models(server: ApiServer) -> None:
    request = body(block(10), system=[block(5000, "s", FIVE)], model=OLD)
    server.play(reply(thinking(words(100)), "ok"))
    content = post(server, request)[1]["content"]
    request["messages"] += [{"role": "assistant", "content": content}, {"role": "user", "content": [block(20)]}]
    assert ask(server, request) == (5000, 0, 0, 10 + 1 + 20)
    keep = {"edits": [{"type": "clear_thinking_20251015", "keep": "all"}]}
    headers = {"anthropic-beta": "context-management-2025-06-27"}
    assert ask(server, {**request, "context_management": keep}, headers) == (0, 5000, 0, 10 + 100 + 1 + 20)


def test_the_top_mark_falls_on_the_last_block(server: ApiServer) -> None:
    request = body(block(10), block(20, "b"), cache_control=FIVE)
    assert ask(server, request) == (0, 630, 0, 0)
    assert ask(server, request) == (630, 0, 0, 0)


def test_costs(server: ApiServer) -> None:
    # 2 US dollars per million tokens: 600 at 2 x, 100 at 1.25 x.
    request = body(block(100, "a", FIVE), block(10, "b"), system=[block(600, "s", HOUR)])
    ask(server, request)
    ask(server, request)
    first, second = server.cache.history
    assert first.cost == pytest.approx(2e-6 * (600 * 2 + 100 * 1.25 + 10))
    assert second.cost == pytest.approx(2e-6 * (700 * 0.1 + 10))
    assert second.cost_uncached == pytest.approx(2e-6 * 710)


def test_the_whole_price_of_a_request(server: ApiServer) -> None:
    server.play(reply(words(30)))
    post(server, body(block(10), system=[block(600, "s", FIVE)]))
    # 2 and 10 US dollars per million tokens.
    assert server.requests[0].cost == pytest.approx(2e-6 * (600 * 1.25 + 10) + 10e-6 * 30)


def test_sums_over_a_session(server: ApiServer) -> None:
    request = full()
    for _ in range(2):
        ask(server, request)
    server.cache.evict()
    ask(server, request)
    cost = 2e-6 * (1700 * 1.25 * 2 + 1700 * 0.1)
    found = totals(server.cache.history)
    assert found.cost == pytest.approx(cost)
    assert found.cost_uncached == pytest.approx(2e-6 * 5100)
    assert replace(found, cost=0, cost_uncached=0) == Totals(
        requests=3, total=5100, read=1700, written=3400, uncached=0, lost=1700, missed=1700, cost=0, cost_uncached=0
    )


def test_long_prompts_cost_more_where_the_model_says_so(server: ApiServer) -> None:
    ask(server, body(block(10), system=[block(100_001, "s")], model="claude-haiku-5-5"))
    ask(server, body(block(10), system=[block(1_000, "s")], model="claude-haiku-5-5"))
    long, short = server.cache.history
    assert long.cost == pytest.approx(0.50e-6 * 100_011)
    assert short.cost == pytest.approx(0.10e-6 * 1_010)


def test_loss_is_told_per_conversation(server: ApiServer) -> None:
    request = full()
    ask(server, request)
    ask(server, full(messages=[{"role": "user", "content": [block(50, "x", FIVE)]}]))
    server.cache.evict()
    assert ask(server, request) == (0, 1700, 0, 0)
    main, sub, again = server.cache.history
    assert (main.lost, sub.lost, sub.previous) == (0, 0, 0)
    assert (again.previous, again.common, again.lost, again.missed) == (1700, 1700, 1700, 1700)


DIAGNOSES: dict[str, tuple[Json, Json | None]] = {
    "nothing": ({}, None),
    "model": ({"model": "claude-haiku-5-5"}, {"type": "model_changed", "cache_missed_input_tokens": 1700}),
    "tools": ({"tools": [{**TOOL, "description": "x"}]}, {"type": "tools_changed", "cache_missed_input_tokens": 1700}),
    "system": ({"system": [block(9)]}, {"type": "system_changed", "cache_missed_input_tokens": 1100}),
    "messages": (
        {"messages": [{"role": "user", "content": [block(500, "b")]}]},
        {"type": "messages_changed", "cache_missed_input_tokens": 500},
    ),
    "tool_choice": ({"tool_choice": {"type": "none"}}, {"type": "unavailable"}),
}


@pytest.mark.parametrize(("change", "reason"), DIAGNOSES.values(), ids=DIAGNOSES.keys())
def test_the_api_says_why_it_missed(server: ApiServer, change: Json, reason: Json | None) -> None:
    server.always("ok")
    previous = post(server, full())[1]["id"]
    answer = post(server, full(**change, diagnostics={"previous_message_id": previous}))[1]
    assert answer["diagnostics"] == {"cache_miss_reason": reason}
    unknown = post(server, full(diagnostics={"previous_message_id": "msg_x"}))[1]
    assert unknown["diagnostics"] == {"cache_miss_reason": {"type": "previous_message_not_found"}}


def test_the_same_requests_give_the_same_figures_twice() -> None:
    def play() -> list[Figures]:
        with ApiServer() as api:
            return [ask(api, full(**dict(change[0])), {**HEADERS, **change[1]}) for change in CHANGES.values()]

    assert play() == play()
