"""What is edited while a conversation runs is said in it, once."""

from __future__ import annotations

from pathlib import Path

from agentcli.memory import add_note
from tests.memory.worlds import Desk, write


async def test_an_edited_file_is_told_once(project: Path) -> None:
    path = write(project / "CLAUDE.md", "OLD")
    desk = Desk(project)
    await desk.section()
    assert await desk.step() == ""
    write(path, "NEW RULES")
    told = await desk.step()
    assert told == (
        f"The memory file {path} was edited. From now on it says:\n\n"
        f'<instructions path="{path}" what="the project\'s, shared by its team">\nNEW RULES\n</instructions>'
    )
    assert await desk.step() == ""
    assert desk.room.loaded()[0].text == "NEW RULES"


async def test_of_a_long_file_only_the_changed_lines(project: Path) -> None:
    lines = [f"- rule number {n} of this long file" for n in range(400)]
    path = write(project / "CLAUDE.md", "\n".join(lines))
    desk = Desk(project)
    await desk.section()
    lines[200] = "- another rule"
    write(path, "\n".join(lines))
    told = await desk.step()
    assert f"The memory file {path} was edited. Its changed lines:" in told
    assert "-- rule number 200 of this long file\n+- another rule" in told
    assert len(told) < 500


async def test_a_note_reaches_the_running_conversation(project: Path) -> None:
    desk = Desk(project)
    await desk.section()
    add_note(project / "CLAUDE.md", "use tabs")
    told = await desk.step()
    assert told.startswith("There is a new memory file. Follow it from now on.")
    assert "- use tabs" in told
    assert await desk.step() == ""


async def test_a_removed_file(project: Path) -> None:
    path = write(project / "CLAUDE.md", "OLD")
    desk = Desk(project)
    await desk.section()
    path.unlink()
    assert await desk.step() == f"The memory file {path} is gone or counts no longer: don't follow it any more."
    assert await desk.step() == ""


async def test_what_the_agent_wrote_itself_is_no_news(project: Path) -> None:
    path = write(project / "CLAUDE.md", "OLD")
    desk = Desk(project)
    await desk.section()
    write(path, "BY THE AGENT")
    fresh = write(project / "CLAUDE.local.md", "BY THE AGENT TOO")
    await desk.touch(path, fresh)
    assert await desk.step() == ""
    write(path, "BY THE USER")
    assert "BY THE USER" in await desk.step()


async def test_a_file_that_was_only_read_is_news_when_it_changes_later(project: Path) -> None:
    path = write(project / "CLAUDE.md", "OLD")
    desk = Desk(project)
    await desk.section()
    await desk.touch(path)
    assert await desk.step() == ""
    write(path, "NEW")
    assert "NEW" in await desk.step()


async def test_imports_nested_files_and_rules_are_watched(project: Path) -> None:
    write(project / "CLAUDE.md", "@more.md")
    more = write(project / "more.md", "MORE")
    nested = write(project / "sub" / "CLAUDE.md", "SUB")
    rule = write(project / ".claude" / "rules" / "r.md", "RULE")
    desk = Desk(project)
    await desk.section()
    await desk.touch(project / "sub" / "f")
    write(more, "MORE THAN THAT")
    assert "MORE THAN THAT" in await desk.step()
    write(nested, "SUB TWO")
    assert "SUB TWO" in await desk.step()
    write(rule.with_name("s.md"), "RULE S")
    told = await desk.step()
    assert ("RULE S" in told, "RULE\n" in told) == (True, False)
    write(rule, "---\npaths: x/*\n---\nRULE")
    assert await desk.step() == f"The memory file {rule} is gone or counts no longer: don't follow it any more."


async def test_touching_without_changing_says_nothing(project: Path) -> None:
    path = write(project / "CLAUDE.md", "SAME")
    desk = Desk(project)
    await desk.section()
    path.unlink()
    write(path, "SAME")
    assert await desk.step() == ""


async def test_a_huge_change_is_only_named(project: Path) -> None:
    path = write(project / "CLAUDE.md", "OLD")
    desk = Desk(project)
    await desk.section()
    write(path, "x\n" * 30_000)
    told = await desk.step()
    assert f"read {path} before you go on" in told
    assert len(told) < 400


async def test_the_first_rule_of_a_project(project: Path) -> None:
    desk = Desk(project)
    await desk.section()
    write(project / ".claude" / "rules" / "new.md", "RULE")
    assert "RULE" in await desk.step()
