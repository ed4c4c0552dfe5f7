"""Parallel requests with one prefix."""

from __future__ import annotations

import asyncio

import pytest

from agentcli.conversation import ConversationCache
from agentcli.messages import user
from agentcli.model.gate import PrefixGate
from tests.api import ApiServer, Gate, after, error
from tests.model.clock import VirtualClock
from tests.model.conftest import MakeClient
from tests.model.worlds import ask, collect, reminder


async def turns() -> None:
    """Lets every other task run as far as it can."""
    for _ in range(5):
        await asyncio.sleep(0)


async def test_only_the_first_of_parallel_siblings_pays(api: ApiServer, make_client: MakeClient) -> None:
    client = make_client()
    gate = Gate()
    api.always(after(gate, "done"))
    shared = reminder("memory " * 400)

    async def sibling(number: int) -> None:
        asked = ask(
            user(shared, f"look at part {number}"),
            conversation=ConversationCache(),
            conversation_id=f"agent-{number}",
            query_source="subagent",
        )
        await collect(client.stream(asked))

    tasks = [asyncio.create_task(sibling(n)) for n in range(5)]
    await asyncio.to_thread(gate.wait_reached)
    assert len(api.requests) == 1
    gate.open()
    await asyncio.gather(*tasks)
    first, *others = [r.cache for r in api.requests]
    assert first.read == 0
    assert all(c.read > 0.95 * first.total for c in others)
    assert set(client.ledger.by_category()) == {"subagent"}


async def test_when_the_first_fails_the_next_takes_its_place(api: ApiServer, make_client: MakeClient) -> None:
    client = make_client()
    api.play(error(400, "no"), "b", "c")

    async def sibling(number: int) -> str:
        try:
            await collect(client.stream(ask(user(f"part {number}"), conversation_id=str(number))))
        except Exception as failure:
            return type(failure).__name__
        return "fine"

    assert await asyncio.gather(*(sibling(n) for n in range(3))) == ["ApiError", "fine", "fine"]
    paid = [r.cache.read for r in api.requests[1:]]
    assert paid[0] == 0 < paid[1]


async def test_waiting_has_an_end() -> None:
    gate = PrefixGate(VirtualClock(), patience=0.01)
    first = await gate.enter("a")
    await gate.enter("a")
    first.begun()
    await gate.enter("a")


async def test_other_prefixes_do_not_wait() -> None:
    gate = PrefixGate(VirtualClock(), patience=30)
    await gate.enter("a")
    await asyncio.wait_for(gate.enter("b"), 5)


async def test_a_warm_prefix_lets_everybody_pass_until_it_cools(clock: VirtualClock) -> None:
    gate = PrefixGate(clock, patience=30)
    (await gate.enter("a")).begun()
    await asyncio.wait_for(gate.enter("a"), 5)
    clock.advance(241)
    await gate.enter("a")
    waiting = asyncio.create_task(gate.enter("a"))
    await turns()
    assert not waiting.done()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting


async def test_one_that_is_cancelled_while_waiting_is_passed_over() -> None:
    gate = PrefixGate(VirtualClock(), patience=30)
    first = await gate.enter("a")
    second, third = asyncio.create_task(gate.enter("a")), asyncio.create_task(gate.enter("a"))
    await turns()
    second.cancel()
    await turns()
    first.failed()
    lead = await asyncio.wait_for(third, 5)
    fourth = asyncio.create_task(gate.enter("a"))
    await turns()
    assert not fourth.done()
    lead.begun()
    await asyncio.wait_for(fourth, 5)


async def test_one_that_is_cancelled_just_as_it_gets_the_lead_hands_it_on() -> None:
    gate = PrefixGate(VirtualClock(), patience=30)
    first = await gate.enter("a")
    second, third = asyncio.create_task(gate.enter("a")), asyncio.create_task(gate.enter("a"))
    await turns()
    first.failed()
    second.cancel()
    with pytest.raises(asyncio.CancelledError):
        await second
    await asyncio.wait_for(third, 5)


async def test_failing_twice_or_after_it_began_does_nothing() -> None:
    gate = PrefixGate(VirtualClock(), patience=30)
    first = await gate.enter("a")
    waiting = asyncio.create_task(gate.enter("a"))
    await turns()
    first.begun()
    first.failed()
    second = await asyncio.wait_for(waiting, 5)
    second.failed()
    await asyncio.wait_for(gate.enter("a"), 5)
