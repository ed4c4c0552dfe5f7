"""A resumed session sends what it had sent, and only appends."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agentcli.events import Notice, TextDelta
from agentcli.messages import ImageBlock
from agentcli.ports.frontend import UserInput
from agentcli.runtime.options import Resume
from agentcli.runtime.session import Session
from tests.api import ApiServer, Gate, Request, redacted, reply, text, thinking, tool_use
from tests.e2e.harness import FIRST_PARTY, NEWEST, PIXEL, Stage, appended, blocks, front, until
from tests.e2e.program import run

LONG = "A long line that says something about the code of this place.\n" * 60
UNCACHED = "The conversation is read uncached once, since it is resumed with another beginning:"
TODOS = [{"content": "mend it", "status": "in_progress", "activeForm": "mending it"}]


@pytest.fixture
def stage(api: ApiServer, home: Path, project: Path) -> Stage:
    for name in ("a.py", "b.py", "c.py"):
        (project / name).write_text(f"# {name}\n{LONG}")
    (project / "CLAUDE.md").write_text("Use tabs.\n")
    (project / "inner").mkdir()
    (project / "inner" / "CLAUDE.md").write_text("Inner code is generated.\n")
    (project / "inner" / "made.py").write_text("made = True\n")
    return Stage(api, home, project)


async def eventful(stage: Stage, session: Session) -> None:
    """An image, parallel calls, signed thinking, a todo reminder, an answer in another language, an interruption."""
    reads = [tool_use("Read", {"file_path": str(stage.project / n)}) for n in ("a.py", "inner/made.py", "c.py")]
    await stage.say(
        session,
        "Look at this.",
        reply(thinking("An image and three files. " * 20), text("Reading: «ü\u2028»"), *reads),
        reply(redacted(), tool_use("TodoWrite", {"todos": TODOS}), tool_use("Glob", {"pattern": "*.py", "path": "."})),
        *[reply(thinking(f"Step {n}."), tool_use("Grep", {"pattern": f"line {n}", "-n": True})) for n in range(11)],
        "Found it.",
        attach=[ImageBlock("image/png", PIXEL)],
    )
    gate = Gate()
    stage.play(
        reply(thinking("Once more."), tool_use("Read", {"file_path": str(stage.project / "a.py"), "limit": 3})),
        reply(thinking("Now I answer."), text("Half of an ans"), gate, text("wer")),
    )
    turn = asyncio.create_task(session.run(UserInput("Go on.")))
    await until(lambda: any(isinstance(e, TextDelta) and e.text.startswith("Half") for e in stage.heard))
    session.interrupt()
    assert (await turn).outcome == "interrupted"
    gate.open()


def last_sent(stage: Stage) -> Request:
    return [r for r in stage.api.requests if r.cache is not None][-1]


def check(before: Request, after: Request) -> list[str]:
    """The same front and messages, something appended, and nearly all of what was readable was read."""
    assert front(after) == front(before)
    assert after.betas == before.betas
    for name in ("model", "max_tokens", "thinking", "output_config", "tool_choice"):
        assert after.json.get(name) == before.json.get(name)
    assert after.cache is not None
    assert before.cache is not None
    assert after.cache.read >= 0.99 * before.cache.total
    assert after.cache.lost == 0
    return appended(before, after)


@pytest.fixture
async def left(stage: Stage) -> Stage:
    """A session with everything in it, closed."""
    async with stage.session(effort="low", thinking="adaptive") as session:
        await eventful(stage, session)
    return stage


async def test_every_way_to_go_on_sends_the_same_bytes(left: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    stage = left
    before = last_sent(stage)
    for told in ("todo list has not been updated", "Inner code is generated."):
        assert sum(told in b for b in blocks(before)) == 1
    async with stage.session(resume=NEWEST) as session:
        id = session.id
        assert session.start_notices == []
        await stage.say(session, "next", reply(thinking("Going on."), text("Yes.")))
        first = stage.requests[-1]
        new = check(before, first)
        kinds = [(role, block["type"]) for role, block in map(json.loads, new)]
        assert kinds == [("assistant", "thinking"), ("assistant", "text"), ("user", "text"), ("user", "text")]
        assert ["Half of an ans" in new[1], "interrupted the previous turn" in new[2], '"next"' in new[3]] == [True] * 3
        await stage.say(session, "more", "Surely.")
        check(first, stage.requests[-1])
    before = stage.requests[-1]
    async with stage.session(resume=Resume(query=id)) as session:
        await stage.say(session, "next2", "Right.")
    assert len(check(before, stage.requests[-1])) == 2

    before = stage.requests[-1]
    monkeypatch.setenv(FIRST_PARTY, "1")
    stage.play("Headless.")
    done = await asyncio.to_thread(run, "-p", "next3", "--resume", id, cwd=stage.project)
    assert (done.code, done.out.strip()) == (0, "Headless."), done.err
    assert len(check(before, stage.requests[-1])) == 2


async def test_model_effort_and_thinking_stay_though_settings_changed(stage: Stage) -> None:
    async with stage.session(model="opus") as session:
        await stage.say(session, "one " + LONG, reply(thinking("hm"), text("ok")))
        await session.set_model("sonnet", effort="low")
        await stage.say(session, "two", reply(thinking("hm"), text("ok")))
        before = stage.requests[-1]
    settings = stage.home / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text(json.dumps({"model": "haiku", "effortLevel": "high", "language": "Korean"}))
    async with stage.session(resume=NEWEST) as session:
        await stage.say(session, "three", "ok")
    assert (before.model, before.json["output_config"]["effort"]) == ("claude-sonnet-5-5", "low")
    assert len(check(before, stage.requests[-1])) == 3


async def test_a_switch_just_before_the_exit_holds_and_is_named(stage: Stage) -> None:
    async with stage.session() as session:
        await stage.say(session, "one " + LONG, reply(thinking("hm"), text("ok")))
        await session.set_model("opus")
    async with stage.session(resume=NEWEST) as session:
        (line,) = session.start_notices
        assert line == f"{UNCACHED} model changed (claude-sonnet-5-5 to claude-opus-5-5)."
        await stage.say(session, "two", "ok")
    assert stage.requests[-1].model == "claude-opus-5-5"
    assert "claude-opus-5-5" in stage.requests[-1].system_text


async def test_a_reminder_that_was_told_is_not_told_again(stage: Stage) -> None:
    async with stage.session() as session:
        await stage.say(session, "one", "ok")
        session.set_mode("plan")
        stage.clock.advance(15 * 3600)
        await stage.say(session, "two", "ok")
        before = stage.requests[-1]
        assert "today is 2026-12-01" in before.text
    (stage.project / "CLAUDE.md").write_text("Use blanks.\n")
    async with stage.session(resume=NEWEST) as session:
        await stage.say(session, "three", "ok")
    new = check(before, stage.requests[-1])
    assert len(new) == 4
    assert "Plan mode is off" in new[1] + new[2]
    assert "Use blanks." in new[1] + new[2]


def rewritten(stage: Stage, change: Any) -> None:
    """Alters the prefix records of the only session file, as another version would have written them."""
    (path,) = (stage.home / ".agentcli" / "projects").glob("*/*.jsonl")
    lines = []
    for line in path.read_text().splitlines():
        entry = json.loads(line)
        change(entry)
        lines.append(json.dumps(entry))
    path.write_text("\n".join(lines) + "\n")


async def test_another_versions_words_are_named_and_its_thinking_is_dropped(stage: Stage) -> None:
    async with stage.session() as session:
        await stage.say(session, "one " + LONG, reply(thinking("hm"), text("ok")))
    before = stage.requests[-1]

    def older(entry: dict[str, Any]) -> None:
        if entry["kind"] == "start":
            entry["version"] = "0.0.1"
        if entry["kind"] == "prefix":
            entry["system"]["parts"][1]["text"] += " Older words."
            entry["choices"]["thinking_bound"] = "of the older words"

    rewritten(stage, older)
    async with stage.session(resume=NEWEST) as session:
        (line,) = session.start_notices
        assert line.startswith("The conversation is read uncached once, since it is resumed by version ")
        assert "(it was 0.0.1) with another beginning: section `" in line
        await stage.say(session, "two", "ok")
        assert "hm" not in [b.get("thinking") for b in stage.requests[-1].blocks()]
        assert blocks(stage.requests[-1])[: len(blocks(before))] == blocks(before)
        changed = stage.requests[-1]
        await stage.say(session, "three", "ok")
        check(changed, stage.requests[-1])


async def test_a_tool_that_is_gone_is_named(stage: Stage) -> None:
    async with stage.session() as session:
        await stage.say(session, "one " + LONG, reply(thinking("hm"), text("ok")))

    def with_more(entry: dict[str, Any]) -> None:
        if entry["kind"] == "prefix":
            entry["tools"].append({**entry["tools"][0], "name": "Teleport"})
            entry["choices"]["thinking_bound"] = "of more tools"

    rewritten(stage, with_more)
    async with stage.session(resume=NEWEST) as session:
        assert session.start_notices == [f"{UNCACHED} tool `Teleport` removed."]
        await stage.say(session, "two", "ok")


async def test_thinking_that_the_server_does_not_take_back_is_dropped(stage: Stage, api: ApiServer) -> None:
    """A damaged line takes a message away: what was thought behind it is bound to it."""
    api.refused_is_fine = True
    async with stage.session() as session:
        for number in range(3):
            await stage.say(session, f"{number} " + LONG, reply(thinking(f"hm {number}"), text("ok")))
    (path,) = (stage.home / ".agentcli" / "projects").glob("*/*.jsonl")
    lines = path.read_text().splitlines()
    broken = next(i for i, line in enumerate(lines) if '"1 A long' in line)
    path.write_text("\n".join([*lines[:broken], lines[broken][:50], *lines[broken + 1 :]]) + "\n")
    async with stage.session(resume=NEWEST) as session:
        await stage.say(session, "on", "ok")
        assert [e.code for e in stage.heard if isinstance(e, Notice)].count("thinking_removed") <= 1
        await stage.say(session, "and on", "ok")
    assert not any(b["type"] == "thinking" and b["thinking"] == "hm 2" for b in stage.requests[-1].blocks())


async def test_a_copy_and_a_latched_hour_read_everything_after_a_pause(stage: Stage) -> None:
    async with stage.session(settings='{"promptCacheTtl": "1h"}') as session:
        await stage.say(session, "one " + LONG, reply(thinking("hm"), text("ok")))
        before = stage.requests[-1]
    stage.clock.advance(1800)
    async with stage.session(resume=replace(NEWEST, fork=True)) as session:
        await stage.say(session, "two", "ok")
    after = stage.requests[-1]
    check(before, after)
    assert after.cache is not None
    assert (after.cache.written_1h > 0, after.cache.written_5m) == (True, 0)


async def test_a_killed_session_reads_what_its_last_step_had_sent(stage: Stage) -> None:
    """The turn has no end in the file, and a step has more blocks than a lookup goes back."""
    calls = [
        tool_use("Read", {"file_path": str(stage.project / "a.py"), "offset": 1 + n, "limit": 1}) for n in range(25)
    ]
    async with stage.session() as session:
        await stage.say(session, "one", "ok")
        await stage.say(session, "two", reply(*calls), reply(*calls), "ok")
    (path,) = (stage.home / ".agentcli" / "projects").glob("*/*.jsonl")
    lines = path.read_text().splitlines(keepends=True)
    results = [i for i, line in enumerate(lines) if '"tool_result"' in line and '"kind":"message"' in line]
    path.write_text("".join(lines[: results[-1] + 1]))
    async with stage.session(resume=NEWEST) as session:
        await stage.say(session, "three", "ok")
    before, after = stage.requests[-3], stage.requests[-1]
    assert len(appended(before, after)) > 50
    assert after.cache is not None
    assert before.cache is not None
    assert after.cache.read >= before.cache.total


async def test_the_first_request_after_a_resume_is_judged_against_the_last_one_before(stage: Stage) -> None:
    async with stage.session() as session:
        await stage.say(session, "Look.", reply(tool_use("Read", {"file_path": str(stage.project / "a.py")})), "Seen.")
        known = session.monitor.last
        assert known is not None
        left_there = known.usage.cache_read + known.usage.cache_write
    async with stage.session(resume=NEWEST) as session:
        await stage.say(session, "next", "Yes.")
        same = session.monitor.last
        assert same is not None
        assert (same.before, same.readable, same.lost, same.cause) == (left_there, left_there, 0, "")
    stage.clock.advance(7200)
    async with stage.session(resume=NEWEST) as session:
        await stage.say(session, "later", "Yes.")
        cold = session.monitor.last
        assert cold is not None
        assert cold.lost > 0
        assert (cold.cause.partition(" 2")[0], cold.expected, cold.alert) == ("idle", True, False)
    async with stage.session(resume=NEWEST, model="claude-haiku-4-5") as session:
        await stage.say(session, "other", "Yes.")
        other = session.monitor.last
        assert other is not None
        assert other.cause.startswith("model changed")
        assert other.expected
