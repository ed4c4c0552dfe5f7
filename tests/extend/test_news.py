"""What changes while a session runs is told once; what was sent is never changed."""

from __future__ import annotations

import os
from pathlib import Path

from agentcli.extend.room import Extensions
from agentcli.messages import Message, TextBlock, user
from agentcli.ports.prompt import Moment, Reminder
from tests.extend.worlds import agent, command, extensions, settings, skill, write


async def told(found: Extensions, moment: Moment = "before_step", *paths: Path) -> list[Reminder]:
    return await found.collect(moment, paths=paths)


async def started(project: Path, **given: object) -> Extensions:
    found = extensions(project, **given)  # type: ignore[arg-type]  # settings
    await found.skills_section()
    await found.agents_section()
    return found


async def test_nothing_new_nothing_told(project: Path) -> None:
    skill(project, "a", description="A")
    found = await started(project)
    assert await told(found, "first_message") == []
    assert await told(found) == []


async def test_new_changed_and_vanished(project: Path) -> None:
    path = skill(project, "a", description="A")
    skill(project, "b", description="B")
    found = await started(project)
    skill(project, "c", description="C")
    path.write_text("---\ndescription: A is different now\n---\nx")
    (project / ".claude" / "skills" / "b" / "SKILL.md").unlink()
    agent(project, "tester", description="Tests.")
    assert await told(found) == [
        Reminder(
            "skills",
            "There are new or changed skills:\n- a: A is different now\n- c: C\n\n"
            "These skills are gone; don't use them any more:\n- b",
        ),
        Reminder("agents", "There are new or changed agents:\n- tester: Tests."),
    ]
    assert await told(found) == []
    assert "tester" in found.agents


async def test_a_changed_body_is_no_news(project: Path) -> None:
    path = skill(project, "a", "one", description="A")
    found = await started(project)
    path.write_text("---\ndescription: A\n---\ntwo")
    os.utime(path, ns=(1, 1))
    command(project, "deploy", "x")
    assert await told(found) == []
    assert list(found.commands) == ["deploy"]


async def test_who_was_never_told_of_a_list_hears_no_news(project: Path) -> None:
    found = extensions(project)
    skill(project, "a", description="A")
    assert await told(found) == []


async def test_a_skill_with_paths_is_told_with_a_file_that_fits(project: Path) -> None:
    skill(project, "sql", description="Migrations", paths="db/**/*.sql, schema.py")
    found = await started(project)
    assert found.skills_listing() is None
    other = write(project / "web" / "a.py", "")
    assert await told(found, "file_touched", other) == []
    fits = write(project / "db" / "one" / "a.sql", "")
    expected = [Reminder("skills", "There are new or changed skills:\n- sql: Migrations")]
    assert await told(found, "file_touched", fits) == expected
    assert await told(found, "file_touched", fits) == []
    assert await told(found) == []
    await found.skills_section()  # the conversation begins anew
    assert await told(found, "file_touched", fits) == expected


async def test_skills_of_a_nested_directory_come_with_its_files(project: Path, tmp_path: Path) -> None:
    skill(project / "web", "css", description="Styles")
    skill(tmp_path, "outside", description="Not of this project")
    found = await started(project)
    assert "css" not in found.skills
    assert await told(found, "file_touched", write(project / "web" / "src" / "a.css", ""), tmp_path / "x") == [
        Reminder("skills", "There are new or changed skills:\n- css: Styles")
    ]
    assert "outside" not in found.skills


async def test_skills_in_use_are_attached_again_after_a_compaction(project: Path) -> None:
    skill(project, "small", "Write short.")
    skill(project, "large", "word " * 20_000)
    found = await started(project)
    assert await told(found, "after_compaction") == []
    await found.invoke("large")
    await found.invoke("small")
    await found.invoke("small", "again", by="user")
    ((reminder),) = await told(found, "after_compaction")
    assert reminder.key == "skills-in-use"
    assert reminder.text.count("Write short.") == 1
    assert reminder.text.index("Write short.\n\nARGUMENTS: again") < reminder.text.index("Skill large")
    assert "characters left out; invoke it again to see them" in reminder.text
    assert len(reminder.text) < 20_000


async def test_a_resumed_session_hears_only_what_is_new(project: Path) -> None:
    skill(project, "a", description="A")
    skill(project, "b", description="B")
    first = await started(project)
    section = f"# This session\n\n{first.skills_listing()}\n\n{first.agents_listing()}"
    skill(project, "late", description="Told by reminder")
    (reminder,) = await told(first)
    sent = [
        user("hi"),
        Message("user", (TextBlock(f"<system-reminder>\n{reminder.text}\n</system-reminder>", "reminder"),)),
    ]
    (project / ".claude" / "skills" / "b" / "SKILL.md").unlink()
    skill(project, "c", description="C")
    again = extensions(project)
    again.resume({"session_guidance": section}, sent)
    assert await told(again, "first_message") == [
        Reminder(
            "skills",
            "There are new or changed skills:\n- c: C\n\nThese skills are gone; don't use them any more:\n- b",
        )
    ]
    assert await told(again) == []


async def test_a_resumed_session_that_had_no_skills_hears_of_the_first(project: Path) -> None:
    section = f"# This session\n\n{extensions(project).agents_listing()}"
    again, bare, without = extensions(project), extensions(project), extensions(project)
    again.resume({"session_guidance": section}, [])
    bare.resume({}, [])
    without.resume({"session_guidance": section}, [], skill_tool=False)
    skill(project, "a", description="A")
    assert await told(again) == [Reminder("skills", "There are new or changed skills:\n- a: A")]
    assert await told(bare) == await told(without) == []


async def test_a_cleared_conversation_has_no_skill_in_use(project: Path) -> None:
    skill(project, "a", description="A")
    found = await started(project)
    await found.invoke("a")
    found.clear()
    assert await told(found, "after_compaction") == []


async def test_trust_that_comes_later(project: Path) -> None:
    skill(project, "a", description="A", allowed_tools="Bash(git *)")
    found = await started(project, trusted=False)
    assert found.skills["a"].allowed_tools == ()
    found.use(settings(project, trusted=True), trusted=True)
    assert found.skills["a"].allowed_tools == ("Bash(git *)",)
    assert await told(found) == []


async def test_a_claude_directory_that_is_made_later(project: Path) -> None:
    found = await started(project)
    skill(project, "a", description="A")
    assert await told(found) == [Reminder("skills", "There are new or changed skills:\n- a: A")]
