"""Whatever happened to a conversation, the repaired one is one that the API takes."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from agentcli.messages import (
    LOST,
    Block,
    Message,
    OpaqueBlock,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
    append,
    assistant,
    message_from_record,
    message_to_api,
    message_to_record,
    repair,
    user,
)
from tests.api.models import find
from tests.api.validate.messages import check_pairs, check_roles

MODEL = find("claude-sonnet-5-5", any_model=False)
IDS = st.sampled_from(["a", "b", "c", "d"])
TEXTS = st.sampled_from(["", " \n", "words", "half \ud83d", "😀"])
RESULTS = st.builds(ToolResultBlock, IDS, st.lists(st.builds(TextBlock, TEXTS), max_size=2).map(tuple), st.booleans())
BLOCKS: st.SearchStrategy[Block] = st.one_of(
    st.builds(TextBlock, TEXTS),
    st.builds(ToolUseBlock, IDS, st.just("Echo"), st.just({"x": 1})),
    RESULTS,
    st.just(ThinkingBlock("hm", "sig")),
    st.just(OpaqueBlock({"type": "server_tool_use", "id": "srv", "name": "web_search", "input": {}})),
)
CONVERSATIONS = st.lists(
    st.builds(Message, st.sampled_from(["user", "assistant"]), st.lists(BLOCKS, max_size=4).map(tuple)), max_size=8
)


def assert_valid(messages: tuple[Message, ...]) -> None:
    """The test server's own rules for conversations."""
    sent = [message_to_api(m) for m in messages]
    assert MODEL is not None
    if not sent:
        return
    for message in sent:
        for block in message["content"]:
            if block["type"] == "text":
                block["text"].encode()
    if sent[-1]["role"] == "user":
        check_roles(sent, MODEL, strict=True)
    check_pairs(sent)
    for message in sent:
        assert message["content"]
        texts = [b for b in message["content"] if b["type"] == "text"]
        inner = [c for b in message["content"] if b["type"] == "tool_result" for c in b["content"]]
        texts += [c for c in inner if c["type"] == "text"]
        assert all(t["text"].strip() for t in texts)


def plausible(messages: list[Message]) -> list[Message]:
    """Thinking and server calls only in answers, as every reader of ours makes them."""
    return [
        Message(
            m.role,
            tuple(b for b in m.content if m.role == "assistant" or not isinstance(b, ThinkingBlock | OpaqueBlock)),
        )
        for m in messages
    ]


@given(CONVERSATIONS)
@settings(max_examples=150, deadline=None)
def test_any_sequence_becomes_valid_and_a_second_repair_changes_nothing(messages: list[Message]) -> None:
    once = repair(plausible(messages))
    assert_valid(once.messages)
    twice = repair(once.messages)
    assert twice.messages == once.messages
    assert not twice.notes


@st.composite
def valid_conversation(draw: st.DrawFn) -> list[Message]:
    messages: list[Message] = []
    for turn in range(draw(st.integers(1, 4))):
        append(messages, user(f"prompt {turn}"))
        for step in range(draw(st.integers(0, 3))):
            calls = [ToolUseBlock(f"t{turn}s{step}c{i}", "Echo", {}) for i in range(draw(st.integers(1, 3)))]
            append(messages, assistant(ThinkingBlock("hm", "sig"), f"step {step}", *calls))
            append(messages, user(*(ToolResultBlock(c.id, (TextBlock("r"),)) for c in calls)))
        append(messages, assistant("Done."))
    return messages


@given(valid_conversation())
@settings(max_examples=60, deadline=None)
def test_a_valid_conversation_comes_back_as_the_same_objects(messages: list[Message]) -> None:
    mended = repair(messages)
    assert not mended.notes
    assert all(a is b for a, b in zip(mended.messages, messages, strict=True))


@given(valid_conversation(), st.data())
@settings(max_examples=100, deadline=None)
def test_a_conversation_that_lost_any_of_its_messages_is_mended(messages: list[Message], data: st.DataObject) -> None:
    lost = data.draw(st.sets(st.integers(0, len(messages) - 1)))
    mended = repair([m for i, m in enumerate(messages) if i not in lost])
    assert_valid(mended.messages)
    kept = [b for m in mended.messages for b in m.content if isinstance(b, ToolUseBlock)]
    answered = [r.tool_use_id for m in mended.messages for r in m.tool_results()]
    assert [c.id for c in kept] == answered


def test_an_open_call_gets_a_result_that_says_so() -> None:
    mended = repair([user("go"), assistant(ToolUseBlock("a", "Bash", {}))])
    assert mended.messages == (
        user("go"),
        assistant(ToolUseBlock("a", "Bash", {})),
        user(ToolResultBlock("a", (TextBlock(LOST),), is_error=True)),
    )
    assert mended.notes == ("added a result for the open call Bash",)
    assert not repair(mended.messages).notes


def test_results_are_put_in_order_in_front_of_the_words() -> None:
    calls = (ToolUseBlock("a", "A", {}), ToolUseBlock("b", "B", {}))
    first, second = ToolResultBlock("a", (TextBlock("1"),)), ToolResultBlock("b", (TextBlock("2"),))
    mended = repair([user("go"), assistant(*calls), user("words", second, first, second)])
    assert mended.messages[2] == user(first, second, "words")
    assert mended.notes


def test_an_unfinished_call_of_the_server_stays_only_in_the_last_answer() -> None:
    search = OpaqueBlock({"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}})
    found = OpaqueBlock({"type": "web_search_tool_result", "tool_use_id": "s", "content": []})
    paused = [user("go"), assistant("I search.", search)]
    assert repair(paused).messages == tuple(paused)
    assert repair([*paused, assistant(found)]).messages == (user("go"), assistant("I search.", search, found))
    assert repair([*paused, user("next")]).messages == (user("go"), assistant("I search."), user("next"))


def test_a_block_of_an_unknown_kind_is_dropped_and_named() -> None:
    damaged = OpaqueBlock({"type": "tex", "text": "lost"})
    upload = OpaqueBlock({"type": "container_upload", "file_id": "f"})
    summary = OpaqueBlock({"type": "compaction", "content": "summary"})
    kept = [user("go", upload), assistant("Went.", summary)]
    assert repair(kept, recorded=True).messages == tuple(kept)
    wrong = [user("go", upload, damaged, summary), assistant("Went.", summary, damaged), user(damaged, "on")]
    assert repair(wrong).messages == tuple(wrong)
    mended = repair(wrong, recorded=True)
    assert mended.messages == (*kept, user("on"))
    assert mended.notes.count("dropped a block of the unknown kind 'tex'") == 3
    assert mended.notes.count("dropped a block of the unknown kind 'compaction'") == 1


def test_what_is_appended_to_the_same_role_joins_the_last_message() -> None:
    messages = [user("one")]
    append(messages, user("two"))
    append(messages, assistant())
    append(messages, assistant("three"))
    assert messages == [user("one", "two"), assistant("three")]


@given(CONVERSATIONS)
@settings(max_examples=60, deadline=None)
def test_a_message_comes_back_from_its_record_with_the_same_bytes(messages: list[Message]) -> None:
    for message in messages:
        again = message_from_record(message_to_record(message))
        assert message_to_api(again) == message_to_api(message)
