"""A note goes to the end of a memory file and changes nothing else."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import pytest

from agentcli.errors import UserError
from agentcli.memory import add_note, note_targets, read_places
from agentcli.settings.merged import Settings
from tests.memory.worlds import write


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"# a\n", b"# a\n- use tabs\n"),
        (b"# a", b"# a\n- use tabs\n"),
        (b"# a\r\n\r\n", b"# a\r\n\r\n- use tabs\r\n"),
        (b"\xef\xbb\xbfa\n", b"\xef\xbb\xbfa\n- use tabs\n"),
        ("é\n".encode("utf-16"), "é\n- use tabs\n".encode("utf-16")),
        (b"", b"- use tabs\n"),
        (None, b"- use tabs\n"),
    ],
)
def test_what_is_written(project: Path, before: bytes | None, after: bytes) -> None:
    path = project / "docs" / "CLAUDE.md"
    if before is not None:
        path.parent.mkdir()
        path.write_bytes(before)
    assert add_note(path, "  use tabs \n") == path
    assert path.read_bytes() == after


def test_several_lines_are_one_item(project: Path) -> None:
    add_note(project / "x.md", "first\nsecond")
    assert (project / "x.md").read_text() == "- first\n  second\n"


def test_mode_and_link_stay(project: Path) -> None:
    real = write(project / "real.md", "a\n")
    real.chmod(0o640)
    link = project / "CLAUDE.md"
    link.symlink_to("real.md")
    assert add_note(link, "b", tree=project) == real
    assert (link.is_symlink(), real.read_text(), stat.S_IMODE(real.stat().st_mode)) == (True, "a\n- b\n", 0o640)


def test_a_link_out_of_the_project_is_refused(project: Path, world: Path) -> None:
    target = write(world / "profile", "a\n")
    (project / "CLAUDE.md").symlink_to(target)
    with pytest.raises(UserError, match="outside the project; nothing was added"):
        add_note(project / "CLAUDE.md", "b", tree=project)
    assert target.read_text() == "a\n"


@pytest.mark.parametrize("content", [b"a\0b", b"\xff\xfe\xfd\xfc\xfb"])
def test_what_is_no_text_stays_as_it_is(project: Path, content: bytes) -> None:
    path = project / "CLAUDE.md"
    path.write_bytes(content)
    with pytest.raises(UserError):
        add_note(path, "x")
    assert path.read_bytes() == content


def test_empty_notes_and_directories_are_refused(project: Path) -> None:
    with pytest.raises(UserError, match="empty"):
        add_note(project / "CLAUDE.md", " \n ")
    with pytest.raises(UserError, match="can't be added"):
        add_note(project, "x")


def test_notes_at_the_same_time_are_all_kept(project: Path) -> None:
    path = project / "CLAUDE.md"
    failed: list[UserError] = []

    def add(number: int) -> None:
        try:
            add_note(path, f"note {number}")
        except UserError as error:
            failed.append(error)

    threads = [threading.Thread(target=add, args=(n,)) for n in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(path.read_text().splitlines()) == 3 - len(failed)


def test_where_a_note_may_go(repo: Path, home: Path) -> None:
    inner = repo / "inner"
    write(inner / "CLAUDE.md", "x")
    write(repo / "AGENTS.md", "x")
    places = read_places(inner, Settings(()), os.environ)
    assert [(t.path, t.scope, t.exists) for t in note_targets(places)] == [
        (inner / "CLAUDE.md", "project", True),
        (repo / "AGENTS.md", "project", True),
        (repo / "CLAUDE.local.md", "local", False),
        (home / ".claude" / "CLAUDE.md", "user", False),
    ]
