from __future__ import annotations

import pytest

from agentcli.frontmatter import FrontMatter, FrontMatterError, read_front_matter


def test_front_matter_and_body_are_split() -> None:
    text = "---\nname: reviewer\ntools: [Read, Grep]\nmodel:\n---\n# Body\n\n---\nmore\n"
    assert read_front_matter(text, source="a.md") == FrontMatter(
        {"name": "reviewer", "tools": ["Read", "Grep"], "model": None}, "# Body\n\n---\nmore\n", 6
    )


def test_windows_line_endings_and_a_byte_order_mark_make_no_difference() -> None:
    assert read_front_matter("\ufeff---\r\na: b\r\n---\r\nbody\r\n", source="a.md") == FrontMatter(
        {"a": "b"}, "body\n", 4
    )


@pytest.mark.parametrize("text", ["# no fence\n---\n", "", "text"])
def test_without_a_fence_all_is_body(text: str) -> None:
    assert read_front_matter(text, source="a.md") == FrontMatter({}, text, 1)


def test_an_empty_front_matter_is_no_values() -> None:
    assert read_front_matter("---\n---\nbody", source="a.md") == FrontMatter({}, "body", 3)


def test_names_are_strings_as_written() -> None:
    found = read_front_matter("---\non: yes\n1: 2\nnested: {no: off}\n---\n", source="a.md")
    assert found.values == {"on": True, "1": 2, "nested": {"no": False}}


def test_plain_scalars_stay_as_written() -> None:
    found = read_front_matter(
        "---\non: yes\nat: 12:30:45\nday: 2026-11-30\nversion: 1.10\nlist: [no, 0x1F, ~]\n---\n",
        source="a.md",
        plain=True,
    )
    assert found.values == {
        "on": "yes",
        "at": "12:30:45",
        "day": "2026-11-30",
        "version": "1.10",
        "list": ["no", "0x1F", None],
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("---\nname: a\n", "a.md:1: the front matter is not closed. Put a line with --- behind it."),
        ("---\nname: a\ndesc: use: this\n---\n", "a.md:3:10: mapping values are not allowed here."),
        ("---\n- a\n---\n", "a.md:2: the front matter must be a list of `name: value` lines."),
        ("---\na: [1\n---\n", "a.md:3:1: expected ',' or ']', but got '<stream end>'."),
        ("---\na: !!python/object:os.system x\n---\n", "a.md:2:4: could not determine a constructor for the tag"),
        ("---\n{a: 1}: 2\n---\n", "a.md:2:1: a name must be a plain word."),
    ],
)
def test_an_error_names_file_line_and_column(text: str, message: str) -> None:
    with pytest.raises(FrontMatterError) as caught:
        read_front_matter(text, source="a.md")
    assert str(caught.value).startswith(message)


def test_merge_keys_and_anchors_work() -> None:
    found = read_front_matter("---\nbase: &b {x: 1}\nmore:\n  <<: *b\n  y: 2\n---\n", source="a.md")
    assert found.values == {"base": {"x": 1}, "more": {"x": 1, "y": 2}}
