"""Files below the working directory come when a file there is used: once, parents first, in one reminder."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.memory.worlds import Desk, settings, write


@pytest.fixture
def tree(project: Path) -> Path:
    write(project / "api" / "CLAUDE.md", "MARK_api")
    write(project / "api" / "v1" / "CLAUDE.local.md", "MARK_v1")
    write(project / "api" / "v1" / ".claude" / "rules" / "z.md", "MARK_v1rule")
    write(project / "api" / "v1" / ".claude" / "rules" / "y.md", '---\npaths: "*.py"\n---\nMARK_v1py')
    write(project / "web" / "AGENTS.md", "MARK_web")
    (project / "web" / "CLAUDE.md").mkdir()
    write(project / "api" / "v1" / "f", "x")
    return project


async def test_a_conversation(tree: Path, golden) -> None:
    desk = Desk(tree)
    assert await desk.section() == ""
    assert await desk.step() == ""
    first = await desk.touch(tree / "api" / "v1" / "f")
    golden("nested.md", first.replace(str(tree), "/p") + "\n")
    assert await desk.touch(tree / "api" / "v1" / "f") == ""
    web = await desk.touch(tree / "web" / "new")
    assert web.count("MARK_web") == 1
    assert desk.warnings == [f"{tree}/web/CLAUDE.md: is a directory, not a file; ignored"]
    assert "MARK_v1py" in await desk.touch(tree / "api" / "v1" / "a.py")
    assert await desk.step() == ""
    desk.room.begin_anew()
    await desk.section()
    assert await desk.touch(tree / "api" / "v1" / "f") == first


async def test_the_order_of_events_makes_no_difference(tree: Path) -> None:
    files = [tree / "api" / "v1" / "a.py", tree / "web" / "x", tree / "api" / "y"]
    told = []
    for paths in (files, files[::-1], [files[1], files[0], files[2]]):
        desk = Desk(tree)
        await desk.section()
        told.append(await desk.touch(*paths))
    assert told == [told[0]] * 3
    marks = [told[0].index(m) for m in ("MARK_api", "MARK_v1py", "MARK_v1rule", "MARK_v1\n", "MARK_web")]
    assert marks == sorted(marks)


async def test_a_subagent_has_its_own(tree: Path) -> None:
    write(tree / "CLAUDE.md", "MARK_top")
    desk = Desk(tree, auto=True)
    await desk.section()
    await desk.touch(tree / "api" / "v1" / "f")
    branch = desk.room.branch()
    head = await branch.section()
    assert head is not None
    assert ("MARK_top" in head, "# Memory" in head) == (True, False)
    [reminder] = await branch.collect("file_touched", paths=[tree / "api" / "v1" / "f"])
    assert (reminder.key, reminder.text.count("MARK_v1rule")) == ("memory", 1)
    assert await branch.collect("file_touched", paths=[tree / "api" / "v1" / "f"]) == []
    assert await desk.touch(tree / "api" / "v1" / "f") == ""


async def test_nothing_comes_where_the_start_was_not_told(tree: Path) -> None:
    desk = Desk(tree)
    assert await desk.touch(tree / "api" / "v1" / "f") == ""


async def test_another_branch_of_the_work_tree(repo: Path) -> None:
    write(repo / "one" / "CLAUDE.md", "MARK_one")
    write(repo / "two" / "deep" / "CLAUDE.md", "MARK_two")
    desk = Desk(repo / "one")
    assert "MARK_one" in await desk.section()
    assert "MARK_two" in await desk.touch(repo / "two" / "deep" / "f")


async def test_outside_of_the_work_tree_nothing_comes(project: Path, world: Path) -> None:
    write(world / "other" / "CLAUDE.md", "OTHER")
    desk = Desk(project)
    await desk.section()
    assert await desk.touch(world / "other" / "f") == ""


async def test_imports_of_nested_files(project: Path) -> None:
    write(project / "sub" / "CLAUDE.md", "SUB @more.md")
    write(project / "sub" / "more.md", "MORE")
    desk = Desk(project)
    await desk.section()
    told = await desk.touch(project / "sub" / "f")
    assert (told.count("MORE"), told.count("SUB")) == (1, 1)


async def test_a_nested_file_made_later(project: Path) -> None:
    desk = Desk(project)
    await desk.section()
    assert await desk.touch(project / "sub" / "f") == ""
    write(project / "sub" / "CLAUDE.md", "LATE")
    assert "LATE" in await desk.touch(project / "sub" / "f")


async def test_questions_about_nested_files_are_asked_once(project: Path, world: Path) -> None:
    write(world / "notes.md", "OUTSIDE")
    write(project / "sub" / "CLAUDE.md", f"SUB\n@{world}/notes.md\n")
    desk = Desk(project, asks=True, answer=True)
    await desk.section()
    told = await desk.touch(project / "sub" / "f")
    assert (told.count("SUB"), told.count("OUTSIDE"), len(desk.asked)) == (1, 1, 1)
    assert desk.warnings == []


async def test_excluded_below_too(tree: Path) -> None:
    desk = Desk(tree, settings(claudeMdExcludes=["**/api/**"]))
    await desk.section()
    assert await desk.touch(tree / "api" / "v1" / "f") == ""


async def test_installed_packages_give_no_instructions(project: Path) -> None:
    theirs = write(project / "web" / "node_modules" / "left-pad" / "CLAUDE.md", "THEIRS")
    write(project / "web" / "CLAUDE.md", "OURS")
    desk = Desk(project)
    await desk.section()
    told = await desk.touch(theirs.with_name("index.js"))
    assert ("OURS" in told, "THEIRS" in told) == (True, False)
    assert desk.skipped() == [f"{theirs}: belongs to an installed package, whose instructions don't count"]
    assert desk.warnings == []
