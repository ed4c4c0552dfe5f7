"""Server-sent events from bytes, however they are cut."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentcli.model.sse import ServerEvent, SseError, SseParser


def parse(*chunks: bytes) -> list[ServerEvent]:
    parser = SseParser()
    return [event for chunk in chunks for event in parser.feed(chunk)]


@pytest.mark.parametrize(
    ("stream", "events"),
    [
        (b"event: a\ndata: 1\n\n", [ServerEvent("a", "1")]),
        (b"event:a\r\ndata:1\r\n\r\n", [ServerEvent("a", "1")]),
        (b"event: a\rdata: 1\r\r\n", [ServerEvent("a", "1")]),
        (b"data: 1\ndata: 2\n\ndata: 3\n\n", [ServerEvent("", "1\n2"), ServerEvent("", "3")]),
        (b": keep alive\n\nid: 7\nretry: 3\ndata: x\n\n", [ServerEvent("", "x")]),
        (b"event: a\n\ndata: x\n\n", [ServerEvent("", "x")]),
        (b"data: cut off\n", []),
        ("data: \u2028\u0085\x0b\x0c\x1c\n\n".encode(), [ServerEvent("", "\u2028\u0085\x0b\x0c\x1c")]),
    ],
)
def test_events(stream: bytes, events: list[ServerEvent]) -> None:
    assert parse(stream) == events


def test_an_event_is_there_with_its_last_byte() -> None:
    """Whatever the line ends, nothing waits for the bytes of the next event, or for the end of the stream."""
    for end in ("\n", "\r\n", "\r"):
        stream = f"event: a{end}data: 1{end}{end}".encode()
        needed = stream[:-1] if end == "\r\n" else stream
        assert parse(*(bytes([b]) for b in needed)) == [ServerEvent("a", "1")]
        assert parse(*(bytes([b]) for b in stream), stream) == [ServerEvent("a", "1")] * 2


def test_a_carriage_return_at_a_cut_takes_one_newline_at_most() -> None:
    assert parse(b"data: 1\r", b"\n", b"\n", b"data: 2\r", b"", b"\n\r", b"\n") == [
        ServerEvent("", "1"),
        ServerEvent("", "2"),
    ]


def test_bytes_that_are_no_text_are_refused() -> None:
    with pytest.raises(SseError, match="not UTF-8"):
        parse(b"data: \xff\xfe\n\n")


WORDS = st.text(st.characters(exclude_categories=["Cs"]))


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.dictionaries(WORDS, WORDS, max_size=2), max_size=4), st.sampled_from(["\n", "\r\n", "\r"]), st.data()
)
def test_any_cut_gives_the_same_events(values, end, data) -> None:
    texts = [json.dumps(v, ensure_ascii=False) for v in values]
    stream = "".join(f"event: e{end}data: {t}{end}{end}" for t in texts).encode()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=6)))
    chunks = [stream[a:b] for a, b in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    assert parse(*chunks) == [ServerEvent("e", t) for t in texts]
