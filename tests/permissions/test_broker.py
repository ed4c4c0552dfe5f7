from __future__ import annotations

import asyncio
from itertools import count

from agentcli.events import Event, PermissionAsked, PermissionResolved
from agentcli.permissions.broker import Broker
from agentcli.ports.permissions import Answer, ApprovalRequest, Decision, PermissionUpdate
from agentcli.ports.tools import ToolCall


def make(name: str = "Bash", agent: str = "") -> ApprovalRequest:
    update = PermissionUpdate("addRules", ("Bash(npm test:*)",), destination="localSettings")
    decision = Decision("ask", "no rule allows it", suggestions=(update,))
    return ApprovalRequest(ToolCall("t1", name, {"command": "npm test"}), "npm test", decision, agent=agent)


def broker(events: list[Event], **options: bool) -> Broker:
    numbers = count(1)
    return Broker(events.append, new_id=lambda: f"q{next(numbers)}", **options)


async def started(events: list[Event], number: int) -> None:
    async with asyncio.timeout(5):
        while len(events) < number:
            await asyncio.sleep(0)


async def test_a_question_goes_up_and_its_answer_comes_down() -> None:
    events: list[Event] = []
    it = broker(events)
    task = asyncio.create_task(it.ask(make(agent="scout")))
    await started(events, 1)
    assert it.waiting_ids == ("q1",)
    assert it.answer("q1", Answer(allowed=True, message="go"))
    assert await task == Answer(allowed=True, message="go")
    suggestion = {
        "type": "addRules",
        "destination": "localSettings",
        "rules": ["Bash(npm test:*)"],
        "behavior": "allow",
    }
    assert events == [
        PermissionAsked(
            "q1",
            "t1",
            "Bash",
            {"command": "npm test"},
            "npm test",
            "no rule allows it",
            suggestions=(suggestion,),
            agent="scout",
        ),
        PermissionResolved("q1", True, "user"),
    ]


async def test_a_second_answer_is_refused() -> None:
    events: list[Event] = []
    it = broker(events)
    task = asyncio.create_task(it.ask(make()))
    await started(events, 1)
    assert it.answer("q1", Answer(allowed=False))
    assert not it.answer("q1", Answer(allowed=True))
    assert not (await task).allowed
    assert [type(e) for e in events] == [PermissionAsked, PermissionResolved]
    assert not it.answer("unknown", Answer(allowed=True))


async def test_questions_wait_side_by_side_and_are_answered_in_any_order() -> None:
    events: list[Event] = []
    it = broker(events)
    tasks = [asyncio.create_task(it.ask(make(str(n)))) for n in range(3)]
    await started(events, 3)
    for number in (2, 0, 1):
        it.answer(f"q{number + 1}", Answer(allowed=number == 1, message=str(number)))
    assert [(await t).message for t in tasks] == ["0", "1", "2"]
    assert [e.request_id for e in events if isinstance(e, PermissionResolved)] == ["q3", "q1", "q2"]


async def test_cancelling_withdraws_the_question() -> None:
    events: list[Event] = []
    it = broker(events)
    task = asyncio.create_task(it.ask(make()))
    await started(events, 1)
    task.cancel()
    assert (await asyncio.gather(task, return_exceptions=True))[0].__class__ is asyncio.CancelledError
    assert events[-1] == PermissionResolved("q1", False, "cancelled")
    assert not it.answer("q1", Answer(allowed=True))
    assert it.waiting == ()


async def test_an_answer_wins_over_a_cancellation_that_comes_later() -> None:
    events: list[Event] = []
    it = broker(events)
    task = asyncio.create_task(it.ask(make()))
    await started(events, 1)
    it.answer("q1", Answer(allowed=True))
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert [e for e in events if isinstance(e, PermissionResolved)] == [PermissionResolved("q1", True, "user")]


async def test_where_nobody_can_answer_the_answer_is_no() -> None:
    events: list[Event] = []
    answer = await broker(events, nobody=True).ask(make())
    assert (answer.allowed, answer.by) == (False, "nobody")
    assert "no one can answer" in answer.message
    assert events == []


async def test_closing_resolves_what_is_open() -> None:
    events: list[Event] = []
    it = broker(events)
    tasks = [asyncio.create_task(it.ask(make())) for _ in range(2)]
    await started(events, 2)
    assert it.withdraw_all() == 2
    assert [(await t).by for t in tasks] == ["cancelled", "cancelled"]
