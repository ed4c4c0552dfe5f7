"""Turns and steps: what is sent, what is kept, what is told."""

from __future__ import annotations

import asyncio

import pytest

from agentcli.agent import Limits
from agentcli.errors import ApiError, Bug, StreamError
from agentcli.events import (
    AssistantMessage,
    AttemptDiscarded,
    CacheObserved,
    Notice,
    PromptAccepted,
    QueueChanged,
    StepStarted,
    TextDelta,
    ToolFinished,
    ToolResultsAppended,
    ToolStarted,
    TurnFinished,
    TurnStarted,
)
from agentcli.messages import (
    OpaqueBlock,
    TextBlock,
    ToolResultBlock,
    ToolUseBlock,
    assistant,
    message_to_record,
    repair,
    user,
)
from agentcli.model.scripted import Answer, call, say
from agentcli.ports.frontend import UserInput
from agentcli.ports.model import RetryPlanned
from agentcli.ports.permissions import HookEvent, HookVerdict
from agentcli.ports.prompt import Reminder
from tests.agent.world import FakeTool, make, result_texts

KINDS = (
    TurnStarted,
    PromptAccepted,
    StepStarted,
    AssistantMessage,
    ToolStarted,
    ToolFinished,
    ToolResultsAppended,
    TurnFinished,
)


def reminder(text: str) -> TextBlock:
    return TextBlock(f"<system-reminder>\n{text}\n</system-reminder>", "reminder")


async def test_a_turn_runs_the_calls_and_ends_with_the_answer() -> None:
    world = make([say("I look.", call("Echo", id="c1", text="a")), "Done."])
    finished = await world.turn("please")
    assert (finished.outcome, finished.text, finished.steps, finished.stop_reason) == (
        "completed",
        "Done.",
        2,
        "end_turn",
    )
    assert world.state.messages == [
        user("please"),
        assistant("I look.", ToolUseBlock("c1", "Echo", {"text": "a"})),
        user(ToolResultBlock("c1", (TextBlock("echo a"),))),
        assistant("Done."),
    ]
    assert [type(e).__name__ for e in world.seen(KINDS)] == [
        "TurnStarted",
        "PromptAccepted",
        "StepStarted",
        "AssistantMessage",
        "ToolStarted",
        "ToolFinished",
        "ToolResultsAppended",
        "StepStarted",
        "AssistantMessage",
        "TurnFinished",
    ]
    assert world.events[-1] == finished


async def test_usage_and_cost_of_a_turn_are_the_sums_of_its_steps() -> None:
    world = make([say(call("Echo")), "Done."])
    finished = await world.turn()
    answers = world.seen(AssistantMessage)
    assert finished.usage == answers[0].usage + answers[1].usage
    assert finished.cost == pytest.approx(sum(c.cost for c in world.seen(CacheObserved)))
    assert world.state.usage == {"claude-sonnet-5-5": finished.usage}
    assert world.state.context_tokens == answers[1].usage.total_input + answers[1].usage.output


async def test_each_request_is_the_one_before_with_something_appended() -> None:
    """Forty steps over four prompts, with reminders, steering and errors on the way."""
    turns = [[say(call("Echo", text=str(i))) for i in range(9)] + ["Done."] for _ in range(4)]
    world = make([s for steps in turns for s in steps])
    for number in range(4):
        world.told.due.append(("first_message", Reminder("head", f"head {number}")))
        world.told.due.append(("before_step", Reminder("date", f"news {number}")))
        world.agent.steer(UserInput(f"by the way {number}"))
        assert (await world.turn(f"prompt {number}")).outcome == "completed"
        world.told.due.append(("before_step", Reminder("date", f"late news {number}")))
    assert len(world.requests) == 40
    for before, after in zip(range(39), range(1, 40), strict=True):
        old = [(m["role"], b) for m in world.sent(before) for b in m["content"]]
        new = [(m["role"], b) for m in world.sent(after) for b in m["content"]]
        assert new[: len(old)] == old
        assert len(new) > len(old)
    assert not repair(world.state.messages).notes


async def test_the_head_reminder_stands_before_the_words_and_later_ones_behind_the_results() -> None:
    world = make([say(call("Echo", id="c1")), "Done.", "Again."])
    world.told.due += [("first_message", Reminder("head", "the head")), ("before_step", Reminder("date", "a new day"))]
    await world.turn("one")
    world.told.due.append(("before_step", Reminder("mode", "plan mode")))
    await world.turn("two")
    assert world.state.messages[0] == user(reminder("the head"), "one")
    assert world.state.messages[2] == user(ToolResultBlock("c1", (TextBlock("echo "),)), reminder("a new day"))
    assert world.state.messages[4] == user(reminder("plan mode"), "two")


async def test_steering_is_delivered_behind_the_results_of_the_running_step() -> None:
    world = make([say(call("Steer", id="c1")), "Done."])
    world.agent.rooms.tools["Steer"] = FakeTool("Steer", lambda i: world.agent.steer(UserInput("stop that")) or "ok")  # type: ignore[index]  # a dict here
    await world.turn("one")
    assert world.state.messages[2] == user(ToolResultBlock("c1", (TextBlock("ok"),)), "stop that")
    assert world.seen(PromptAccepted)[-1] == PromptAccepted(user("stop that"), steering=True)
    assert world.seen(QueueChanged) == [QueueChanged(("stop that",)), QueueChanged(())]


async def test_steering_after_the_last_step_lets_the_turn_go_on() -> None:
    def last(request: object) -> str:
        world.agent.steer(UserInput("and one more thing"))
        return "First."

    world = make([last, "Second."])
    finished = await world.turn("one")
    assert (finished.text, finished.steps) == ("Second.", 2)
    assert world.state.messages == [user("one"), assistant("First."), user("and one more thing"), assistant("Second.")]


async def test_a_queued_message_can_be_taken_back() -> None:
    world = make(["x"])
    world.agent.steer(UserInput("a"))
    world.agent.steer(UserInput("b"))
    assert world.agent.take_back() == UserInput("b")
    await world.turn("c")
    assert world.state.messages[0] == user("a", "c")
    assert world.agent.take_back() is None


async def test_a_failed_attempt_is_void_and_the_whole_answer_comes_once() -> None:
    script = [
        Answer((TextBlock("Hello wor", "model"), call("Put", id="dead")), fail="connection lost"),
        say("Hello world", call("Put", id="c1")),
        "Done.",
    ]
    world = make(script)
    await world.turn()
    assert [type(e) for e in world.seen((AttemptDiscarded, AssistantMessage))] == [
        AttemptDiscarded,
        AssistantMessage,
        AssistantMessage,
    ]
    assert [e.tool_use_id for e in world.seen(ToolStarted)] == ["c1"]
    after = world.events[[type(e) for e in world.events].index(AttemptDiscarded) :]
    assert "".join(e.text for e in after if isinstance(e, TextDelta)) == "Hello worldDone."
    assert len(world.requests) == 2


async def test_an_api_error_ends_the_turn_and_the_prompt_is_kept() -> None:
    error = ApiError("Overloaded.", kind="overloaded", status=529)
    retry = RetryPlanned(1, 10, 0.5, 529, "overloaded_error", "Overloaded")
    world = make([Answer((), before=(retry,), error=error), "Here I am."])
    finished = await world.turn("one")
    assert (finished.outcome, finished.error, finished.error_kind, finished.error_status) == (
        "api_error",
        "Overloaded.",
        "overloaded",
        529,
    )
    assert world.state.messages == [user("one")]
    await world.turn("two")
    assert world.state.messages == [user("one", "two"), assistant("Here I am.")]


async def test_a_half_answer_of_the_last_failed_try_is_discarded() -> None:
    world = make([Answer((TextBlock("Half an", "model"),), error=StreamError("broke off"))])
    finished = await world.turn("one")
    assert (finished.outcome, finished.error_kind, finished.text) == ("api_error", "stream", "")
    assert world.seen(AttemptDiscarded) == [AttemptDiscarded("broke off")]
    assert world.state.messages == [user("one")]


async def test_a_fault_of_the_engine_ends_the_turn_and_not_the_session() -> None:
    def fault(request: object) -> str:
        raise RuntimeError("surprise")

    world = make([fault, "Fine."])
    finished = await world.turn("one")
    assert (finished.outcome, finished.error_kind, finished.error) == ("error", "bug", "RuntimeError: surprise")
    assert (await world.turn("two")).outcome == "completed"


async def test_only_one_turn_at_a_time() -> None:
    world = make([say("slow " * 50)], delay=0.01)
    first = asyncio.create_task(world.turn())
    await world.until(TextDelta)
    with pytest.raises(Bug):
        await world.turn()
    world.agent.interrupt()
    assert (await first).outcome == "interrupted"


async def test_the_step_limit_stops_before_the_next_request() -> None:
    world = make([say(call("Echo")), say(call("Echo")), "never"], limits=Limits(max_turns=2))
    finished = await world.turn()
    assert (finished.outcome, finished.steps, len(world.requests)) == ("max_turns", 2, 2)
    assert not repair(world.state.messages).notes


async def test_the_budget_stops_before_the_next_request() -> None:
    world = make([say(call("Echo")), "never"], limits=Limits(max_budget_usd=0.000001))
    finished = await world.turn()
    assert (finished.outcome, finished.steps, finished.error_kind) == ("budget", 1, "budget")


async def test_a_budget_that_cannot_be_kept_is_told_once() -> None:
    world = make(["a", "b"], limits=Limits(max_budget_usd=0.000001))
    world.state.model = "some-local-model"
    assert [(await world.turn()).outcome, (await world.turn()).outcome] == ["completed", "completed"]
    assert [n.code for n in world.seen(Notice)] == ["unknown_cost"]


async def test_a_paused_answer_that_never_went_on_does_not_block_the_next_prompt() -> None:
    search = OpaqueBlock({"type": "server_tool_use", "id": "srv1", "name": "web_search", "input": {}})
    error = ApiError("Overloaded.", kind="overloaded", status=529)
    world = make([Answer((TextBlock("Let me see.", "model"), search), "pause_turn"), Answer((), error=error), "Fine."])
    assert (await world.turn("one")).outcome == "api_error"
    assert (await world.turn("two")).outcome == "completed"
    assert world.state.messages == [user("one"), assistant("Let me see."), user("two"), assistant("Fine.")]
    assert [n.code for n in world.seen(Notice)] == ["repaired"]


async def test_a_hook_can_block_a_prompt_and_add_context_to_one() -> None:
    world = make(["Hi."])
    world.hooks.verdicts["UserPromptSubmit"] = HookVerdict(behavior="deny", reason="no secrets, please")
    finished = await world.turn("my key is 123")
    assert (finished.outcome, finished.error) == ("hook_stopped", "no secrets, please")
    assert world.state.messages == []
    world.hooks.verdicts["UserPromptSubmit"] = HookVerdict(context=("It is Monday.",))
    await world.turn("hi")
    assert world.state.messages == [user(reminder("It is Monday."), "hi"), assistant("Hi.")]


async def test_a_silent_stop_hook_lets_the_turn_end() -> None:
    world = make(["Done."])
    assert (await world.turn()).outcome == "completed"
    assert [e.fields for e in world.hooks.fired if e.name == "Stop"] == [
        {"stop_hook_active": False, "last_assistant_message": "Done."}
    ]


async def test_an_objecting_stop_hook_is_heard_a_bounded_number_of_times() -> None:
    world = make(["a", "b", "c", "d"], limits=Limits(stop_hook_cap=2))
    world.hooks.verdicts["Stop"] = HookVerdict(behavior="deny", reason="run the tests")
    finished = await world.turn()
    assert (finished.outcome, finished.error_kind, finished.steps) == ("hook_stopped", "stop_hook", 3)
    active = [e.fields["stop_hook_active"] for e in world.hooks.fired if e.name == "Stop" and e.fields]
    assert active == [False, True, True]
    assert world.state.messages[2] == user(reminder("A Stop hook wants you to go on: run the tests"))


async def test_a_hook_can_end_the_turn_after_the_calls() -> None:
    def stop(event: HookEvent) -> HookVerdict:
        return HookVerdict(stop=True, stop_reason="enough")

    world = make([say(call("Echo", id="c1"), call("Put", id="c2"))])
    world.hooks.verdicts["PostToolUse"] = stop
    finished = await world.turn()
    assert (finished.outcome, finished.error) == ("hook_stopped", "enough")
    assert [(id, failed) for id, _, failed in result_texts(world.state.messages[2])] == [("c1", False), ("c2", True)]


async def test_the_journal_holds_everything_that_was_sent_in_order() -> None:
    world = make([say("I look.", call("Echo", id="c1")), "Done."])
    await world.turn("one")
    kinds = [e["kind"] for e in world.journal.entries if e["kind"] != "delta"]
    assert kinds == ["message", "prefix", "message", "result", "message", "message", "turn_end"]
    records = [e["message"] for e in world.journal.entries if e["kind"] == "message"]
    assert records == [message_to_record(m) for m in world.state.messages]


async def test_a_line_is_in_the_journal_before_its_effect_is_shown() -> None:
    world = make([say("Hello there", call("Echo", id="c1")), "Done."])
    shown: list[tuple[str, int]] = []
    emit = world.events.append

    def watch(event: object) -> None:
        text = "".join(e["text"] for e in world.journal.entries if e["kind"] == "delta")
        if isinstance(event, TextDelta):
            seen.append(event.text)
            assert text == "".join(seen)
        if isinstance(event, AssistantMessage | ToolResultsAppended | PromptAccepted):
            assert world.journal.entries[-1]["message"] == message_to_record(event.message)
            shown.append((type(event).__name__, len(world.journal.entries)))
        if isinstance(event, ToolFinished):
            assert world.journal.entries[-1]["kind"] == "result"
        emit(event)  # type: ignore[arg-type]  # only events come here

    seen: list[str] = []
    again = make(world.model, emit=watch)
    again.agent.rooms.journal.entries = world.journal.entries  # type: ignore[attr-defined]  # a MemoryJournal
    await again.turn("one")
    assert [name for name, _ in shown] == [
        "PromptAccepted",
        "AssistantMessage",
        "ToolResultsAppended",
        "AssistantMessage",
    ]


async def test_a_rewind_takes_the_conversation_back_and_says_so() -> None:
    world = make(["One.", "Two.", "Three."])
    await world.turn("first")
    await world.turn("second")
    assert world.agent.turn_starts() == [0, 2]
    world.agent.rewind(2)
    await world.turn("other")
    assert world.state.messages == [user("first"), assistant("One."), user("other"), assistant("Three.")]
    assert world.requests[-1].intent == "rewind"
    assert {"kind": "rewind", "keep": 2} in world.journal.entries


async def test_notices_of_the_model_client_reach_the_user() -> None:
    from agentcli.ports.model import ModelNotice

    world = make([Answer((TextBlock("x", "model"),), before=(ModelNotice("beta switched off", "beta"),))])
    await world.turn()
    assert world.seen(Notice) == [Notice("info", "beta switched off", "beta")]
