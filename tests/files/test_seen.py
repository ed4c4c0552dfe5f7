from __future__ import annotations

import os
from pathlib import Path

from agentcli.files import FilesSeen
from agentcli.files.seen import digest
from agentcli.ports.tools import SeenFile, SeenFiles


def test_a_link_and_its_target_are_one_file(project: Path) -> None:
    (project / "a").write_bytes(b"text")
    (project / "link").symlink_to("a")
    seen: SeenFiles = FilesSeen()
    seen.note(project / "link", b"text", whole=True)
    stat = (project / "a").stat()
    assert seen.get(project / "a") == SeenFile(digest(b"text"), True, stat.st_mtime_ns, 4)


def test_all_pages_together_are_the_whole_file(project: Path) -> None:
    path = project / "a"
    path.write_bytes(b"1\n2\n3\n")
    seen = FilesSeen()
    whole: list[bool] = []
    for first, last in ((3, 3), (1, 1), (2, 2)):
        seen.note_lines(path, b"1\n2\n3\n", first=first, last=last, total=3)
        found = seen.get(path)
        assert found is not None
        whole.append(found.whole)
    assert whole == [False, False, True]


def test_pages_of_different_contents_are_not_added_up(project: Path) -> None:
    path = project / "a"
    path.write_bytes(b"1\n2\n")
    seen = FilesSeen()
    seen.note_lines(path, b"1\n2\n", first=1, last=1, total=2)
    path.write_bytes(b"1\n3\n")
    seen.note_lines(path, b"1\n3\n", first=2, last=2, total=2)
    found = seen.get(path)
    assert found is not None
    assert not found.whole


def test_a_page_of_what_was_seen_whole_leaves_it_whole(project: Path) -> None:
    path = project / "a"
    path.write_bytes(b"1\n2\n")
    seen = FilesSeen()
    seen.note(path, b"1\n2\n", whole=True)
    seen.note_lines(path, b"1\n2\n", first=1, last=1, total=2)
    found = seen.get(path)
    assert found is not None
    assert found.whole


def test_a_foreign_change_is_told_once(project: Path) -> None:
    a, b = project / "a", project / "b"
    seen = FilesSeen()
    for path in (a, b):
        path.write_bytes(b"old")
        seen.note(path, b"old", whole=True)
    assert seen.changed() == []
    a.write_bytes(b"new!")
    assert [seen.changed(), seen.changed()] == [[a], []]
    os.utime(b)
    assert seen.changed() == []
    b.unlink()
    assert [seen.changed(), seen.changed()] == [[b], []]
    a.write_bytes(b"newer")
    assert seen.changed() == [a]


def test_our_own_change_is_no_news(project: Path) -> None:
    path = project / "a"
    path.write_bytes(b"old")
    seen = FilesSeen()
    seen.note(path, b"old", whole=True)
    path.write_bytes(b"ours")
    seen.note(path, b"ours", whole=True)
    assert seen.changed() == []


def test_after_forgetting_nothing_counts_as_seen(project: Path) -> None:
    path = project / "a"
    path.write_bytes(b"old")
    seen = FilesSeen()
    seen.note(path, b"old", whole=True)
    seen.forget()
    assert seen.get(path) is None
