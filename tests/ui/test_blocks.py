"""Streamed Markdown is split into finished blocks: the same ones however the text arrives, and none of it is lost."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from agentcli.ui.terminal.output.blocks import FENCE_PIECE, BlockSplitter, Piece

LINES = st.sampled_from(
    [
        "",
        "word and word",
        "  indented",
        "    code",
        "# heading",
        "- item",
        "  - child",
        "* star",
        "1. one",
        "22. two",
        "> quote",
        "```",
        "```python",
        "~~~~",
        "   ```",
        "| a | b |",
        "|---|---|",
        "---",
        "***",
        "\ttab",
        "한국어 문장",
    ]
)


def split(text: str) -> list[Piece]:
    splitter = BlockSplitter()
    return [*splitter.feed(text), *splitter.finish()]


def test_blocks_are_finished_one_by_one() -> None:
    splitter = BlockSplitter()
    assert splitter.feed("First para") == []
    assert splitter.feed("graph\nsecond line\n") == []
    assert splitter.tail == Piece("block", "First paragraph\nsecond line")
    assert splitter.feed("\n# Title\n") == [
        Piece("block", "First paragraph\nsecond line"),
        Piece("block", "# Title"),
    ]
    assert splitter.tail is None


def test_list_items_come_one_by_one_with_their_children() -> None:
    assert split("1. one\n   - child\n\n   more\n2. two\ncontinued\n\nafter\n") == [
        Piece("item", "1. one\n   - child\n\n   more", spaced=True),
        Piece("item", "2. two\ncontinued", spaced=False),
        Piece("block", "after"),
    ]


def test_a_fence_inside_an_item_stays_with_it() -> None:
    assert split("- item\n  ```sh\n  - not an item\n\n  ls\n  ```\n- next\n") == [
        Piece("item", "- item\n  ```sh\n  - not an item\n\n  ls\n  ```"),
        Piece("item", "- next", spaced=False),
    ]


def test_a_long_fence_is_handed_out_while_it_is_written() -> None:
    splitter = BlockSplitter()
    done = splitter.feed("```python\n" + "".join(f"line {n}\n" for n in range(FENCE_PIECE + 1)))
    first = "\n".join(f"line {n}" for n in range(FENCE_PIECE))
    assert done == [Piece("code", first, spaced=True, language="python", first=True)]
    assert splitter.feed("```\n") == [
        Piece("code", f"line {FENCE_PIECE}", spaced=False, language="python", first=False)
    ]


def test_an_unclosed_fence_is_code_at_the_end() -> None:
    assert split("```\nls -la") == [Piece("code", "ls -la")]


def test_blank_lines_and_marks_inside_a_fence_are_code() -> None:
    assert split("````md\n# no heading\n\n```\n- no item\n````\ntext\n") == [
        Piece("code", "# no heading\n\n```\n- no item", language="md"),
        Piece("block", "text"),
    ]


def test_underlined_headings_and_tables_stay_whole() -> None:
    assert split("Title\n---\n\n| a |\n|---|\n| 1 |\n\n---\n") == [
        Piece("block", "Title\n---"),
        Piece("block", "| a |\n|---|\n| 1 |"),
        Piece("block", "---"),
    ]


@settings(max_examples=80, deadline=None)
@given(st.lists(LINES, max_size=25).map("\n".join), st.data())
def test_the_way_it_arrives_makes_no_difference(text: str, data: st.DataObject) -> None:
    splitter = BlockSplitter()
    pieces: list[Piece] = []
    at = 0
    while at < len(text):
        size = data.draw(st.integers(1, 12))
        pieces += splitter.feed(text[at : at + size])
        at += size
    pieces += splitter.finish()
    assert pieces == split(text)


@settings(max_examples=80, deadline=None)
@given(st.lists(LINES, max_size=25))
def test_no_word_is_lost_and_the_order_is_kept(lines: list[str]) -> None:
    shown = "\n".join(piece.text for piece in split("\n".join(lines)))
    words = [w for line in lines for w in line.split() if w[0].isalnum() and w[-1].isalpha()]
    found = [w for w in shown.split() if w in words]
    assert found == [w for w in words if w in found]
    assert len(found) == len(words)
