"""The history file survives whatever is in it, around it, or typed."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from agentcli.i18n import Texts
from agentcli.ui.terminal.input.chips import Chips
from agentcli.ui.terminal.input.history import MAX_ENTRY, READ_BYTES, PromptHistory


class Recorded:
    def __init__(self, path: Path | None) -> None:
        self.warnings: list[str] = []
        self.chips = Chips(Texts())
        self.history = PromptHistory(path, self.chips, self.warnings.append)

    def entries(self) -> list[str]:
        return [self.chips.expand(text).text for text in self.history.load_history_strings()]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "history" / "project.jsonl"


ODD = [
    "multi\nline\n\ntext",
    "with \r return",
    "nul \0 byte",
    "surrogate \udcff and \ud83d",
    "   ",
    "한국어 👍",
    '{"text": 1}',
]


def test_odd_entries_come_back_as_one_entry_each(path: Path) -> None:
    first = Recorded(path)
    for text in ODD:
        first.history.append_string(text)
    valid = [text.encode("utf-16", "surrogatepass").decode("utf-16", "replace") for text in ODD]
    assert Recorded(path).entries() == valid[::-1]
    assert first.warnings == []


def test_broken_lines_are_passed_over(path: Path) -> None:
    path.parent.mkdir()
    good = json.dumps({"text": "good"}).encode()
    path.write_bytes(b"\xff\xfe\n" + good + b'\n{"text": 5}\n[1]\nnull\n{"text": "x", "pasted": [["a", 1]]}\n{"te')
    recorded = Recorded(path)
    assert recorded.entries() == ["good"]
    assert recorded.warnings == []


def test_two_sessions_do_not_destroy_each_other(path: Path) -> None:
    one, two = Recorded(path), Recorded(path)
    for n in range(20):
        (one if n % 2 else two).history.append_string(f"entry {n}")
    assert Recorded(path).entries() == [f"entry {n}" for n in reversed(range(20))]


def test_repeated_entries_are_one(path: Path) -> None:
    recorded = Recorded(path)
    for text in ("a", "b", "b", "a"):
        recorded.history.store_string(text)
    assert Recorded(path).entries() == ["a", "b", "a"]


@pytest.mark.parametrize(
    "line",
    [
        "use sk-ant-api03-abcdefghijklmnop please",
        "export GITHUB=ghp_abcdefghijklmnopqrstuvwx",
        "password = hunter22",
        "AKIAABCDEFGHIJKLMNOP",
        "-----BEGIN RSA PRIVATE KEY-----",
    ],
)
def test_what_looks_like_a_secret_is_not_stored(path: Path, line: str) -> None:
    recorded = Recorded(path)
    recorded.history.append_string(line)
    assert recorded.history.get_strings() == [line]
    assert not path.exists()


def test_a_huge_entry_is_kept_in_memory_only(path: Path) -> None:
    recorded = Recorded(path)
    recorded.history.append_string("x" * (MAX_ENTRY + 1))
    assert len(recorded.history.get_strings()[0]) == MAX_ENTRY + 1
    assert not path.exists()


def test_only_the_end_of_a_huge_file_is_read(path: Path) -> None:
    path.parent.mkdir()
    with path.open("wb") as file:
        file.truncate(300 << 20)
        file.seek(0, os.SEEK_END)
        file.write(b"\n" + json.dumps({"text": "last"}).encode() + b"\n")
    assert path.stat().st_size > READ_BYTES
    assert Recorded(path).entries() == ["last"]


def test_a_directory_in_its_place_costs_one_warning(path: Path) -> None:
    path.mkdir(parents=True)
    recorded = Recorded(path)
    assert recorded.entries() == []
    recorded.history.append_string("a")
    recorded.history.append_string("b")
    assert recorded.warnings == [f"{path}: is not a regular file"]
    assert recorded.history.get_strings() == ["a", "b"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_in_its_place_is_not_waited_for(path: Path) -> None:
    path.parent.mkdir()
    os.mkfifo(path)
    recorded = Recorded(path)
    recorded.history.append_string("x")
    assert recorded.entries() == []
    assert len(recorded.warnings) == 1
    assert str(path) in recorded.warnings[0]


def test_a_torn_last_line_is_not_joined_to_the_next(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b'{"text": "kept", "pasted": []}\n{"text": "cut o')
    Recorded(path).history.append_string("new")
    assert Recorded(path).entries() == ["new", "kept"]
    assert path.read_bytes().count(b"\n") == 3


def test_a_link_in_its_place_is_not_followed(path: Path, tmp_path: Path) -> None:
    path.parent.mkdir()
    target = tmp_path / "precious"
    target.write_text("keep")
    path.symlink_to(target)
    recorded = Recorded(path)
    recorded.history.append_string("a")
    assert target.read_text() == "keep"
    assert len(recorded.warnings) == 1


def test_without_a_home_nothing_is_stored() -> None:
    recorded = Recorded(None)
    recorded.history.append_string("a")
    assert recorded.entries() == []
    assert recorded.history.get_strings() == ["a"]
