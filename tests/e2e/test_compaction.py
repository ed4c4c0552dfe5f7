"""Compaction, taking it back and clearing in whole sessions on the strict server."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agentcli.commands import compact
from agentcli.commands.base import CommandContext
from agentcli.errors import UserError
from agentcli.events import Compacted, Notice
from agentcli.ports.permissions import PermissionUpdate
from agentcli.runtime.session import Session
from tests.api import ApiServer, Request, reply, text, thinking, tool_use
from tests.commands.test_money_and_window import NoDialogs
from tests.e2e.harness import NEWEST, Stage, appended, blocks, front

SUMMARY = "## Requests\nThe parser was mended; the writer is next.\n" * 4


@pytest.fixture
def stage(api: ApiServer, home: Path, project: Path) -> Stage:
    for name in ("parser", "writer"):
        (project / f"{name}.py").write_text("\n".join(f"def {name}_{n}(): ...  # part" for n in range(300)))
    (project / "CLAUDE.md").write_text("RULE-1: use tabs.\n\n# Compact instructions\nKeep TICKET-7.\n")
    (project / "inner").mkdir()
    (project / "inner" / "CLAUDE.md").write_text("RULE-2: inner code is generated.\n")
    (project / "inner" / "made.py").write_text("made = True\n")
    return Stage(api, home, project)


def read(stage: Stage, name: str, **more: int) -> Any:
    return tool_use("Read", {"file_path": str(stage.project / name), **more})


async def work(stage: Stage, session: Session) -> None:
    await stage.say(
        session,
        "Mend the parser, not the writer.",
        reply(thinking("So."), text("I look."), read(stage, "parser.py")),
        reply(thinking("And this."), read(stage, "inner/made.py")),
        "The parser is mended.",
    )
    await stage.say(session, "No, keep the old names.", reply(thinking("Names."), read(stage, "writer.py")), "Kept.")


def sent(request: Request) -> str:
    return json.dumps([request.json.get("system"), request.messages], ensure_ascii=False)


async def test_what_holds_is_in_the_first_request_after_it(stage: Stage) -> None:
    async with stage.session() as session:
        await work(stage, session)
        session.gate.apply((PermissionUpdate("addRules", ("Bash(npm test:*)",)),))
        stage.play(SUMMARY)
        assert await session.compact() is not None
        asked = stage.requests[-1]
        assert asked.messages[-1]["content"][-1]["text"].endswith("Keep in particular:\nKeep TICKET-7.")
        await stage.say(session, "Go on.", "Done.")
    new = sent(stage.requests[-1])
    wanted = ["RULE-1", "RULE-2", "Mend the parser, not the writer.", "No, keep the old names.", "Bash(npm test:*)"]
    wanted += ["made = True", "def parser_0", "def writer_299", "the writer is next", "Go on."]
    assert [w for w in wanted if w not in new] == []
    assert new.count("RULE-2") == 1


@pytest.mark.parametrize("reopened", [False, True])
async def test_taken_back_the_same_bytes_are_sent_and_read(stage: Stage, reopened: bool) -> None:
    session = await stage.open()
    await work(stage, session)
    before = stage.requests[-1]
    stage.play(SUMMARY)
    assert await session.compact() is not None
    await stage.say(session, "In between.", "Yes.")
    if reopened:
        await session.close()
        session = await stage.open(resume=NEWEST)
    told = await compact.run(CommandContext(session, NoDialogs()), "--undo")
    assert "is back (about " in told.text
    await stage.say(session, "Rather this.", "So be it.")
    await session.close()
    after = stage.requests[-1]
    assert front(after) == front(before)
    assert [json.loads(b)[1].get("text") for b in appended(before, after)] == ["Kept.", "Rather this."]
    assert after.cache is not None
    assert before.cache is not None
    assert after.cache.read == before.cache.total
    monitor = stage.sessions[-1].monitor
    assert monitor.totals.breaks == 0
    async with stage.session(resume=NEWEST) as again:
        assert "Rather this." in again.state.messages[-2].text()
        assert again.undo_compaction() is None


async def test_the_command_previews_and_refuses_what_it_does_not_know(stage: Stage) -> None:
    async with stage.session() as session:
        ctx = CommandContext(session, NoDialogs())
        assert (await compact.run(ctx, "--undo")).text == "There is no compaction to take back."
        assert (await compact.run(ctx, "--preview")).text == "There is nothing to summarise yet."
        await work(stage, session)
        asked = len(stage.api.requests)
        shown = (await compact.run(ctx, "--preview the names")).text
        assert len(stage.api.requests) == asked
        assert "Keep in particular:\nthe names\nKeep TICKET-7." in shown
        assert "| The user's last request, word for word: |" in shown
        with pytest.raises(UserError, match="--undo"):
            await compact.run(ctx, "--everything")


async def test_the_conversation_is_valid_with_half_a_character_in_it(stage: Stage) -> None:
    async with stage.session() as session:
        await work(stage, session)
        await stage.say(session, "half \ud83d of it", "Fine \ud83d.")
        stage.play("The summary with \ude00.")
        assert await session.compact("keep \udc9f") is not None
        await stage.say(session, "Go on.", "Done.")
    async with stage.session(resume=NEWEST) as session:
        await stage.say(session, "And now?", "Done.")
    stage.api.assert_clean()
    assert "half \ufffd of it" in sent(stage.requests[-1])


CLEARING = json.dumps({"toolResultClearing": True})


async def readings(stage: Stage, session: Session, count: int = 9) -> None:
    pages = [reply(thinking(f"Page {n}."), read(stage, "parser.py", offset=1 + n, limit=200)) for n in range(count)]
    await stage.say(session, "Read it all.", *pages, "Read.")


async def test_results_are_cleared_when_the_cache_is_cold_and_stay_so(stage: Stage) -> None:
    async with stage.session(settings=CLEARING) as session:
        await readings(stage, session)
        warm = stage.requests[-1]
        assert "Old tool results may be replaced" in sent(warm)
        await stage.say(session, "Go on.", "Going.")
        assert appended(warm, stage.requests[-1])
        stage.clock.advance(400)
        await stage.say(session, "And now?", "Cleared.")
        await stage.say(session, "Further.", "Far.")
    cold, last = stage.requests[-2:]
    assert sum("was cleared to save room" in b for b in blocks(cold)) == 4
    assert cold.cache is not None
    assert warm.cache is not None
    assert cold.cache.total < warm.cache.total - 5_000
    assert len(appended(cold, last)) == 2
    told = [n.code for n in stage.heard if isinstance(n, Notice)]
    assert told == ["results_cleared"]
    assert stage.sessions[0].monitor.totals.breaks == 0
    async with stage.session(resume=NEWEST, settings=CLEARING) as session:
        await stage.say(session, "Back.", "Here.")
    assert appended(last, stage.requests[-1])
    stage.api.assert_clean()


async def test_a_resumed_session_knows_that_the_cache_is_cold(stage: Stage) -> None:
    async with stage.session(settings=CLEARING) as session:
        await readings(stage, session)
    stage.clock.advance(400)
    async with stage.session(resume=NEWEST, settings=CLEARING) as session:
        await stage.say(session, "And now?", "Cleared.")
    assert sum("was cleared to save room" in b for b in blocks(stage.requests[-1])) == 4


async def test_without_the_setting_nothing_is_cleared(stage: Stage) -> None:
    async with stage.session() as session:
        await readings(stage, session)
        stage.clock.advance(400)
        before = stage.requests[-1]
        await stage.say(session, "And now?", "Whole.")
        assert appended(before, stage.requests[-1])
        assert "Old tool results may be replaced" not in sent(stage.requests[-1])
    assert not [e for e in stage.heard if isinstance(e, Compacted)]


async def test_settings_that_change_are_followed_and_clear_leaves_nothing_to_take_back(stage: Stage) -> None:
    async with stage.session() as session:
        assert session.agent.compact_threshold is not None
        await work(stage, session)
        stage.play(SUMMARY)
        assert await session.compact() is not None
        (stage.home / ".claude").mkdir(exist_ok=True)
        off = {"autoCompactEnabled": False, "toolResultClearing": True}
        (stage.home / ".claude" / "settings.json").write_text(json.dumps(off))
        await stage.say(session, "Go on.", "Done.")
        assert session.agent.compact_threshold is None
        assert not session.agent.limits.clear_results
        await session.clear()
        assert session.agent.limits.clear_results
        assert session.undo_compaction() is None
        await stage.say(session, "Anew.", "Done.")
        assert "Old tool results may be replaced" in sent(stage.requests[-1])


async def test_by_itself_in_the_middle_of_a_turn(stage: Stage) -> None:
    """The summary's request reads all that was sent; the work goes on behind it."""
    stage.environment["CLAUDE_AUTOCOMPACT_PCT_OVERRIDE"] = "1"
    stage.api.lane(lambda r: "is about to be replaced by the summary" in str(r.messages[-1]), SUMMARY)
    async with stage.session() as session:
        assert session.agent.compact_threshold == 10_000
        pages = [reply(thinking(f"Page {n}."), read(stage, "writer.py", offset=1 + n)) for n in range(3)]
        finished = await stage.say(session, "Read it, and keep NAME-9.", *pages, "Read.")
        assert finished.steps == 4
    number = next(i for i, r in enumerate(stage.requests) if "is about to be replaced" in str(r.messages[-1]))
    before, asking, after = stage.requests[number - 1 : number + 2]
    assert before.cache is not None
    assert asking.cache is not None
    assert front(asking) == front(before) == front(after)
    assert appended(before, asking)
    assert asking.cache.read == before.cache.total
    assert len(after.messages) == 1
    texts = [b["text"] for b in after.messages[0]["content"]]
    assert "The user's last request, word for word:\n\nRead it, and keep NAME-9." in texts
    assert "Go on with the work where it stopped" in texts[-1]
    told = [e.code for e in stage.heard if isinstance(e, Notice)]
    assert "compaction_failed" not in told
    assert [e.trigger for e in stage.heard if isinstance(e, Compacted)] == ["auto"]
    stage.api.assert_clean()
