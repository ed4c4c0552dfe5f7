"""Skills and custom commands: places, who may call them, and the list within its budget."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentcli.errors import UserError
from agentcli.extend.expand import Surroundings
from agentcli.extend.listing import Item, budget, listing
from agentcli.extend.room import Extensions
from agentcli.ports.skills import InvokedSkill, LineOutcome
from tests.extend.worlds import agent, command, extensions, skill, write


async def ran(line: str, allowed: tuple[str, ...]) -> LineOutcome:
    return LineOutcome(f"{line} {allowed}")


def room(project: Path, **given: object) -> Extensions:
    found = extensions(project, **given)  # type: ignore[arg-type]  # settings
    found.surroundings = lambda: Surroundings(cwd=project, project=project, run=ran, may_read=lambda path: True)
    return found


def test_places_and_names(project: Path, home: Path) -> None:
    (project / ".git").mkdir()
    inner = project / "packages" / "web"
    skill(inner, "lint", description="Of the package")
    skill(project, "lint", description="Of the project")
    folder = project / ".claude" / "skills"
    write(folder / "pdf" / "SKILL.md", "---\nname: PDF tools\ndescription: Its name is for people\n---\nx")
    write(folder / "renamed" / "SKILL.md", "---\nname: other\n---\n# Do it.")
    skill(home, "mine", description="Of the user")
    skill(project, "mine", description="Hidden by the user's")
    command(project, "deploy", "Ship it.\nAll of it.")
    command(project, "git/push", "---\ndescription: Push\nargument-hint: [remote]\n---\nPush to $0")
    command(project, "lint", "hidden by the skill")
    write(project / ".claude" / "skills" / "notes.md", "no skill")
    found = extensions(inner)
    assert {n: s.description for n, s in found.skills.items()} == {
        "lint": "Of the package",
        "mine": "Of the user",
        "other": "Do it.",
        "pdf": "Its name is for people",
    }
    assert {n: (c.description, c.argument_hint) for n, c in found.commands.items()} == {
        "deploy": ("Ship it.", ""),
        "git:push": ("Push", "[remote]"),
    }
    assert found.warnings == ()


def test_names_that_cannot_be_typed_are_told(project: Path) -> None:
    command(project, "my command", "x")
    skill(project, "two words", description="d")
    found = extensions(project)
    assert (dict(found.skills), dict(found.commands)) == ({}, {})
    rule = "a command's file and directories are named with letters, digits, - and _, a letter first; rename it"
    assert [w.partition(".claude/")[2] for w in found.warnings] == [
        "skills/two words/SKILL.md: 'two words' is no name for a skill: use letters, digits, - and _; left out",
        f"commands/my command.md: {rule}; left out",
    ]


async def test_invoking(project: Path) -> None:
    path = skill(
        project, "review", "Look at $0. !`git diff`", allowed_tools="Bash(git *) Read", model="haiku", effort="low"
    )
    command(project, "deploy", "Ship $ARGUMENTS")
    found = room(project)
    text = "Look at a.py. git diff ('Bash(git *)', 'Read')"
    assert await found.invoke("review", "a.py") == InvokedSkill(
        "review",
        f"Skill review. Files that it names are in {path.parent}.\n\n{text}",
        allowed_tools=("Bash(git *)", "Read"),
        model="haiku",
        effort="low",
    )
    assert await found.typed("/deploy to  prod") == InvokedSkill("deploy", "Ship to  prod")
    assert await found.typed("/deploy\nto prod") == InvokedSkill("deploy", "Ship to prod")
    assert await found.typed("/nothing x") is None
    assert await found.typed("deploy") is None
    write(path, "---\ndescription: d\n---\nNew words")
    assert (await found.invoke("/review")).text.endswith("New words")


async def test_who_may_call(project: Path) -> None:
    skill(project, "careful", disable_model_invocation="true")
    skill(project, "inner", user_invocable="false")
    found = room(project)
    assert (await found.invoke("careful", by="user")).name == "careful"
    assert (await found.invoke("inner")).name == "inner"
    for name, by, problem in (
        ("careful", "model", "only the user starts the skill 'careful': ask them to type /careful"),
        ("inner", "user", "/inner is a skill for the model only"),
        ("none", "model", "there is no skill 'none'. Use a name from the list of skills."),
    ):
        with pytest.raises(UserError, match=problem):
            await found.invoke(name, by=by)  # type: ignore[arg-type]  # a literal
    assert found.skills_listing() == "## Skills\n\n- inner: Do it."


async def test_a_forked_skill_asks_for_the_tool_when_typed(project: Path) -> None:
    skill(project, "research", "Find $ARGUMENTS", context="fork", agent="explore")
    found = room(project)
    typed = await found.invoke("research", "the leak", by="user")
    assert typed == InvokedSkill(
        "research", "Run the skill research (call Skill) with the arguments: the leak, and tell me what came of it."
    )
    called = await found.invoke("research", "the leak")
    assert (called.fork, called.agent) == (True, "explore")
    assert called.text.endswith("Find the leak")


async def test_an_agent_begins_with_its_skills(project: Path) -> None:
    skill(project, "style", "Write short.", disable_model_invocation="true")
    agent(project, "writer", skills="style")
    agent(project, "lost", skills="nowhere")
    found = room(project)
    assert [s.text.partition("\n\n")[2] for s in await found.preloaded(found.agent("writer"))] == ["Write short."]
    with pytest.raises(UserError, match="there is no skill 'nowhere'"):
        await found.preloaded(found.agent("lost"))


def test_the_settings_hide_and_shorten(project: Path) -> None:
    for name in ("a", "b", "c", "d"):
        skill(project, name, description=f"About {name}")
    overrides = {"b": "name-only", "c": "user-invocable-only", "d": "off"}
    found = extensions(project, skillOverrides=overrides)
    assert found.skills_listing() == "## Skills\n\n- a: About a\n- b"
    assert list(found.skills) == ["a", "b", "c"]
    assert extensions(project, skillListingMaxDescChars=5).skills_listing() == (
        "## Skills\n\n- a: Abou…\n- b: Abou…\n- c: Abou…\n- d: Abou…"
    )


def test_a_description_is_one_line_and_says_when(project: Path) -> None:
    skill(project, "pdf", description='"Reads\\n# PDF files\\n- really"', when_to_use="on PDF files")
    write(
        project / ".claude" / "skills" / "old" / "SKILL.md",
        "---\ndescription: Reads.\nwhen_to_use: Use it for: old files\n---\nx",
    )
    assert extensions(project).skills_listing() == (
        "## Skills\n\n- old: Reads. Use it for: old files\n- pdf: Reads # PDF files - really on PDF files"
    )


def test_no_skills_no_list(project: Path) -> None:
    assert extensions(project).skills_listing() is None


def test_the_budget() -> None:
    assert budget(200_000, None) == 8_000
    assert budget(200_000, 0.02) == 16_000
    assert budget(None, 0.02) == 8_000
    for odd in (True, 0, -1, 2, "x"):
        assert budget(200_000, odd) == 8_000


@pytest.mark.parametrize("characters", [0, 10, 40, 120, 400, 1_200, 5_000, 20_000])
def test_a_list_keeps_to_its_budget(characters: int) -> None:
    items = [Item(f"skill-{n}", f"Number {n}: " + "word " * n) for n in range(40)]
    text = listing(items, characters=characters)
    assert len(text) <= max(characters, len("- and 40 more"))
    assert listing(items, characters=characters) == text
    names = [line.removeprefix("- ").partition(":")[0] for line in text.split("\n")]
    assert names in (
        [i.name for i in items],
        [*(i.name for i in items[: len(names) - 1]), f"and {41 - len(names)} more"],
    )


def test_long_descriptions_give_way_first() -> None:
    items = [Item("a", "short"), Item("b", "x" * 3_000), Item("c", "y" * 3_000)]
    assert [len(line) for line in listing(items).split("\n")] == [10, 1_541, 1_541]
    assert [len(line) for line in listing(items, characters=200).split("\n")] == [10, 93, 93]
    assert listing(items, characters=30) == "- a\n- b\n- c"
