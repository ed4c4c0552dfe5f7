"""``#`` adds a line to a memory file; files from outside are loaded only after a yes; mentions go along."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any, cast

import pytest

from agentcli.events import StepStarted
from agentcli.memory import MemoryRoom, Outside, read_places
from agentcli.messages import TextBlock
from agentcli.ports.frontend import UserInput
from agentcli.settings.merged import Settings
from tests.ui.scripted import Pause, ScriptedSession
from tests.ui.theatre import theatre

OUTSIDE = (Outside(Path("/elsewhere/rules.md"), Path("/code/CLAUDE.md"), 3), Outside(Path("/x"), Path("/y")))


@pytest.fixture
def session(repo: Path, home: Path) -> ScriptedSession:
    made = ScriptedSession([[StepStarted(1, "m"), Pause("a")]], repo)
    made.memory = MemoryRoom(read_places(repo, Settings(()), os.environ), home=home / "agentcli")
    return made


async def test_a_note_goes_to_the_chosen_file(session: ScriptedSession, repo: Path) -> None:
    (repo / "CLAUDE.md").write_text("# Rules\r\n")
    async with theatre(session, columns=140) as show:
        show.keys("# use tabs\r")
        await show.see("Where is this to be remembered?")
        assert f"❯ 1. {repo / 'CLAUDE.md'}  Project" in show.screen
        show.keys("\r")
        await show.see(f"Added to {repo / 'CLAUDE.md'}.")
    assert (repo / "CLAUDE.md").read_bytes() == b"# Rules\r\n- use tabs\r\n"
    assert session.received == []


async def test_a_note_may_turn_out_to_be_a_message_or_nothing(session: ScriptedSession, repo: Path) -> None:
    async with theatre(session, columns=140) as show:
        show.keys("#5 is the issue to mend\r")
        await show.see("4. Nowhere")
        show.keys("\x1b")
        await show.see("Nothing was added.")
        show.keys("\x1b[A\r")
        await show.see("❯ /remember 5 is the issue to mend\n\nNothing was added.\n\n❯ /remember")
        show.keys("4")
        await show.until(lambda: session.received == [UserInput("#5 is the issue to mend")])
        await show.gone("4. Nowhere")
        show.keys("#7 too\r")
        await show.see("4. Nowhere")
        show.keys("4")
        await show.see("queued: #7 too")
    assert not (repo / "CLAUDE.md").exists()


async def test_headings_are_no_notes(session: ScriptedSession) -> None:
    async with theatre(session) as show:
        show.keys("# Title\n\ntext\r")
        await show.until(lambda: session.received == [UserInput("# Title\n\ntext")])


@pytest.mark.parametrize(("key", "answer"), [("\r", False), ("2", True), ("\x1b", None)])
async def test_files_from_outside_are_asked_about(session: ScriptedSession, key: str, answer: bool | None) -> None:
    async with theatre(session) as show:
        show.keys("go\r")
        await show.see("Waiting")
        asked = asyncio.create_task(cast("Any", session.asking.outside(OUTSIDE)))
        await show.see("❯ 1. No, leave them out")
        assert "    /elsewhere/rules.md (named in /code/CLAUDE.md:3)\n    /x (named in /y)\n" in show.screen
        show.time += 1
        show.keys(key)
        assert await asked is answer


async def test_what_is_mentioned_goes_along_and_is_taken_back_as_typed(session: ScriptedSession) -> None:
    async def prepare(_: ScriptedSession, prompt: UserInput) -> UserInput:
        return UserInput(prompt.text, (TextBlock("attached", "reminder"),)) if "@" in prompt.text else prompt

    async with theatre(session, prepare=prepare) as show:
        show.keys("look at @a\r")
        await show.see("Waiting")
        assert session.received == [UserInput("look at @a", (TextBlock("attached", "reminder"),))]
        show.keys("and @b\r")
        await show.see("queued: and @b")
        assert session.queue == [UserInput("and @b", (TextBlock("attached", "reminder"),))]
        show.keys("\x1b[A")
        await show.until(lambda: show.caret_text == "❯ and @b")
        show.keys("\r")
        await show.see("queued: and @b")
        assert session.queue == [UserInput("and @b", (TextBlock("attached", "reminder"),))]
