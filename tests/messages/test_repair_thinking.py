"""Repairing drops the thinking behind the first change, which is bound to what stood in front of it."""

from __future__ import annotations

from agentcli.messages import Message, RedactedThinkingBlock, ThinkingBlock, assistant, repair, user
from agentcli.messages.blocks import TextBlock, ToolResultBlock, ToolUseBlock

EARLY, LATE = ThinkingBlock("early", "s1"), ThinkingBlock("late", "s2")
CALL, RESULT = ToolUseBlock("t1", "Read", {}), ToolResultBlock("t1", (TextBlock("x"),))


def test_thinking_in_front_of_the_change_stays_and_behind_it_goes() -> None:
    messages = [user("a"), assistant(EARLY, "b"), user("c", " "), assistant(LATE, "d"), user("e")]
    mended = repair(messages)
    assert mended.messages == (user("a"), assistant(EARLY, "b"), user("c"), assistant("d"), user("e"))
    assert mended.notes == ("dropped an empty text", "dropped thinking behind what was changed")
    assert repair(mended.messages).messages == mended.messages


def test_a_missing_result_binds_what_was_thought_behind_it() -> None:
    messages = [user("a"), assistant(EARLY, CALL), user("b"), assistant(RedactedThinkingBlock("r"), "c")]
    mended = repair(messages).messages
    assert mended[1] == assistant(EARLY, CALL)
    assert mended[3] == assistant("c")


def test_an_open_call_at_the_end_drops_nothing() -> None:
    mended = repair([user("a"), assistant(EARLY, CALL)]).messages
    assert mended[:2] == (user("a"), assistant(EARLY, CALL))


def test_joining_equal_roles_changes_no_block_and_drops_nothing() -> None:
    mended = repair([user("a"), user("b"), assistant(EARLY, CALL), user(RESULT), assistant(LATE, "d")]).messages
    assert mended[0] == user("a", "b")
    assert mended[3] == Message("assistant", (LATE, TextBlock("d", "model")))
