"""Sections: memoised or volatile, resolved concurrently, cached, cleared."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from agentcli.conversation import ConversationCache
from agentcli.prompt.section import (
    DANGEROUS_uncached_system_prompt_section,
    SystemPromptSection,
    clear_system_prompt_sections,
    forget_section,
    late_section_texts,
    resolve_system_prompt_sections,
    system_prompt_section,
)


class Counting:
    """A compute that counts its runs and says ``text`` (or raises it)."""

    def __init__(self, text: str | Exception | None) -> None:
        self.text = text
        self.runs = 0

    def __call__(self) -> str | None:
        self.runs += 1
        if isinstance(self.text, Exception):
            raise self.text
        return self.text


class Gated:
    """An async compute that waits until it is let go."""

    def __init__(self, text: str | None) -> None:
        self.text = text
        self.runs = 0
        self.begun = asyncio.Event()
        self.go = asyncio.Event()

    async def __call__(self) -> str | None:
        self.runs += 1
        self.begun.set()
        await self.go.wait()
        return self.text


def test_the_factories_set_the_policy() -> None:
    memoised = system_prompt_section("a", lambda: "x")
    volatile = DANGEROUS_uncached_system_prompt_section("b", lambda: "y", "changes between turns")
    assert (memoised.name, memoised.cache_break, memoised.policy, memoised.reason) == ("a", False, "memoised", "")
    assert (volatile.name, volatile.cache_break, volatile.policy) == ("b", True, "volatile")
    assert volatile.reason == "changes between turns"


@pytest.mark.parametrize("reason", ["", "  ", "\n"])
def test_an_uncached_section_needs_a_reason(reason: str) -> None:
    with pytest.raises(ValueError, match=r"'mcp'.*reason"):
        DANGEROUS_uncached_system_prompt_section("mcp", lambda: None, reason)


def test_there_is_no_other_way_to_make_a_section() -> None:
    with pytest.raises(TypeError, match="system_prompt_section"):
        SystemPromptSection("a", lambda: "x", cache_break=True, reason="", made_by=object())


def test_a_section_needs_a_name() -> None:
    with pytest.raises(ValueError, match="name"):
        system_prompt_section("", lambda: "x")


async def test_a_memoised_section_is_computed_once() -> None:
    cache, compute = ConversationCache(), Counting("one")
    section = system_prompt_section("a", compute)
    assert await resolve_system_prompt_sections([section], cache) == ["one"]
    compute.text = "two"
    assert await resolve_system_prompt_sections([section], cache) == ["one"]
    assert compute.runs == 1


async def test_another_section_object_of_the_same_name_is_served_from_the_cache() -> None:
    cache = ConversationCache()
    await resolve_system_prompt_sections([system_prompt_section("a", lambda: "first")], cache)
    assert await resolve_system_prompt_sections([system_prompt_section("a", lambda: "second")], cache) == ["first"]


async def test_none_is_cached_like_any_value() -> None:
    cache, compute = ConversationCache(), Counting(None)
    section = system_prompt_section("a", compute)
    for _ in range(3):
        assert await resolve_system_prompt_sections([section], cache) == [None]
    assert compute.runs == 1
    assert cache.sections == {"a": None}


async def test_a_volatile_section_is_computed_at_every_resolve_and_written_to_the_cache() -> None:
    cache, compute = ConversationCache(), Counting("one")
    section = DANGEROUS_uncached_system_prompt_section("v", compute, "because")
    assert await resolve_system_prompt_sections([section], cache) == ["one"]
    assert cache.sections == {"v": "one"}
    compute.text = "two"
    assert await resolve_system_prompt_sections([section], cache) == ["two"]
    assert cache.sections == {"v": "two"}
    assert compute.runs == 2


async def test_a_volatile_value_is_never_read_back() -> None:
    cache = ConversationCache(sections={"v": "old"})
    section = DANGEROUS_uncached_system_prompt_section("v", lambda: "new", "because")
    assert await resolve_system_prompt_sections([section], cache) == ["new"]


async def test_sync_and_async_computes_run_concurrently_and_keep_their_order() -> None:
    cache, first, third = ConversationCache(), Gated("first"), Gated("third")
    sections = [
        system_prompt_section("1", first),
        system_prompt_section("2", lambda: "second"),
        system_prompt_section("3", third),
    ]
    running = asyncio.create_task(resolve_system_prompt_sections(sections, cache))
    await first.begun.wait()
    await third.begun.wait()  # both run before either has ended
    third.go.set()
    while "3" not in cache.sections:
        await asyncio.sleep(0)
    first.go.set()
    assert await running == ["first", "second", "third"]


async def test_two_sections_of_one_name_are_refused_before_anything_is_computed() -> None:
    cache, compute = ConversationCache(), Counting("x")
    sections = [
        system_prompt_section("a", compute),
        DANGEROUS_uncached_system_prompt_section("a", compute, "because"),
    ]
    with pytest.raises(ValueError, match="'a'"):
        await resolve_system_prompt_sections(sections, cache)
    assert compute.runs == 0


async def test_two_resolves_at_the_same_time_compute_once() -> None:
    cache, compute = ConversationCache(), Gated("x")
    section = system_prompt_section("a", compute)
    both = [asyncio.create_task(resolve_system_prompt_sections([section], cache)) for _ in range(2)]
    await compute.begun.wait()
    compute.go.set()
    assert await asyncio.gather(*both) == [["x"], ["x"]]
    assert compute.runs == 1
    assert cache.computing == {}


async def test_when_the_first_resolve_is_cancelled_the_second_computes() -> None:
    cache, compute = ConversationCache(), Gated("x")
    section = system_prompt_section("a", compute)
    first = asyncio.create_task(resolve_system_prompt_sections([section], cache))
    await compute.begun.wait()
    second = asyncio.create_task(resolve_system_prompt_sections([section], cache))
    await asyncio.sleep(0)
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    compute.go.set()
    assert await second == ["x"]
    assert compute.runs == 2
    assert cache.absent == {}
    assert cache.computing == {}


async def test_cancelling_one_who_waits_leaves_the_computation_alone() -> None:
    cache, compute = ConversationCache(), Gated("x")
    section = system_prompt_section("a", compute)
    first = asyncio.create_task(resolve_system_prompt_sections([section], cache))
    await compute.begun.wait()
    second = asyncio.create_task(resolve_system_prompt_sections([section], cache))
    await asyncio.sleep(0)
    second.cancel()
    with pytest.raises(asyncio.CancelledError):
        await second
    compute.go.set()
    assert await first == ["x"]
    assert compute.runs == 1


async def test_a_value_that_was_being_computed_at_a_clear_is_not_written() -> None:
    cache, old = ConversationCache(), Gated("old")
    running = asyncio.create_task(resolve_system_prompt_sections([system_prompt_section("a", old)], cache))
    await old.begun.wait()
    clear_system_prompt_sections(cache)
    new = await resolve_system_prompt_sections([system_prompt_section("a", lambda: "new")], cache)
    old.go.set()
    assert await running == ["old"]  # who asked before the clear has what was true then
    assert new == ["new"]
    assert cache.sections == {"a": "new"}


async def test_a_volatile_value_from_before_a_clear_is_not_written_either() -> None:
    cache, old = ConversationCache(), Gated("old")
    section = DANGEROUS_uncached_system_prompt_section("v", old, "because")
    running = asyncio.create_task(resolve_system_prompt_sections([section], cache))
    await old.begun.wait()
    clear_system_prompt_sections(cache)
    old.go.set()
    await running
    assert cache.sections == {}


async def test_a_failure_from_before_a_clear_says_and_latches_nothing() -> None:
    cache, warnings = ConversationCache(), list[str]()
    begun, go = asyncio.Event(), asyncio.Event()

    async def fail() -> str:
        begun.set()
        await go.wait()
        raise OSError("gone")

    section = system_prompt_section("a", fail)
    running = asyncio.create_task(resolve_system_prompt_sections([section], cache, warn=warnings.append))
    await begun.wait()
    clear_system_prompt_sections(cache)
    go.set()
    assert await running == [None]
    assert (cache.absent, cache.sections, warnings) == ({}, {}, [])


async def test_clearing_empties_values_latches_and_choices() -> None:
    cache, compute = ConversationCache(), Counting("x")
    section = system_prompt_section("a", compute)
    await resolve_system_prompt_sections([section], cache)
    cache.latch_betas(["beta-1"])
    cache.latch("ttl", "1h")
    clear_system_prompt_sections(cache)
    assert cache == ConversationCache(generation=1)
    await resolve_system_prompt_sections([section], cache)
    assert compute.runs == 2


async def test_a_failing_section_is_left_out_and_named_once() -> None:
    cache, warnings = ConversationCache(), list[str]()
    compute = Counting(OSError("CLAUDE.md: permission denied"))
    sections = [system_prompt_section("memory", compute), system_prompt_section("b", lambda: "b")]
    for _ in range(3):
        assert await resolve_system_prompt_sections(sections, cache, warn=warnings.append) == [None, "b"]
    assert warnings == [
        "The system prompt goes without its section 'memory', which could not be built: CLAUDE.md: permission denied"
    ]
    assert compute.runs == 1
    assert cache.absent == {"memory": "CLAUDE.md: permission denied"}


@pytest.mark.parametrize(
    "make",
    [
        lambda compute: system_prompt_section("a", compute),
        lambda compute: DANGEROUS_uncached_system_prompt_section("a", compute, "because"),
    ],
    ids=["memoised", "volatile"],
)
async def test_a_failed_section_stays_absent_until_the_clear(
    make: Callable[[Counting], SystemPromptSection],
) -> None:
    cache, compute = ConversationCache(), Counting(ValueError("no"))
    assert await resolve_system_prompt_sections([make(compute)], cache) == [None]
    compute.text = "back"
    assert await resolve_system_prompt_sections([make(compute)], cache) == [None]
    clear_system_prompt_sections(cache)
    assert await resolve_system_prompt_sections([make(compute)], cache) == ["back"]


async def test_a_volatile_section_that_fails_later_leaves_no_old_value() -> None:
    cache, compute = ConversationCache(), Counting("x")
    section = DANGEROUS_uncached_system_prompt_section("v", compute, "because")
    await resolve_system_prompt_sections([section], cache)
    compute.text = ValueError("no")
    assert await resolve_system_prompt_sections([section], cache) == [None]
    assert cache.sections == {}


async def test_a_compute_whose_own_work_was_cancelled_counts_as_failed() -> None:
    cache, warnings = ConversationCache(), list[str]()

    async def cancelled() -> str:
        raise asyncio.CancelledError

    section = system_prompt_section("a", cancelled)
    assert await resolve_system_prompt_sections([section], cache, warn=warnings.append) == [None]
    assert "'a'" in warnings[0]


async def test_an_answer_that_is_no_text_counts_as_failed() -> None:
    cache = ConversationCache()
    section = system_prompt_section("a", lambda: 7)  # type: ignore[arg-type,return-value]
    assert await resolve_system_prompt_sections([section], cache) == [None]
    assert cache.absent == {"a": "expected a text, got int"}


async def test_texts_come_out_as_valid_unicode() -> None:
    cache = ConversationCache()
    section = system_prompt_section("a", lambda: "caf\udce9")
    assert await resolve_system_prompt_sections([section], cache) == ["caf\ufffd"]


async def test_the_text_of_a_failed_section_is_delivered_late_and_once() -> None:
    cache, compute = ConversationCache(), Counting(OSError("busy"))
    sections = [system_prompt_section("memory", compute), system_prompt_section("b", lambda: "b")]
    await resolve_system_prompt_sections(sections, cache)
    assert await late_section_texts(sections, cache) == []  # still failing
    compute.text = "remember this"
    assert await late_section_texts(sections, cache) == [("memory", "remember this")]
    assert await late_section_texts(sections, cache) == []
    assert await resolve_system_prompt_sections(sections, cache) == [None, "b"]


async def test_a_failed_section_that_has_nothing_to_say_later_is_not_asked_again() -> None:
    cache, compute = ConversationCache(), Counting(OSError("busy"))
    section = system_prompt_section("memory", compute)
    await resolve_system_prompt_sections([section], cache)
    compute.text = None
    assert await late_section_texts([section], cache) == []
    compute.text = "later still"
    assert await late_section_texts([section], cache) == []
    assert compute.runs == 2


async def test_one_section_can_be_forgotten_alone() -> None:
    cache, a, b = ConversationCache(), Counting("a"), Counting("b")
    sections = [system_prompt_section("a", a), system_prompt_section("b", b)]
    await resolve_system_prompt_sections(sections, cache)
    forget_section(cache, "a")
    a.text = "a2"
    assert await resolve_system_prompt_sections(sections, cache) == ["a2", "b"]
    assert (a.runs, b.runs) == (2, 1)


async def test_a_value_that_was_being_computed_when_it_was_forgotten_is_not_written() -> None:
    cache, old = ConversationCache(), Gated("old")
    running = asyncio.create_task(resolve_system_prompt_sections([system_prompt_section("a", old)], cache))
    await old.begun.wait()
    forget_section(cache, "a")
    old.go.set()
    await running
    assert cache.sections == {}
    assert await resolve_system_prompt_sections([system_prompt_section("a", lambda: "new")], cache) == ["new"]
