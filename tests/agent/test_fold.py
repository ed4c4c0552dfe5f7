"""One attempt's raw events → blocks."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agentcli.agent.fold import NOT_UNICODE, AnswerFold, parse_input
from agentcli.events import TextDelta, ThinkingDelta, ToolCallStarted
from agentcli.messages import (
    OpaqueBlock,
    TextBlock,
    ThinkingBlock,
    ToolUseBlock,
    Usage,
    block_from_record,
    block_to_api,
    block_to_record,
)


def start(index: int, **block: Any) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": block}


def delta(index: int, kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **fields}}


def stop(index: int) -> dict[str, Any]:
    return {"type": "content_block_stop", "index": index}


def fed(*events: dict[str, Any], taken: tuple[str, ...] = ()) -> tuple[AnswerFold, list[Any]]:
    fold = AnswerFold(taken)
    derived = [e for raw in events for e in fold.feed(raw)]
    return fold, derived


def test_a_pair_that_was_split_over_two_deltas_comes_out_whole() -> None:
    fold, derived = fed(
        start(0, type="text", text=""),
        delta(0, "text_delta", text="a\ud83d"),
        delta(0, "text_delta", text="\ude00b"),
        stop(0),
    )
    assert derived == [TextDelta("a"), TextDelta("😀b")]
    assert fold.blocks() == (TextBlock("a😀b", "model"),)


def test_a_half_that_never_gets_its_other_half_is_replaced() -> None:
    fold, derived = fed(start(0, type="text", text=""), delta(0, "text_delta", text="a\ud83d"), stop(0))
    assert derived == [TextDelta("a"), TextDelta("\ufffd")]
    assert fold.blocks() == (TextBlock("a\ufffd", "model"),)


def test_a_half_in_a_calls_input_is_a_fault_and_a_split_pair_is_none() -> None:
    fold, _ = fed(
        start(0, type="tool_use", id="a", name="Write", input={}),
        delta(0, "input_json_delta", partial_json='{"content":"\\ud83d"}'),
        stop(0),
        start(1, type="tool_use", id="b", name="Write", input={}),
        delta(1, "input_json_delta", partial_json='{"content":"\ud83d'),
        delta(1, "input_json_delta", partial_json='\ude00"}'),
        stop(1),
    )
    assert fold.blocks() == (
        ToolUseBlock("a", "Write", {"content": "\ufffd"}),
        ToolUseBlock("b", "Write", {"content": "😀"}),
    )
    assert fold.faults == {"a": NOT_UNICODE}


@pytest.mark.parametrize("text", ["{", "[1]", "nonsense", '{"a": NaN}', '{"a": -1e400}', "[" * 100_000])
def test_an_input_that_is_no_json_object_becomes_empty_with_a_fault(text: str) -> None:
    value, fault = parse_input(text)
    assert value == {}
    assert "not a valid JSON object" in fault


def test_an_input_without_deltas_is_empty_or_what_the_start_said() -> None:
    fold, derived = fed(
        start(0, type="tool_use", id="a", name="A", input={}),
        stop(0),
        start(1, type="tool_use", id="b", name="B", input={"x": 1}),
        stop(1),
    )
    assert fold.blocks() == (ToolUseBlock("a", "A", {}), ToolUseBlock("b", "B", {"x": 1}))
    assert derived == [ToolCallStarted("a", "A"), ToolCallStarted("b", "B")]


def test_ids_are_unique_and_acceptable() -> None:
    calls = [start(i, type="tool_use", id=id, name="A", input={}) for i, id in enumerate(["a", "a", "", "ü", "old"])]
    _, derived = fed(*calls, taken=("old",))
    ids = [e.tool_use_id for e in derived]
    assert ids[0] == "a"
    assert len({*ids, "old"}) == 6
    assert all(i.isascii() and i for i in ids)


def test_thinking_keeps_its_signature() -> None:
    fold, derived = fed(
        start(0, type="thinking", thinking="", signature=""),
        delta(0, "thinking_delta", thinking="hm"),
        delta(0, "signature_delta", signature="s1"),
        delta(0, "signature_delta", signature="s2"),
        stop(0),
    )
    assert derived == [ThinkingDelta("hm")]
    assert fold.blocks() == (ThinkingBlock("hm", "s1s2"),)


def test_unknown_blocks_events_and_deltas_pass() -> None:
    fold, derived = fed(
        {"type": "brand_new_event", "x": 1},
        start(0, type="server_tool_use", id="s", name="web_search", input={}),
        delta(0, "input_json_delta", partial_json='{"query":'),
        delta(0, "input_json_delta", partial_json='"x"}'),
        stop(0),
        start(1, type="compaction", content=""),
        delta(1, "compaction_delta", content="sum"),
        delta(1, "compaction_delta", content="mary"),
        stop(1),
        start(2, type="text", text=""),
        delta(2, "brand_new_delta", text="lost"),
        delta(2, "text_delta", text="x"),
        delta(9, "text_delta", text="no such block"),
        stop(9),
    )
    assert derived == [TextDelta("x")]
    assert fold.blocks() == (
        OpaqueBlock({"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "x"}}),
        OpaqueBlock({"type": "compaction", "content": "summary"}),
        TextBlock("x", "model"),
    )


def test_citations_stay_with_their_text_and_go_back_in_the_same_bytes() -> None:
    cites = [{"type": "web_search_result_location", "url": f"https://{n}.test", "encrypted_index": n} for n in "ab"]
    fold, _ = fed(
        start(0, type="text", text="", citations=[]),
        delta(0, "text_delta", text="So."),
        *(delta(0, "citations_delta", citation=c) for c in cites),
        stop(0),
    )
    (block,) = fold.blocks()
    assert block == TextBlock("So.", "model", tuple(cites))
    sent = {"type": "text", "text": "So.", "citations": cites}
    assert json.dumps(block_to_api(block)) == json.dumps(sent)
    assert block_from_record(block_to_record(block)) == block


def test_searches_of_an_interrupted_answer_are_counted_by_their_results() -> None:
    failed = {"type": "web_search_tool_result_error", "error_code": "unavailable"}
    fold, _ = fed(
        {"type": "message_start", "message": {"id": "m", "model": "x", "usage": {"input_tokens": 5}}},
        start(0, type="server_tool_use", id="s", name="web_search", input={}),
        stop(0),
        start(1, type="web_search_tool_result", tool_use_id="s", content=[]),
        stop(1),
        start(2, type="web_search_tool_result", tool_use_id="t", content=failed),
    )
    assert fold.usage() == Usage(input=5, web_searches=1)


def test_empty_texts_are_dropped() -> None:
    fold, _ = fed(start(0, type="text", text=""), stop(0), start(1, type="text", text=" \n"), stop(1))
    assert fold.blocks() == ()


def test_usage_is_what_the_stream_said_last() -> None:
    usage = {
        "input_tokens": 5,
        "output_tokens": 1,
        "cache_read_input_tokens": 7,
        "cache_creation_input_tokens": 30,
        "cache_creation": {"ephemeral_5m_input_tokens": 10, "ephemeral_1h_input_tokens": 20},
    }
    fold, _ = fed(
        {"type": "message_start", "message": {"id": "m", "model": "x", "usage": usage}},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 9}},
    )
    assert fold.usage() == Usage(input=5, output=9, cache_read=7, cache_write_5m=10, cache_write_1h=20)
    assert (fold.model, fold.message_id, fold.stop_reason) == ("x", "m", "end_turn")
    assert AnswerFold().usage() == Usage()


def test_an_interrupted_attempt_keeps_text_and_whole_calls() -> None:
    fold, _ = fed(
        start(0, type="thinking", thinking=""),
        delta(0, "signature_delta", signature="s"),
        stop(0),
        start(1, type="tool_use", id="a", name="A", input={}),
        delta(1, "input_json_delta", partial_json="{}"),
        stop(1),
        start(2, type="text", text=""),
        delta(2, "text_delta", text="Hello wor"),
        start(3, type="tool_use", id="b", name="B", input={}),
        delta(3, "input_json_delta", partial_json='{"half'),
    )
    assert fold.partial() == (ThinkingBlock("", "s"), ToolUseBlock("a", "A", {}), TextBlock("Hello wor", "model"))


def test_an_interrupted_attempt_of_thinking_alone_leaves_nothing() -> None:
    fold, _ = fed(start(0, type="thinking", thinking=""), delta(0, "thinking_delta", thinking="hm"), stop(0))
    assert fold.partial() == ()


def test_a_large_input_takes_linear_time() -> None:
    text = json.dumps({"content": "x" * 500_000})
    pieces = [delta(0, "input_json_delta", partial_json=text[i : i + 12]) for i in range(0, len(text), 12)]
    fold, _ = fed(start(0, type="tool_use", id="a", name="A", input={}), *pieces, stop(0))
    assert fold.blocks() == (ToolUseBlock("a", "A", {"content": "x" * 500_000}),)
