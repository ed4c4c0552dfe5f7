"""Which lines of a Markdown text are code, and which comments are left out."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentcli.memory.comments import Line, read_lines


def code(text: str) -> list[str]:
    return [line.text for line in read_lines(text).lines if line.code]


@pytest.mark.parametrize(
    ("text", "inside"),
    [
        ("a\n```\nx\n```\nb", ["```", "x", "```"]),
        ("~~~~\nx\n```\ny\n~~~\n~~~~\nb", ["~~~~", "x", "```", "y", "~~~", "~~~~"]),
        ("````\n```\n````\nb", ["````", "```", "````"]),
        ("- item\n  ```sh\n  x\n  ```\n- b", ["  ```sh", "  x", "  ```"]),
        ("> ```\n> x\nno quote", ["> ```", "> x"]),
        ("1. ~~~\n   x\n   ~~~\nb", ["1. ~~~", "   x", "   ~~~"]),
        ("``` not `a` fence\nb", []),
        ("```\nx\n``` y\n", ["```", "x", "``` y", ""]),
        ("    indented", []),
    ],
)
def test_fences(text: str, inside: list[str]) -> None:
    assert code(text) == inside


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("a\n<!-- note -->\nb", "a\nb"),
        ("a\n\n<!--\nlong\nnote\n-->\n\nb", "a\n\nb"),
        ("<!-- note --> rest\nb", " rest\nb"),
        ("a <!-- in a line --> b", "a <!-- in a line --> b"),
        ("```\n<!-- code -->\n```", "```\n<!-- code -->\n```"),
        ("<!--\n```\n-->\n@x", "@x"),
        ("<!-->\nb", "b"),
        ("<!-- a --> <!-- b", " <!-- b"),
    ],
)
def test_comments(text: str, left: str) -> None:
    assert read_lines(text).text == left


def test_lines_keep_their_numbers() -> None:
    document = read_lines("a\n<!--\n-->\nb", first=4)
    assert document.lines == (Line(4, "a"), Line(7, "b"))


def test_a_comment_that_is_never_closed_is_text() -> None:
    document = read_lines("a\n<!-- open\nb")
    assert (document.text, document.open_comment) == ("a\n<!-- open\nb", 2)


def test_an_unclosed_fence_is_closed_at_the_end() -> None:
    assert read_lines("a\n~~~~\nb").text == "a\n~~~~\nb\n~~~~"


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(["```", "~~~", "> ", "- ", "<!--", "-->", "x", "", "    "]), max_size=24))
def test_nothing_but_comments_is_lost(parts: list[str]) -> None:
    text = "\n".join(parts)
    document = read_lines(text)
    if "<!--" not in parts:
        assert [line.text for line in document.lines] == text.split("\n")
    numbers = [line.number for line in document.lines]
    assert numbers == sorted(set(numbers))


def test_a_hostile_line_costs_nothing() -> None:
    assert code("- " * 50_000 + "x") == []
    assert read_lines("<!--\n" * 20_000).open_comment == 1
