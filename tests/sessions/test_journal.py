"""Writing session files: private, whole lines, and a failing disk that loses nothing."""

from __future__ import annotations

import errno
import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from agentcli.clock import SystemClock
from agentcli.messages import message_to_record, user
from agentcli.ports.sessions import PrefixRecord
from agentcli.sessions import FileJournal, MemoryJournal, load

RECORD = PrefixRecord(
    sections={"memory": "m", "env": None},
    absent={},
    choices={"ttl": "5m"},
    beta_headers=("b1",),
    tools=({"name": "Echo"},),
    model="m",
    effort=None,
    thinking="default",
    start_date="2026-11-30",
    system={"parts": []},
)


def entries(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def kinds(path: Path) -> list[str]:
    return [e["kind"] for e in entries(path)]


@pytest.fixture
def path(home: Path) -> Path:
    return home / ".agentcli" / "projects" / "-p" / "s1.jsonl"


def journal(path: Path, notices: list[str] | None = None) -> FileJournal:
    return FileJournal(path, clock=SystemClock(), notice=(notices if notices is not None else []).append)


def test_an_entry_is_one_line_that_says_what_when_and_which(path: Path) -> None:
    made = journal(path)
    made.append("title", {"title": "two\nlines"})
    made.append("delta", {"text": "a"})
    made.close()
    title, delta = entries(path)
    assert list(title) == ["v", "kind", "time", "uuid", "title"]
    assert (title["v"], title["kind"], title["title"]) == (1, "title", "two\nlines")
    assert delta == {"v": 1, "kind": "delta", "text": "a"}


def test_files_and_directories_are_private_whatever_the_umask(path: Path) -> None:
    before = os.umask(0)
    try:
        made = journal(path)
        made.append("title", {"title": "x"})
        made.close()
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    for directory in (path.parent, path.parent.parent, path.parent.parent.parent):
        assert stat.S_IMODE(directory.stat().st_mode) == 0o700


def test_a_line_is_in_the_file_when_append_returns(path: Path) -> None:
    made = journal(path)
    made.append("title", {"title": "x"})
    assert kinds(path) == ["title"]
    made.close()
    made.close()


def test_a_torn_last_line_is_ended_before_the_next_one(path: Path) -> None:
    path.parent.mkdir(parents=True)
    path.write_bytes(b'{"v":1,"kind":"title","ti')
    made = journal(path)
    made.append("title", {"title": "whole"})
    made.append("mode", {"mode": "plan"})
    made.close()
    lines = path.read_bytes().split(b"\n")
    assert lines[0] == b'{"v":1,"kind":"title","ti'
    assert [json.loads(line)["kind"] for line in lines[1:3]] == ["title", "mode"]


def test_half_a_pair_is_written_without_an_error(path: Path) -> None:
    made = journal(path)
    made.append("message", {"message": message_to_record(user("half \ud83d"))})
    made.close()
    assert load(path).messages == (user("half \ufffd"),)


def test_the_prefix_is_stored_when_it_changes(path: Path) -> None:
    made = journal(path)
    made.prefix(RECORD)
    made.prefix(RECORD)
    made.append("title", {"title": "x"})
    made.close()
    assert kinds(path) == ["prefix", "title"]
    assert load(path).prefix == RECORD
    memory = MemoryJournal()
    memory.prefix(RECORD)
    memory.prefix(RECORD)
    assert [e["kind"] for e in memory.entries] == ["prefix"]


class Disk:
    """A disk that can be full: real writes until ``space`` bytes are used up, then ENOSPC (also in mid-line)."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.space: int | None = None
        self.error = errno.ENOSPC
        real = os.write

        def write(descriptor: int, data: bytes) -> int:
            if self.space is None or descriptor <= 2:
                return real(descriptor, data)
            if self.space == 0:
                raise OSError(self.error, os.strerror(self.error))
            done = real(descriptor, bytes(data)[: self.space])
            self.space -= done
            return done

        monkeypatch.setattr(os, "write", write)


@pytest.mark.parametrize("space", [0, 1, 30, 200])
@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EIO, errno.EDQUOT])
def test_a_full_disk_is_told_once_and_nothing_is_missing_afterwards(
    path: Path, monkeypatch: pytest.MonkeyPatch, space: int, error: int
) -> None:
    disk = Disk(monkeypatch)
    notices: list[str] = []
    made = journal(path, notices)
    made.append("message", {"message": message_to_record(user("one"))})
    disk.space, disk.error = space, error
    for number in range(5):
        made.append("title", {"title": f"title {number}"})
        made.sync()
    assert len(notices) == 1
    assert "can't be stored" in notices[0]
    disk.space = None
    made.append("mode", {"mode": "plan"})
    assert len(notices) == 2
    assert "nothing is missing" in notices[1]
    made.close()
    found = load(path)
    assert (found.messages, found.title, found.mode) == ((user("one"),), "title 4", "plan")
    assert found.notes == ()
    # A line that was written in part is taken back: no half copy of it stands in the file.
    whole = [json.loads(line) for line in path.read_bytes().splitlines()]
    assert [e["title"] for e in whole if e["kind"] == "title"] == [f"title {n}" for n in range(5)]


def test_waiting_deltas_are_dropped_when_their_message_is_there(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk = Disk(monkeypatch)
    made = journal(path)
    disk.space = 0
    for _ in range(100):
        made.append("delta", {"text": "a"})
    made.append("message", {"message": message_to_record(user("one"))})
    disk.space = None
    made.close()
    assert kinds(path) == ["message"]


def test_a_place_that_cannot_be_written_is_told_once(home: Path) -> None:
    (home / "file").write_text("not a directory")
    notices: list[str] = []
    made = journal(home / "file" / "s.jsonl", notices)
    made.append("title", {"title": "a"})
    made.append("title", {"title": "b"})
    made.close()
    assert len(notices) == 1


def test_a_symlink_in_the_files_place_is_not_followed(path: Path, home: Path) -> None:
    path.parent.mkdir(parents=True)
    target = home / "target"
    target.write_text("mine")
    path.symlink_to(target)
    notices: list[str] = []
    made = journal(path, notices)
    made.append("title", {"title": "a"})
    made.close()
    assert target.read_text() == "mine"
    assert len(notices) == 1
