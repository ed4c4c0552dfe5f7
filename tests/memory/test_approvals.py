"""What leads out of the project is loaded only after a yes, which is kept for exactly that file."""

from __future__ import annotations

import json
import stat
import threading
from pathlib import Path

import pytest

from agentcli.errors import SetupError
from agentcli.memory.approvals import FILE, Approvals
from tests.memory.worlds import Desk, write


@pytest.fixture
def outside(world: Path) -> Path:
    return write(world / "outside.md", "OUTSIDE")


async def test_a_yes_is_asked_for_once(project: Path, outside: Path, home: Path) -> None:
    write(project / "CLAUDE.md", f"@{outside}")
    desk = Desk(project, asks=True, answer=True)
    assert "OUTSIDE" in await desk.section()
    assert [(o.target, o.wanted_by, o.line) for o in desk.asked] == [(outside, project / "CLAUDE.md", 1)]
    desk.open()
    assert "OUTSIDE" in await desk.section()
    assert (len(desk.asked), desk.warnings) == (1, [])
    store = home / ".agentcli" / FILE
    assert json.loads(store.read_text()) == {str(project): {"allowed": [str(outside)], "refused": []}}
    assert stat.S_IMODE(store.stat().st_mode) == 0o600


async def test_a_no_is_kept_too(project: Path, outside: Path) -> None:
    write(project / "CLAUDE.md", f"see @{outside}")
    desk = Desk(project, asks=True, answer=False)
    assert f"see @{outside}\n</instructions>" in await desk.section()
    desk.open()
    await desk.section()
    assert len(desk.asked) == 1
    words = f"leads out of the tree, to {outside}, which was refused; left as text"
    assert desk.warnings == [f"{project}/CLAUDE.md:1: @{outside} {words}"] * 2  # once for each session


@pytest.mark.parametrize("asks", [True, False])
async def test_without_an_answer_it_stays_open(project: Path, outside: Path, asks: bool) -> None:
    write(project / "CLAUDE.md", f"@{outside}")
    desk = Desk(project, asks=asks, answer=None)
    assert f">\n@{outside}\n</instructions>" in await desk.section()
    assert len(desk.warnings) == 1
    desk.open()
    await desk.section()
    assert len(desk.asked) == (2 if asks else 0)


async def test_the_approval_is_for_the_file_not_for_the_name(project: Path, outside: Path, world: Path) -> None:
    link = project / "link.md"
    link.symlink_to(outside)
    write(project / "CLAUDE.md", "@link.md")
    desk = Desk(project, asks=True, answer=True)
    assert "OUTSIDE" in await desk.section()
    link.unlink()
    link.symlink_to(write(world / "other.md", "OTHER"))
    desk.open()
    await desk.section()
    assert [o.target.name for o in desk.asked] == ["outside.md", "other.md"]


async def test_a_memory_file_that_is_a_link_outside(project: Path, outside: Path) -> None:
    (project / "CLAUDE.md").symlink_to(outside)
    desk = Desk(project)
    assert await desk.section() == ""
    assert desk.skipped() == desk.warnings
    assert desk.warnings[0].startswith(f"{project}/CLAUDE.md: leads out of the tree, to {outside}")


async def test_the_users_files_may_import_what_they_like(home: Path, project: Path, outside: Path) -> None:
    write(home / ".claude" / "CLAUDE.md", f"@{outside}")
    desk = Desk(project)
    assert "OUTSIDE" in await desk.section()
    assert desk.warnings == []


async def test_of_the_users_directory_only_markdown_is_free(home: Path, project: Path) -> None:
    write(home / ".claude" / "mine.md", "MINE")
    write(home / ".claude" / "credentials.json", '"SECRET"')
    write(project / "CLAUDE.md", "@~/.claude/mine.md\n@~/.claude/credentials.json\n")
    section = await Desk(project).section()
    assert ("MINE" in section, "SECRET" in section) == (True, False)


async def test_the_whole_work_tree_is_inside(repo: Path) -> None:
    write(repo / "docs" / "a.md", "DOCS")
    write(repo / "inner" / "CLAUDE.md", "@../docs/a.md")
    desk = Desk(repo / "inner")
    assert "DOCS" in await desk.section()
    assert desk.warnings == []


async def test_files_above_the_project_may_load_what_lies_below_them(world: Path, project: Path) -> None:
    write(world / "team.md", "TEAM")
    write(world.parent / "foreign.md", "FOREIGN")
    write(world / "CLAUDE.md", "@team.md\n@../foreign.md\n")
    section = await Desk(project).section()
    assert ("TEAM" in section, "FOREIGN" in section) == (True, False)


async def test_a_moved_project_is_asked_about_again(project: Path, outside: Path) -> None:
    write(project / "CLAUDE.md", f"@{outside}")
    await Desk(project, asks=True, answer=True).section()
    moved = project.rename(project.with_name("moved"))
    desk = Desk(moved, asks=True, answer=True)
    await desk.section()
    assert len(desk.asked) == 1


def test_answers_at_the_same_time_are_all_kept(home: Path) -> None:
    def decide(number: int) -> None:
        Approvals.load(home / "state", Path("/p")).decide([Path(f"/x/{number}")], allow=bool(number % 2))

    running = [threading.Thread(target=decide, args=(n,)) for n in range(4)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    stored = Approvals.load(home / "state", Path("/p"))
    assert stored.allowed == {Path("/x/1"), Path("/x/3")}
    assert stored.refused == {Path("/x/0"), Path("/x/2")}


def test_a_broken_record_approves_nothing_and_is_kept(home: Path) -> None:
    write(home / FILE, "{broken")
    approvals = Approvals.load(home, Path("/p"))
    assert approvals.decided(Path("/x")) is None
    approvals.decide([Path("/x")], allow=True)
    assert Approvals.load(home, Path("/p")).decided(Path("/x/below")) is True
    assert [p.read_text() for p in home.iterdir() if "broken" in p.name] == ["{broken"]


def test_where_nothing_can_be_stored_it_holds_for_the_session(home: Path) -> None:
    blocked = write(home / "file", "")
    approvals = Approvals.load(blocked / "state", Path("/p"))
    with pytest.raises(SetupError, match="can't be written"):
        approvals.decide([Path("/x")], allow=True)
    assert approvals.decided(Path("/x")) is True
    nowhere = Approvals.load(None, Path("/p"))
    nowhere.decide([Path("/x")], allow=False)
    assert nowhere.decided(Path("/x/y")) is False
