"""Every stop reason, and what must not go on for ever."""

from __future__ import annotations

import pytest

from agentcli.agent.stops import CALL_CUT, CUT_OFF, EMPTY, NOTHING_VISIBLE
from agentcli.events import AssistantMessage, AttemptDiscarded, ToolStarted
from agentcli.messages import OpaqueBlock, TextBlock, ThinkingBlock, ToolUseBlock, assistant, repair, user
from agentcli.model.scripted import Answer, call, say
from tests.agent.test_loop import reminder
from tests.agent.world import make, result_texts


def cut(*blocks: object, partial: str | None = None) -> Answer:
    return Answer(say(*blocks).blocks, "max_tokens", partial_json=partial)  # type: ignore[arg-type]  # blocks


@pytest.mark.parametrize(
    ("partial", "kept"),
    [
        ('{"file_path":"doc.md","content":"# Part one', {}),
        ('{"file_path":"doc.md"}', {"file_path": "doc.md"}),
        ("", {}),
    ],
)
async def test_a_call_that_the_output_limit_cut_never_runs(partial: str, kept: dict[str, str]) -> None:
    world = make([cut(call("Put", id="a"), partial=partial), "Smaller, then."])
    assert (await world.turn()).outcome == "completed"
    assert world.seen(ToolStarted) == []
    assert world.state.messages[1] == assistant(ToolUseBlock("a", "Put", kept))
    assert result_texts(world.state.messages[2]) == [("a", CALL_CUT, True)]


async def test_whole_calls_in_front_of_the_cut_one_run() -> None:
    world = make([cut(call("Echo", id="a", text="x"), call("Put", id="b"), partial='{"x'), "Done."])
    await world.turn()
    assert result_texts(world.state.messages[2]) == [("a", "echo x", False), ("b", CALL_CUT, True)]


async def test_a_cut_text_is_kept_and_the_model_goes_on() -> None:
    world = make([cut("Part one"), " and part two."])
    finished = await world.turn()
    assert (finished.outcome, finished.steps) == ("completed", 2)
    assert world.state.messages == [
        user("go"),
        assistant("Part one"),
        user(reminder(CUT_OFF)),
        assistant(" and part two."),
    ]


async def test_three_cuts_in_a_row_end_the_turn() -> None:
    script = [cut(call("Put", id=f"c{i}"), partial='{"a') for i in range(5)]
    world = make(script)
    finished = await world.turn()
    assert (finished.outcome, finished.steps, finished.error_kind) == ("output_limit", 3, "max_tokens")
    assert not repair(world.state.messages).notes


async def test_thinking_that_used_up_the_limit_is_told_and_not_stored() -> None:
    world = make([Answer((), "max_tokens"), "Short."])
    await world.turn()
    assert world.state.messages == [user("go", reminder(NOTHING_VISIBLE)), assistant("Short.")]


async def test_a_paused_answer_is_sent_back_as_it_is() -> None:
    search = OpaqueBlock({"type": "server_tool_use", "id": "srv1", "name": "web_search", "input": {"query": "x"}})
    found = OpaqueBlock({"type": "web_search_tool_result", "tool_use_id": "srv1", "content": []})
    world = make([Answer((TextBlock("Let me see.", "model"), search), "pause_turn"), say(found, "Here.")])
    finished = await world.turn()
    assert finished.outcome == "completed"
    assert world.sent(1) == [
        {"role": "user", "content": [{"type": "text", "text": "go"}]},
        {"role": "assistant", "content": [{"type": "text", "text": "Let me see."}, dict(search.raw)]},
    ]
    assert world.state.messages == [user("go"), assistant("Let me see.", search, found, "Here.")]


async def test_endless_pauses_end_the_turn() -> None:
    search = OpaqueBlock({"type": "server_tool_use", "id": "srv1", "name": "web_search", "input": {}})
    world = make([], tools={})
    world.model.otherwise = Answer((search,), "pause_turn")  # type: ignore[attr-defined]  # a ScriptedClient
    finished = await world.turn()
    assert (finished.outcome, finished.error_kind, finished.steps) == ("error", "pause_turn", 11)


async def test_a_refusal_is_told_and_not_kept() -> None:
    world = make([Answer((TextBlock("I can", "model"),), "refusal"), "Gladly."])
    finished = await world.turn("one")
    assert (finished.outcome, finished.error_kind, finished.text) == ("refusal", "refusal", "")
    assert finished.usage.output > 0
    assert world.state.messages == [user("one")]
    assert world.seen(AttemptDiscarded) == [AttemptDiscarded("refusal")]
    assert world.seen(AssistantMessage) == []
    await world.turn("two")
    assert world.state.messages == [user("one", "two"), assistant("Gladly.")]


async def test_an_empty_answer_is_asked_again_once_and_never_stored() -> None:
    world = make([say(call("Echo", id="a")), Answer(()), "Done."])
    finished = await world.turn()
    assert (finished.outcome, finished.text) == ("completed", "Done.")
    assert world.state.messages[2].content[1:] == (reminder(EMPTY),)
    world = make([Answer(()), Answer(())])
    finished = await world.turn()
    assert (finished.outcome, finished.text, finished.steps) == ("completed", "", 2)
    assert [m.role for m in world.state.messages] == ["user"]


async def test_calls_run_whatever_the_stop_reason_of_a_local_server_says() -> None:
    world = make(
        [Answer((call("Echo", id="a", text="x"),), "stop_sequence"), Answer((TextBlock("k", "model"),), "new")]
    )
    assert (await world.turn()).outcome == "completed"
    assert result_texts(world.state.messages[2]) == [("a", "echo x", False)]


async def test_thinking_is_kept_untouched() -> None:
    thought = ThinkingBlock("hm", "sig")
    world = make([say(thought, call("Echo", id="a")), "Done."])
    await world.turn()
    assert world.state.messages[1] == assistant(thought, ToolUseBlock("a", "Echo", {}))
