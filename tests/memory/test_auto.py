"""The agent's own notes: where they lie, what of them is sent, what may be written."""

from __future__ import annotations

import os
import stat
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as rounds
from hypothesis import strategies as st

from agentcli.memory import auto_places, read_places, refuse_link, refuse_secret
from agentcli.memory.auto import BYTES, LINES, AutoPlaces, cut_index
from agentcli.settings.merged import Settings
from tests.memory.worlds import Desk, settings, write


def places_at(start: Path, chosen: Settings | None = None, **flags: bool) -> AutoPlaces | None:
    found = chosen or Settings(())
    places = read_places(start, found, os.environ, managed=Path("/none"))
    return auto_places(places, found, os.environ, Path(os.environ["HOME"]) / ".agentcli", **flags)


def personal(desk: Desk) -> Path:
    [directory] = desk.room.writable_directories()
    return directory


async def test_guidance_and_index(project: Path, golden) -> None:
    desk = Desk(project, auto=True)
    section = await desk.section()
    directory = personal(desk)
    assert len(section) < 1300
    write(directory / "MEMORY.md", "- [style](style.md): tabs\n")
    write(directory / "style.md", "TOPIC")
    section = await desk.section()
    assert "TOPIC" not in section
    golden("auto.md", section.replace(str(directory), "/m") + "\n")
    assert stat.S_IMODE(directory.stat().st_mode) == 0o700
    assert desk.warnings == []


async def test_an_index_over_the_limit_is_cut_at_a_line(project: Path) -> None:
    desk = Desk(project, auto=True)
    index = write(personal(desk) / "MEMORY.md", "".join(f"- note {i} é\n" for i in range(400)) + "MARK_m_end\n")
    section = await desk.section()
    assert "- note 199 é\n[Only a part of this index is loaded: it has 401 lines" in section
    assert ("- note 200" in section, "MARK_m_end" in section) == (False, False)
    told = (
        f"it has 401 lines and {index.stat().st_size:,} bytes (limits: 200 and 25,000); missing at the end: 201 lines."
    )
    assert [w.partition(" Keep a line")[0] for w in desk.warnings] == [
        f"{index}: Only a part of this index is loaded: {told}"
    ]


@rounds(max_examples=60, deadline=None)
@given(st.lists(st.text(st.sampled_from("aé漢🙂 "), max_size=400), max_size=260))
def test_the_cut(lines: list[str]) -> None:
    text = "\n".join(lines)
    cut = cut_index(text)
    count = cut.total_lines - cut.dropped
    assert (count <= LINES, len(cut.text.encode()) <= BYTES) == (True, True)
    assert cut.text == "\n".join(text.removesuffix("\n").split("\n")[:count] if text else [])
    if cut.dropped and count < LINES:  # one line more would have been too much
        assert len("\n".join(lines[: count + 1]).encode()) + 1 > BYTES


def test_a_first_line_that_is_too_long_is_cut_between_characters() -> None:
    cut = cut_index("漢" * 10_000 + "\nmore\n")
    assert (cut.text, cut.dropped) == ("漢" * 8333, 2)


async def test_work_trees_and_directories_of_a_repository_share_it(repo: Path, world: Path) -> None:
    subprocess.run(["git", "worktree", "add", "-q", str(world / "tree")], check=True)
    (repo / "sub").mkdir()
    found = {places_at(p).personal for p in (repo, repo / "sub", world / "tree")}  # type: ignore[union-attr]  # is on
    assert len(found) == 1
    other = places_at(world)
    assert other is not None
    assert other.personal not in found


def test_directories_whose_names_look_alike_are_two(world: Path) -> None:
    names = []
    for name in ("a-b", "a_b", "a.b"):
        (world / name).mkdir()
        found = places_at(world / name)
        names.append(found.personal if found else None)
    assert len(set(names)) == 3


@pytest.mark.parametrize("variable", ["CLAUDE_CODE_DISABLE_AUTO_MEMORY", "CLAUDE_CODE_DISABLE_CLAUDE_MDS"])
def test_off_by_environment(project: Path, monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    monkeypatch.setenv(variable, "1")
    assert places_at(project) is None


async def test_off_by_setting(project: Path) -> None:
    desk = Desk(project, settings(autoMemoryEnabled=False), auto=True)
    assert await desk.room.section() is None
    assert desk.room.writable_directories() == ()


def test_another_directory(project: Path, home: Path) -> None:
    chosen = places_at(project, settings(autoMemoryDirectory="~/notes"))
    assert chosen is not None
    assert chosen.personal == home / "notes"


@pytest.mark.parametrize("value", ["relative", "/", "~", "", "~/.."])
def test_directories_that_can_not_be_chosen(project: Path, value: str) -> None:
    assert places_at(project, settings(autoMemoryDirectory=value)) == places_at(project)


def test_a_project_does_not_choose_where_the_agent_writes_unasked(project: Path) -> None:
    foreign = settings(scope="project", foreign=True, autoMemoryDirectory="~/.ssh")
    assert places_at(project, foreign) == places_at(project)


async def test_a_home_that_can_not_be_written(project: Path, home: Path) -> None:
    write(home / ".agentcli", "a file")
    desk = Desk(project, auto=True)
    assert await desk.room.section() is None
    assert len(desk.warnings) == 1
    assert desk.warnings[0].endswith("there is no auto memory")


async def test_what_the_agent_writes_there_becomes_private(project: Path) -> None:
    desk = Desk(project, auto=True)
    await desk.section()
    note = write(personal(desk) / "topics" / "a.md", "x")
    note.chmod(0o666)
    note.parent.chmod(0o777)
    other = write(project / "a.md", "x")
    other.chmod(0o644)
    await desk.touch(note, other)
    assert [stat.S_IMODE(p.stat().st_mode) for p in (note, note.parent, other)] == [0o600, 0o700, 0o644]


async def test_the_agents_own_writing_is_no_news_but_that_of_others_is(project: Path) -> None:
    desk = Desk(project, auto=True)
    await desk.section()
    index = write(personal(desk) / "MEMORY.md", "- mine\n")
    assert await desk.touch(index) == ""
    assert await desk.step() == ""
    write(index, "- mine\n- of another session\n")
    told = await desk.step()
    assert told.startswith("Another session has changed the notes.")
    assert "- of another session" in told
    assert await desk.step() == ""


async def test_an_index_that_grows_too_long_is_told_after_the_write(project: Path) -> None:
    desk = Desk(project, auto=True)
    await desk.section()
    index = write(personal(desk) / "MEMORY.md", "- x\n" * 201)
    assert "it has 201 lines" in await desk.touch(index)
    assert await desk.touch(index) == ""


async def test_a_link_that_leads_out_is_not_followed(project: Path, world: Path) -> None:
    desk = Desk(project, auto=True)
    await desk.section()
    directory = personal(desk)
    (directory / "MEMORY.md").symlink_to(write(world / "secret", "SECRET"))
    (directory / "out").symlink_to(world)
    assert "SECRET" not in await desk.section()
    words = "leads out of the memory directory, by way of a link; not loaded"
    assert desk.warnings == [f"{directory}/MEMORY.md {words}"]
    assert refuse_link(directory / "out" / "x.md", directory) is not None
    assert refuse_link(directory / "in" / "x.md", directory) is None


async def test_the_team_has_notes_of_its_own(repo: Path) -> None:
    write(repo / ".claude" / "memory" / "MEMORY.md", "- [deploy](deploy.md): by hand\n")
    desk = Desk(repo, auto=True, flags={"team": True})
    write(personal(desk) / "MEMORY.md", "- [me](me.md)\n")
    section = await desk.section()
    assert section.index("your own notes") < section.index("the team's notes") < section.index("by hand")
    assert desk.room.writable_directories() == (personal(desk),)
    assert "the team's notes" not in await Desk(repo, auto=True).section()


def test_secrets_are_refused_in_the_teams_notes(repo: Path) -> None:
    key = "AKIA" + "ABCDEFGHIJKLMNOP"
    team = repo / ".claude" / "memory" / "deploy.md"
    assert refuse_secret(team, "deploy with make\n") is None
    refused = refuse_secret(team, f"one\nkey {key}\n")
    assert refused is not None
    assert refused.startswith("line 2 looks like an AWS access key.")
    assert refuse_secret(repo / "notes.md", key) is None


async def test_a_log_of_the_day(project: Path, golden) -> None:
    desk = Desk(project, auto=True, flags={"daily_log": True})
    section = await desk.section()
    golden("auto_log.md", section.replace(str(personal(desk)), "/m") + "\n")
    index = write(personal(desk) / "MEMORY.md", "- x\n" * 300)
    assert await desk.touch(index) == ""


async def test_a_resumed_conversation_knows_its_notes(project: Path) -> None:
    desk = Desk(project, auto=True)
    section = await desk.section()
    write(personal(desk) / "MEMORY.md", "- by the conversation itself\n")
    desk.open()
    desk.room.resume({"memory": section}, [])
    assert await desk.step() == ""
