"""``/rewind``, ``/tasks``, ``/theme``, ``/remember`` and what ``/status`` says of trouble."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from agentcli.errors import UserError
from agentcli.events import Notice
from agentcli.i18n import Texts
from agentcli.model.scripted import call, say
from agentcli.ports.frontend import UserInput
from agentcli.runtime.options import Resume
from tests.commands.test_commands import Desk, desk

ALL = "bypassPermissions"


async def test_rewinding_takes_the_conversation_back_and_hands_out_the_message(project: Path) -> None:
    (project / "a.txt").write_text("one\n")
    async with desk(project, "First.", say(call("Read", file_path="a.txt")), "Second.", "Third.") as show:
        await show.say("one")
        kept = list(show.session.state.messages)
        await show.say("two")
        await show.say("three")
        show.dialogs.answers = ["1"]
        done = await show("rewind")
        labels = [c.label for c in show.dialogs.seen[0][1]]
        assert labels == ["three", "two", "one"]
        assert "6 messages go" in show.dialogs.seen[0][1][1].description
        assert done.draft == UserInput("two")
        assert done.text.startswith("Back to before that message: about ")
        assert show.session.state.messages == kept
        assert show.session.toolbox.seen.get(project / "a.txt") is None
        await show.say("instead")
        assert [m.text() for m in show.session.state.messages] == ["one", "First.", "instead", "Fine."]
        session_id = show.session.id
    async with desk(project, resume=Resume(query=session_id)) as again:
        assert [m.text() for m in again.session.state.messages] == ["one", "First.", "instead", "Fine."]


async def test_the_first_prompt_behind_a_compaction_can_be_taken_back(project: Path) -> None:
    async with desk(project, "First answer. " * 200, "THE SUMMARY", "Second.", "Third.") as show:
        await show.say("one")
        await show("compact")
        assert (await show("copy")).copy == ("First answer. " * 200).strip()
        compacted = list(show.session.state.messages)
        await show.say("two")
        assert (await show("copy")).copy == "Second."
        await show.say("three")
        show.dialogs.answers = ["1"]
        done = await show("rewind")
        assert [c.label for c in show.dialogs.seen[0][1]] == ["three", "two"]
        assert done.draft == UserInput("two")
        assert show.session.state.messages == compacted
        await show.say("instead")
        kept = list(show.session.state.messages)
        assert [m.role for m in kept] == ["user", "assistant"]
        assert kept[0].content[: len(compacted[0].content)] == compacted[0].content
        assert "instead" in kept[0].text()
        assert "two" not in kept[0].text()
        session_id = show.session.id
    async with desk(project, resume=Resume(query=session_id)) as again:
        assert list(again.session.state.messages) == kept
        assert (await again("rewind 0")).draft == UserInput("instead")


async def test_rewinding_needs_a_message_and_a_sensible_number(project: Path) -> None:
    async with desk(project, "First.") as show:
        with pytest.raises(UserError, match="no message to go back to"):
            await show("rewind")
        await show.say("one")
        with pytest.raises(UserError, match="0 is the last message, 0 the first"):
            await show("rewind 1")
        show.dialogs.answers = [None]
        assert (await show("rewind")).draft is None
        assert len(show.session.state.messages) == 2
        assert (await show("rewind 0")).draft == UserInput("one")
        assert show.session.state.messages == []


async def started(show: Desk, command: str) -> str:
    """A background command that has written its first line."""
    job = await show.session.toolbox.jobs.start(command, show.session.workspace.cwd, environment={})
    async with asyncio.timeout(10):
        while not show.session.toolbox.jobs.tail(job.id):
            await asyncio.sleep(0.01)
    return job.id


async def test_tasks_show_output_that_stays_unread_and_end_what_runs(project: Path) -> None:
    async with desk(project) as show:
        assert (await show("tasks")).text == "Nothing runs in the background, and nothing did."
        name = await started(show, "echo begun '```'; sleep 987")
        show.dialogs.answers = [None, name]
        listing = (await show("tasks")).text
        assert listing.startswith(f"- {name}: running, ")
        assert listing.endswith("`echo begun '```'; sleep 987`")
        assert (await show("tasks")).text == ""
        assert show.dialogs.questions == [f"End {name}?"]
        job = show.session.toolbox.jobs.get(name)
        assert job is not None
        assert (job.state, job.unread) == ("running", len("begun ```\n"))
        show.dialogs.confirmed = True
        assert f"{name}: stopped, " in (await show(f"tasks {name}")).text
        done = (await show(f"tasks {name}")).text
        assert done.endswith("\n\n````\nbegun ```\n````")
        other = await started(show, "echo x; sleep 987")
        assert f"{other}: stopped, " in (await show(f"tasks kill {other}")).text
        with pytest.raises(UserError, match=r"There is no background task 'nine'. There are: bash_1, bash_2"):
            await show("tasks kill nine")


async def test_a_theme_is_kept_in_the_users_settings(project: Path, home: Path) -> None:
    path = home / ".claude" / "settings.json"
    path.parent.mkdir()
    path.write_text(json.dumps({"model": "opus"}))
    async with desk(project) as show:
        show.dialogs.answers = ["daltonised", None]
        done = await show("theme")
        assert (done.theme, done.text) == ("daltonised", f"The theme is daltonised (kept in `{path}`).")
        assert json.loads(path.read_text()) == {"model": "opus", "theme": "daltonised"}
        assert (await show("theme")).theme == ""
        with pytest.raises(UserError, match=r"no theme 'pink'. There are: dark, light, daltonised, none"):
            await show("theme pink")
        path.write_text("{broken")
        done = await show("theme light")
        assert done.theme == "light"
        assert "for this session" in done.text
        assert path.read_text() == "{broken"


async def test_notes_without_memory_are_refused(project: Path) -> None:
    async with desk(project, bare=True) as show:
        with pytest.raises(UserError, match="reads no memory files"):
            await show("remember something")


async def test_status_names_what_is_of_no_use(project: Path, home: Path) -> None:
    path = home / ".claude" / "settings.json"
    path.parent.mkdir()
    path.write_text(json.dumps({"permissions": {"allow": ["Bash(unclosed"]}, "modle": "opus"}))
    async with desk(project) as show:
        text = (await show("status")).text
    assert "Bash(unclosed" in text
    assert "unknown settings: modle" in text
    assert "Not used" not in text


async def test_ones_own_command_that_fails_says_its_exit_code(project: Path) -> None:
    async with desk(project) as show:
        await show.session.shell("exit 3")
        await show.session.shell("true")
        told = [e.text for e in show.events if isinstance(e, Notice)]
    assert told == ["exit code 3"]


async def test_a_session_speaks_of_its_state_in_the_users_language(project: Path) -> None:
    async with desk(project) as show:
        show.texts = Texts("ko")
        assert f"- **디렉터리:** `{project}`" in (await show("status")).text
        name = await started(show, "echo x; sleep 987")
        show.dialogs.answers = [None]
        assert (await show("tasks")).text.startswith(f"- {name}: 실행 중, ")
        await show.session.toolbox.jobs.kill(name)
