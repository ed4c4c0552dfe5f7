"""agentcli as a library: what a program that imports it relies on."""

from __future__ import annotations

import asyncio
import base64
import json
import re
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path

import pytest

import agentcli
from agentcli import Answer, PermissionAsked, SessionOptions, TextDelta, ToolFinished, TurnFinished
from agentcli.events import Event, PermissionResolved, StepStarted, ToolStarted
from tests.api import ApiServer, Gate, after, reply, text, tool_use
from tests.e2e.harness import PIXEL
from tests.processes.looking import alive, unique_seconds, until, zombies

ROOT = Path(agentcli.__file__).resolve().parent
WRITE = tool_use("Write", {"file_path": "a.txt", "content": "x"})


async def asked(prompt: str, **given: object) -> list[Event]:
    return [event async for event in agentcli.query(prompt, **given)]  # type: ignore[arg-type]


def finished(events: list[Event]) -> TurnFinished:
    """The last event, which alone is a ``TurnFinished``."""
    assert [e for e in events if isinstance(e, TurnFinished)] == events[-1:]
    last = events[-1]
    assert isinstance(last, TurnFinished)
    return last


def test_importing_loads_nothing_and_every_name_is_there() -> None:
    code = "import sys, agentcli; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-S", "-c", code], capture_output=True, text=True, check=True, cwd=ROOT.parent
    )
    loaded = done.stdout.split()
    assert not [m for m in loaded if m.startswith("agentcli.") or m in ("asyncio", "typing")]
    assert [name for name in agentcli.__all__ if not hasattr(agentcli, name)] == []
    assert (ROOT / "py.typed").exists()
    with pytest.raises(AttributeError, match="has no attribute 'qeury'"):
        agentcli.qeury  # type: ignore[attr-defined]  # noqa: B018


async def test_a_text_answer(api: ApiServer) -> None:
    api.play(reply(text("It is ", "fine.")))
    events = await asked("How is it?")
    assert "".join(e.text for e in events if isinstance(e, TextDelta)) == "It is fine."
    done = finished(events)
    assert (done.outcome, done.text, done.steps) == ("completed", "It is fine.", 1)


@pytest.mark.parametrize("allowed", [True, False])
async def test_a_callback_answers_permission_questions(api: ApiServer, project: Path, allowed: bool) -> None:
    questions: list[PermissionAsked] = []

    async def permission(question: PermissionAsked) -> Answer:
        questions.append(question)
        await asyncio.sleep(0)
        return Answer(allowed, "" if allowed else "not that file")

    api.play(reply(WRITE), reply("done"))
    events = await asked("write it", permission=permission)
    assert finished(events).outcome == "completed"
    assert [(q.name, q.input["content"]) for q in questions] == [("Write", "x")]
    assert [e.allowed for e in events if isinstance(e, PermissionResolved)] == [allowed]
    assert [e.denied for e in events if isinstance(e, ToolFinished)] == [not allowed]
    assert (project / "a.txt").exists() is allowed
    assert ("not that file" in api.requests[-1].text) is not allowed


async def test_without_a_callback_a_question_is_denied_in_clear_words(api: ApiServer, project: Path) -> None:
    api.play(reply(WRITE), reply("done"))
    events = await asked("write it")
    assert not [e for e in events if isinstance(e, PermissionAsked)]
    assert "Permission to use Write was not given: no one can answer here." in api.requests[-1].text
    assert not (project / "a.txt").exists()


async def test_questions_can_be_answered_from_the_stream(api: ApiServer, project: Path) -> None:
    api.play(reply(WRITE), reply("done"))
    async with agentcli.open_session(SessionOptions(answers_permissions=True)) as session:
        async for event in session.send("write it"):
            if isinstance(event, PermissionAsked):
                assert session.answer(event.request_id, Answer(True))
                assert not session.answer(event.request_id, Answer(False))
    assert (project / "a.txt").read_text() == "x"


@pytest.mark.parametrize("broken", ["raises", "returns a bool"])
async def test_a_broken_callback_denies_and_is_raised(api: ApiServer, project: Path, broken: str) -> None:
    async def permission(question: PermissionAsked) -> Answer:
        if broken == "raises":
            raise LookupError("no such policy")
        return True  # type: ignore[return-value]

    api.play(reply(WRITE), reply("and on"))
    async with agentcli.open_session(permission=permission) as session:
        with pytest.raises((LookupError, agentcli.UserError), match=r"no such policy|return agentcli\.Answer"):
            async for _ in session.send("write it"):
                pass
        assert finished([e async for e in session.send("go on")]).text == "and on"
    assert not (project / "a.txt").exists()


async def test_closing_early_leaves_no_process_and_a_valid_transcript(api: ApiServer, project: Path) -> None:
    seconds = unique_seconds()
    api.play(reply(tool_use("Bash", {"command": f"sleep {seconds}"})), reply("I see"))
    options = SessionOptions(permission_mode="bypassPermissions", allow_bypass=True)
    async with aclosing(agentcli.query("wait", options=options)) as events:
        async for event in events:
            if isinstance(event, ToolStarted):
                await until(lambda: alive(f"sleep {seconds}"))
                break
    assert not alive(seconds)
    assert not zombies()
    again = SessionOptions(resume=agentcli.Resume(newest=True))
    assert finished(await asked("what happened?", options=again)).text == "I see"
    (result,) = [b for b in api.requests[-1].blocks(role="user") if b["type"] == "tool_result"]
    assert result["is_error"]


async def test_a_turn_ends_by_interrupt_and_the_next_one_works(api: ApiServer) -> None:
    gate = Gate()
    api.play(after(gate, reply("never read")), reply("second"))
    async with agentcli.open_session() as session:
        first: list[Event] = []
        async for event in session.send("one"):
            first.append(event)
            if isinstance(event, StepStarted):
                await asyncio.to_thread(gate.wait_reached)
                session.interrupt()
        assert finished(first).outcome == "interrupted"
        gate.open()
        assert finished([e async for e in session.send("two")]).text == "second"


async def test_a_turn_is_cancelled_with_its_reader_wherever_it_is(api: ApiServer, project: Path) -> None:
    """A question that waits is withdrawn, and its callback with it."""
    withdrawn = asyncio.Event()

    async def permission(question: PermissionAsked) -> Answer:
        reading.cancel()
        try:
            await asyncio.Event().wait()
        finally:
            withdrawn.set()
        return Answer(True)

    api.play(reply(WRITE))
    reading = asyncio.create_task(asked("write it", permission=permission))
    with pytest.raises(asyncio.CancelledError):
        await reading
    assert withdrawn.is_set()
    assert not (project / "a.txt").exists()


async def test_closing_the_session_ends_the_turn_for_its_reader(api: ApiServer) -> None:
    api.play(after(Gate(), reply("never read")))
    async with agentcli.open_session() as session:
        events = session.send("one")
        first = await anext(events)
    assert finished([first, *[e async for e in events]]).outcome == "interrupted"


async def test_two_turns_read_the_cache(api: ApiServer) -> None:
    api.play(reply("one"), reply("two"))
    async with agentcli.open_session() as session:
        assert finished([e async for e in session.send("first")]).text == "one"
        second = finished([e async for e in session.send("second")])
        with pytest.raises(agentcli.UserError, match="A turn is running"):
            await _two_at_once(session, api)
    assert second.usage.cache_read > 0
    with pytest.raises(agentcli.UserError, match="closed"):
        await anext(session.send("third"))


async def _two_at_once(session: agentcli.Session, api: ApiServer) -> None:
    api.play(reply("three"))
    async with aclosing(session.send("third")) as events:
        await anext(events)
        await anext(session.send("fourth"))


async def test_what_can_not_be_opened_is_a_user_error(api: ApiServer, project: Path) -> None:
    for options in (SessionOptions(settings="{broken"), SessionOptions(cwd=project / "missing")):
        with pytest.raises(agentcli.UserError, match=r"not valid JSON|missing is no directory"):
            await asked("hello", options=options)


def test_the_readmes_example_runs(api: ApiServer, project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", (ROOT.parent / "README.md").read_text(), re.DOTALL)
    api.play(reply(WRITE, tool_use("Bash", {"command": "touch b.txt"})), reply("Fixed."))
    exec(compile(example, "README.md", "exec"), {"__name__": "example"})
    assert capsys.readouterr().out == "Fixed.\n"
    assert [path.name for path in project.iterdir()] == ["a.txt"]


# --- more than one prompt after the other -----------------------------------------------------------------------------


async def read(events: AsyncIterator[Event]) -> list[Event]:
    return [event async for event in events]


async def test_a_running_turn_can_be_steered(api: ApiServer) -> None:
    gate = Gate()
    look = tool_use("Glob", {"pattern": "*.py"})
    api.play(after(gate, reply(look)), reply("So I do."))
    async with agentcli.open_session() as session:
        with pytest.raises(agentcli.UserError, match="No turn is running"):
            await session.steer("too early")
        turn = asyncio.create_task(read(session.send("Look around")))
        await until(lambda: bool(api.requests), within=60)
        await session.steer("Only Python, please")
        gate.open()
        events = await turn
        with pytest.raises(agentcli.UserError, match="No turn is running"):
            await session.steer("too late")
    assert finished(events).text == "So I do."
    assert "Only Python, please" in json.dumps(api.requests[1].messages[-1])


async def test_images_go_with_a_prompt(api: ApiServer, project: Path) -> None:
    png = base64.b64decode(PIXEL)
    (project / "a.png").write_bytes(png)
    (project / "text.png").write_text("no image")
    api.play(reply("A dot."), reply("Another."))
    done = finished([e async for e in agentcli.query("What is it?", images=[project / "a.png", png])])
    assert done.text == "A dot."
    sent = [b for b in api.requests[0].messages[-1]["content"] if b["type"] == "image"]
    assert [b["source"]["data"] for b in sent] == [PIXEL, PIXEL]
    async with agentcli.open_session() as session:
        for wrong, words in ((project / "text.png", "image"), (project / "none.png", "can't be read")):
            with pytest.raises(agentcli.UserError, match=words):
                await read(session.send("And this?", images=[wrong]))
        assert finished(await read(session.send("And now?"))).text == "Another."


async def test_mode_and_model_are_chosen_while_the_session_runs(api: ApiServer, project: Path) -> None:
    api.play(reply(WRITE), reply("done"), reply("on haiku"))
    async with agentcli.open_session(SessionOptions(model="sonnet")) as session:
        assert (session.model, session.permission_mode) == ("claude-sonnet-5-5", "default")
        session.set_permission_mode("acceptEdits")
        await read(session.send("write it"))
        assert (project / "a.txt").read_text() == "x"
        await session.set_model("haiku", effort="low")
        assert session.model == "claude-haiku-5-5"
        await read(session.send("and?"))
        for wrong in ("bypassPermissions", "anything"):
            with pytest.raises(agentcli.UserError, match="bypassPermissions"):
                session.set_permission_mode(wrong)  # type: ignore[arg-type]
        with pytest.raises(agentcli.UserError):
            await session.set_model("no such model")
        assert session.permission_mode == "acceptEdits"
    last = api.requests[-1]
    assert (last.model, last.json["output_config"]["effort"]) == ("claude-haiku-5-5", "low")


async def test_an_answer_as_data(api: ApiServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAX_STRUCTURED_OUTPUT_RETRIES", "1")
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    api.play(reply("seven"), reply('{"n": 7}'), reply("eight"), reply("still eight"))
    async with agentcli.open_session(json_schema=schema) as session:
        good = finished(await read(session.send("How many?")))
        bad = finished(await read(session.send("And now?")))
    assert (good.outcome, good.structured_output, good.steps) == ("completed", {"n": 7}, 2)
    assert (bad.outcome, bad.error_kind, bad.structured_output) == ("error", "structured_output", None)
    assert "does not fit" in bad.error
    with pytest.raises(agentcli.UserError, match="json_schema"):
        await asked("x", json_schema="{")


async def test_a_background_agent_s_report_begins_a_turn_to_follow(api: ApiServer) -> None:
    gate = Gate()
    api.lane("take your time", after(gate, "Here is the report."))
    order = {"description": "x", "prompt": "take your time", "run_in_background": True, "subagent_type": "explore"}
    api.play(reply(tool_use("Agent", order)), reply("It runs."), reply("It has reported."))
    async with agentcli.open_session(SessionOptions(wakes=True)) as session:
        assert finished(await read(session.send("go"))).text == "It runs."
        reading = asyncio.create_task(read(session.follow()))
        with pytest.raises(agentcli.UserError, match="follow"):
            await asyncio.sleep(0)  # the reader has begun
            await read(session.send("meanwhile"))
        gate.open()
        events = await reading
        assert await read(session.follow()) == []
    assert finished(events).text == "It has reported."
    assert "Here is the report." in api.requests[-1].last_text


async def test_without_that_option_a_turn_waits_for_its_agents(api: ApiServer) -> None:
    api.lane("take your time", "Here is the report.")
    order = {"description": "x", "prompt": "take your time", "run_in_background": True, "subagent_type": "explore"}
    api.play(reply(tool_use("Agent", order)), reply("It runs."), reply("It has reported."))
    async with agentcli.open_session() as session:
        assert finished(await read(session.send("go"))).text == "It has reported."
        assert await read(session.follow()) == []


PROACTIVE = {"AGENTCLI_FEATURE_PROACTIVE": "1"}


async def test_ticks_are_followed_until_they_are_interrupted(api: ApiServer) -> None:
    settings = json.dumps({"proactive": {"idle": 0.01}})
    options = SessionOptions(proactive=True, environment=PROACTIVE, settings=settings)
    api.play(*(reply(f"Looked {n}.") for n in range(50)))
    turns: list[str] = []
    async with agentcli.open_session(options) as session:
        async for event in session.follow():
            if isinstance(event, TurnFinished):
                turns.append(event.text)
                if len(turns) == 2:
                    session.interrupt()
        assert turns == ["Looked 0.", "Looked 1."]
        assert finished(await read(session.send("Still there?"))).text == "Looked 2."
    assert "(tick)" in api.requests[0].last_text


async def test_closing_ends_whoever_follows(api: ApiServer) -> None:
    options = SessionOptions(proactive=True, environment=PROACTIVE)
    async with agentcli.open_session(options) as session:
        reading = asyncio.create_task(read(session.follow()))
        await asyncio.sleep(0)  # the reader has begun
    assert [e for e in await reading if isinstance(e, TurnFinished)] == []
    with pytest.raises(agentcli.UserError, match="closed"):
        await read(session.follow())
