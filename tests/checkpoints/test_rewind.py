"""``/rewind`` with files: what it shows, what it does, what it leaves alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentcli.errors import UserError
from agentcli.model.scripted import call, say
from agentcli.ports.frontend import UserInput
from agentcli.runtime.options import Resume
from tests.checkpoints.desk import tree
from tests.commands.test_commands import Desk, desk

FREE = {"permission_mode": "bypassPermissions", "allow_bypass": True}


def bash(command: str) -> object:
    return say(call("Bash", command=command))


async def three_turns(show: Desk) -> None:
    for words in ("one", "two", "three"):
        await show.say(words)


STEPS = (
    bash("echo 1 > a; touch new"),
    "First.",
    "Second, only words.",
    say(call("Read", file_path="a"), call("Edit", file_path="a", old_string="1", new_string="x")),
    "Third.",
)


async def test_what_would_change_is_shown_before_anything_is_asked(project: Path) -> None:
    (project / "a").write_text("0\n")
    before = tree(project)
    async with desk(project, *STEPS, **FREE) as show:
        await three_turns(show)
        show.dialogs.answers = ["2", "both"]
        done = await show("rewind")
        (_, messages, _), (question, what, _) = show.dialogs.seen
        assert [c.description.partition("; ")[2] for c in messages] == [
            "files: 1",
            "files: 1",
            "files: 2",
        ]
        assert (question, [c.value for c in what]) == ("What goes back?", ["both", "conversation", "code"])
        assert show.dialogs.shown == [
            "Files that going back would change: 2\n\n- `a`: changes +1 −1\n- `new`: is removed"
        ]
        assert done.text.endswith("\n\nRestored files: 2. `/rewind undo` takes that back.")
        assert done.draft == UserInput("one")
        assert show.session.state.messages == []
        assert tree(project) == before


async def test_only_files_or_only_the_conversation(project: Path) -> None:
    (project / "a").write_text("0\n")
    async with desk(project, *STEPS, **FREE) as show:
        await three_turns(show)
        messages = list(show.session.state.messages)
        done = await show("rewind 1 code")
        assert (done.text, done.draft) == ("Restored files: 1. `/rewind undo` takes that back.", None)
        assert show.session.state.messages == messages
        assert (project / "a").read_text() == "1\n"
        assert show.session.state.pending[-1].text == "The user took files back to an earlier state: `a`."
        done = await show("rewind 0 conversation")
        assert done.draft == UserInput("three")
        assert (project / "a").read_text() == "1\n"
        assert [m.text() for m in show.session.state.messages][-2:] == ["two", "Second, only words."]


async def test_a_restoring_is_taken_back(project: Path) -> None:
    (project / "a").write_text("0\n")
    async with desk(project, *STEPS, **FREE) as show:
        with pytest.raises(UserError, match="No files have been restored"):
            await show("rewind undo")
        await three_turns(show)
        after = tree(project)
        await show("rewind 2 code")
        assert tree(project) == {"a": ("file", 0o644, b"0\n")}
        show.dialogs.answers = ["undo"]
        assert "Restored files: 2" in (await show("rewind")).text
        assert show.dialogs.seen[0][1][0].label.startswith("Take the restoring of files at ")
        assert tree(project) == after


async def test_files_that_somebody_else_changed_are_named_and_stay(project: Path) -> None:
    (project / "a").write_text("0\n")
    async with desk(project, *STEPS, **FREE) as show:
        await three_turns(show)
        (project / "a").write_text("mine\n")
        show.dialogs.answers = ["2", None]
        assert (await show("rewind")).text == ""
        stay = "These stay as they are:\n\n- `a`: somebody else changed it since"
        assert show.dialogs.shown == [
            f"Files that going back would change: 1\n\n- `new`: is removed\n\n{stay}",
        ]
        assert (await show("rewind 2 code")).text == f"Restored files: 1. `/rewind undo` takes that back.\n\n{stay}"
        assert tree(project) == {"a": ("file", 0o644, b"mine\n")}


async def test_the_right_turn_is_found_after_going_back_and_after_a_resume(project: Path) -> None:
    (project / "a").write_text("0\n")
    steps = [part for n in range(1, 6) for part in (bash(f"echo {n} > a"), f"{n}.")]
    async with desk(project, *steps, **FREE) as show:
        for _ in range(3):
            await show.say("go")
        await show("rewind 0 both")
        assert (project / "a").read_text() == "2\n"
        await show("rewind 0 conversation")
        await show.say("go")
        assert (project / "a").read_text() == "4\n"
        session_id = show.session.id
    async with desk(project, *steps[8:], resume=Resume(query=session_id), **FREE) as show:
        await show.say("go")
        assert (project / "a").read_text() == "5\n"
        await show("rewind 0 code")
        assert (project / "a").read_text() == "4\n"
        await show("rewind 1 code")
        assert (project / "a").read_text() == "2\n"
        await show("rewind 2 code")
        assert (project / "a").read_text() == "0\n"


async def test_a_cleared_session_has_checkpoints_of_its_own(project: Path) -> None:
    async with desk(project, bash("touch a"), "1", bash("touch b"), "2", **FREE) as show:
        await show.say()
        first = show.session.id
        await show("clear")
        await show.say()
        second = show.session.id
        assert (await show("diff")).text.count("new") == 1
    async with desk(project, resume=Resume(query=second), **FREE) as show:
        await show("rewind 0 both")
        assert sorted(tree(project)) == ["a"]
    async with desk(project, resume=Resume(query=first), **FREE) as show:
        await show("rewind 0 both")
        assert tree(project) == {}
