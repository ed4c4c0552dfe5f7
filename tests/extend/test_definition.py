"""Front matter: the fast way means the same as YAML, real-life spelling is read, broken files are named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import settings as rounds
from hypothesis import strategies as st

from agentcli.extend.definition import DefinitionError, parse_document, read_document, split_names
from agentcli.frontmatter import read_front_matter

PATH = Path("x.md")


def values(head: str) -> dict[str, Any]:
    return dict(parse_document(f"---\n{head}\n---\nbody", PATH).values)


WORDS = st.text(st.sampled_from("abzAZ019 :#-_.,'\"[]{}()*&!|>%@`~?/\\é"), max_size=12)
KEYS = st.sampled_from(["name", "tools", "model", "maxTurns", "user-invocable"])


@rounds(max_examples=300, deadline=None)
@given(st.lists(st.tuples(KEYS, WORDS), max_size=4))
def test_the_fast_way_never_contradicts_yaml(pairs: list[tuple[str, str]]) -> None:
    head = "\n".join(f"{key}: {word}" for key, word in pairs)
    text = f"---\n{head}\n---\nbody"
    try:
        expected = dict(read_front_matter(text, source=PATH).values)
    except Exception:
        return  # YAML has no opinion
    assert values(head) == expected


@rounds(max_examples=200, deadline=None)
@given(st.text(max_size=60))
def test_any_text_is_a_document_or_a_clear_error(text: str) -> None:
    for source in (text, f"---\n{text}\n---\n", f"---\ndescription: {text}\n---\nbody"):
        try:
            told = str(parse_document(source, PATH).path)
        except DefinitionError as error:
            told = str(error).partition(":")[0]
        assert told == "x.md"


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ("description: Use it when: the build is red", {"description": "Use it when: the build is red"}),
        (
            "name: a\ndescription: Examples: <example>User: 'hi: there'</example>\ntools: Read, Grep",
            {"name": "a", "description": "Examples: <example>User: 'hi: there'</example>", "tools": "Read, Grep"},
        ),
        ("argument-hint: [issue-number]", {"argument-hint": "[issue-number]"}),
        ("argument-hint: [file] [mode]", {"argument-hint": "[file] [mode]"}),
        ("argument-hint: <a> | <b>", {"argument-hint": "<a> | <b>"}),
        ("tools: *", {"tools": "*"}),
        (
            "allowed-tools: Bash(git add:*), Bash(git commit:*)",
            {"allowed-tools": "Bash(git add:*), Bash(git commit:*)"},
        ),
        ('description: "quoted: yes"', {"description": "quoted: yes"}),
        ("description: >\n  two\n  lines", {"description": "two lines\n"}),
        ("tools:\n  - Read\n  - Grep", {"tools": ["Read", "Grep"]}),
        ("tools: [Read, Grep]", {"tools": ["Read", "Grep"]}),
        ("maxTurns: 12\nbackground: true\nmodel:", {"maxTurns": 12, "background": True, "model": None}),
        ("# a comment\nname: x # and one more", {"name": "x"}),
        ("description: yes", {"description": True}),
    ],
)
def test_spellings_of_real_files(head: str, expected: dict[str, Any]) -> None:
    assert values(head) == expected


def test_broken_yaml_names_the_line() -> None:
    with pytest.raises(DefinitionError, match=r"x\.md:4:1: expected"):
        values("name: a\ntools: [Read, Grep")
    with pytest.raises(DefinitionError, match=r"x\.md:1: the front matter is not closed"):
        parse_document("---\nname: a\n", PATH)


def test_files_that_are_none(tmp_path: Path) -> None:
    latin = tmp_path / "latin.md"
    latin.write_bytes("---\nname: Änne\n---\n".encode("latin-1"))
    with pytest.raises(DefinitionError, match=r"latin\.md: is not UTF-8 text \(byte 11\)"):
        read_document(latin)
    large = tmp_path / "large.md"
    large.write_text("x" * 1_000_001)
    with pytest.raises(DefinitionError, match="1,000,001 bytes are too much"):
        read_document(large)
    with pytest.raises(DefinitionError, match=r"none\.md: can't be read: No such file"):
        read_document(tmp_path / "none.md")


def test_windows_files() -> None:
    found = parse_document("\ufeff---\r\nname: a\r\n---\r\none\r\ntwo".removeprefix("\ufeff"), PATH)
    assert (found.values, found.body) == ({"name": "a"}, "one\ntwo")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Read, Grep", ("Read", "Grep")),
        ("Read Grep Bash(git add:*, -p)", ("Read", "Grep", "Bash(git add:*, -p)")),
        (" , ,", ()),
        ("Bash(unclosed, x", ("Bash(unclosed, x",)),
        ("", ()),
    ],
)
def test_names_in_one_line(text: str, expected: tuple[str, ...]) -> None:
    assert split_names(text) == expected


def test_yaml_agrees_about_the_plain_spelling() -> None:
    head = "name: reviewer\ndescription: Reads a change, as its reader would\ntools: Read, Grep\nmaxTurns: 3"
    assert values(head) == yaml.safe_load(head)
