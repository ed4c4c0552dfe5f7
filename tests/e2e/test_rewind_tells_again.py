"""What a rewind takes away with the messages it is told again; what is still there is not."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentcli.runtime.options import Resume
from agentcli.runtime.session import Session
from tests.api import ApiServer, reply, text
from tests.e2e.harness import Stage

DAY = 24 * 3600
PLAN = "Plan mode is on."
TODAY = "today is 2026-12-01"


@pytest.fixture
def stage(home: Path, project: Path) -> Iterator[Stage]:
    with ApiServer() as api:
        yield Stage(api, home, project)
        assert api.refused == []


def sent(stage: Stage, words: str) -> int:
    """How often the last request's messages say it."""
    return json.dumps(stage.requests[-1].messages).count(words)


def back(session: Session, turn: int) -> None:
    session.agent.rewind(session.agent.turn_starts()[turn])


async def test_the_head_of_a_custom_prompt_comes_again_at_the_beginning(stage: Stage) -> None:
    (stage.project / "CLAUDE.md").write_text("MARK_one\n")
    async with stage.session(system_prompt="You are a parrot.") as session:
        await stage.say(session, "one", "1")
        first = stage.requests[-1].messages[0]["content"][0]["text"]
        await stage.say(session, "two", "2")
        back(session, 1)
        await stage.say(session, "two again", "2")
        assert sent(stage, "MARK_one") == 1
        back(session, 0)
        await stage.say(session, "one again", "1")
        assert stage.requests[-1].messages[0]["content"][0]["text"] == first
        assert sent(stage, "Scratch directory") == 1


async def test_date_mode_and_memory_are_told_again_when_they_were_taken_away(stage: Stage) -> None:
    memory = stage.project / "CLAUDE.md"
    memory.write_text("MARK_one\n")
    async with stage.session() as session:
        await stage.say(session, "one", "1")
        stage.clock.advance(DAY)
        session.set_mode("plan")
        memory.write_text("MARK_two\n")
        await stage.say(session, "two", "2")
        await stage.say(session, "three", "3")
        assert [sent(stage, w) for w in (PLAN, TODAY, "MARK_two")] == [1, 1, 1]
        back(session, 1)
        await stage.say(session, "two again", "2")
        assert [sent(stage, w) for w in (PLAN, TODAY, "MARK_two")] == [1, 1, 1]
        await stage.say(session, "three again", "3")
        back(session, 2)
        await stage.say(session, "three once more", "3")
        assert [sent(stage, w) for w in (PLAN, "MARK_two")] == [1, 1]
        back(session, 0)
        await stage.say(session, "all again", "1")
        assert [sent(stage, w) for w in (PLAN, TODAY, "MARK_two")] == [1, 1, 1]


async def test_an_index_of_notes_that_another_session_changed_is_told_again(stage: Stage) -> None:
    async with stage.session() as session:
        assert session.memory is not None
        (notes,) = session.memory.writable_directories()
        await stage.say(session, "one", "1")
        (notes / "MEMORY.md").write_text("- MARK_notes\n")
        await stage.say(session, "two", "2")
        await stage.say(session, "three", "3")
        assert sent(stage, "MARK_notes") == 1
        back(session, 2)
        await stage.say(session, "three again", "3")
        assert sent(stage, "MARK_notes") == 1
        back(session, 1)
        await stage.say(session, "two again", "2")
        assert sent(stage, "MARK_notes") == 1
        (notes / "MEMORY.md").unlink()
        await stage.say(session, "and now?", "4")
        back(session, 2)
        await stage.say(session, "and then?", "4")
        assert sent(stage, "there are no notes") == 1
        back(session, 1)
        await stage.say(session, "two once more", "2")
        assert [sent(stage, w) for w in ("there are no notes", "MARK_notes")] == [0, 0]


async def test_what_a_hook_said_at_the_start_is_said_again_there(stage: Stage) -> None:
    told = {"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "MARK_hook"}}
    command = {"type": "command", "command": f"echo '{json.dumps(told)}'"}
    settings = json.dumps({"hooks": {"SessionStart": [{"hooks": [command]}]}})
    async with stage.session(settings=settings) as session:
        session.start()
        await stage.say(session, "one", "1")
        await stage.say(session, "two", "2")
        assert sent(stage, "MARK_hook") == 1
        back(session, 1)
        await stage.say(session, "two again", "2")
        assert sent(stage, "MARK_hook") == 1
        back(session, 0)
        await stage.say(session, "one again", "1")
        assert sent(stage, "MARK_hook") == 1


async def test_another_process_knows_of_the_rewind(stage: Stage) -> None:
    async with stage.session() as session:
        await stage.say(session, "one", "1")
        stage.clock.advance(DAY)
        await stage.say(session, "two", "2")
        back(session, 1)
    async with stage.session(resume=Resume(query=session.id)) as again:
        await stage.say(again, "two again", "2")
        assert sent(stage, TODAY) == 1


async def test_a_mode_that_was_left_behind_a_compaction_is_told_when_that_is_taken_back(stage: Stage) -> None:
    async with stage.session() as session:
        await stage.say(session, "one", "a long story " * 400)
        stage.play(reply(text("A summary.")))
        assert await session.compact() is not None
        session.set_mode("plan")
        await stage.say(session, "two", "2")
        assert sent(stage, PLAN) == 1
        assert session.undo_compaction()
        await stage.say(session, "two again", "2")
        assert sent(stage, PLAN) == 1
