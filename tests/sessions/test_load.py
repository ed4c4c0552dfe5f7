"""Reading session files back: the same bytes, and everything that a damage left."""

from __future__ import annotations

import json
import random
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from agentcli.agent.prefix import prefix_record
from agentcli.clock import SystemClock
from agentcli.conversation import ConversationCache
from agentcli.messages import (
    LOST,
    Message,
    TextBlock,
    ToolResultBlock,
    ToolUseBlock,
    Usage,
    assistant,
    message_to_api,
    message_to_record,
    repair,
    user,
)
from agentcli.ports.display import Todo
from agentcli.ports.frontend import UserInput
from agentcli.sessions import FileJournal, describe, load, restored_cache
from tests.agent.world import SYSTEM
from tests.sessions.sample import FACTS, continued, info, six_turns, store

CALL = ToolUseBlock("c1", "Echo", {"text": "x"})


def write(path: Path, *entries: tuple[str, dict[str, Any]]) -> Path:
    journal = FileJournal(path, clock=SystemClock())
    for kind, data in entries:
        journal.append(kind, data)  # type: ignore[arg-type]  # kinds
    journal.close()
    return path


def said(message: Message) -> tuple[str, dict[str, Any]]:
    return ("message", {"message": message_to_record(message)})


async def test_a_session_comes_back_with_the_bytes_that_were_sent(home: Path, project: Path) -> None:
    session = store(home, project).create(FACTS)
    world = await six_turns(session)
    state = world.state
    session.close()
    assert session.path is not None
    loaded = load(session.path)
    sent = json.dumps([message_to_api(m) for m in state.messages])
    assert json.dumps([message_to_api(m) for m in loaded.messages]) == sent
    assert loaded.messages == tuple(state.messages)
    assert loaded.notes == ()
    assert loaded.prefix is not None
    assert (loaded.prefix.model, loaded.prefix.start_date) == ("claude-sonnet-5-5", "2026-11-30")
    assert (loaded.session_id, loaded.cwd, loaded.first_prompt, loaded.turns) == (
        session.id,
        str(project),
        "prompt 0",
        6,
    )
    assert (loaded.usage, loaded.interrupted) == (state.usage, False)
    assert loaded.cost == pytest.approx(state.cost)
    assert (loaded.context_tokens, loaded.measured) == (state.context_tokens, len(state.messages))


async def test_the_first_request_after_a_resume_is_the_last_one_with_something_appended(
    home: Path, project: Path
) -> None:
    sessions = store(home, project)
    session = sessions.create(FACTS)
    world = await six_turns(session)
    session.close()
    resumed = sessions.resume(info(session), FACTS)
    agent = continued(resumed, ["Again."])
    await agent.run_turn(UserInput("next"))
    resumed.close()
    before = [message_to_api(m) for m in world.requests[-1].messages]
    after = [message_to_api(m) for m in agent.rooms.model.requests[0].messages]  # type: ignore[attr-defined]  # scripted
    assert json.dumps(after[: len(before)]) == json.dumps(before)
    assert len(after) == len(before) + 2
    assert session.path is not None
    assert load(session.path).messages == tuple(agent.state.messages)


async def test_cut_at_any_byte_everything_before_is_there_and_the_next_turn_works(home: Path, project: Path) -> None:
    """Every offset of the last two message lines, and twenty others."""
    sessions = store(home, project)
    original = sessions.create(FACTS)
    await six_turns(original)
    original.close()
    assert original.path is not None
    data = original.path.read_bytes()
    lines = data.splitlines(keepends=True)
    whole = load(original.path).messages
    tail = len(lines[-1]) + len(lines[-2])
    dice = random.Random(1)
    offsets = [*range(len(data) - tail, len(data), 7), *(dice.randrange(len(data)) for _ in range(20))]
    folder = original.path.parent
    for number, offset in enumerate(offsets):
        path = folder / f"cut{number}.jsonl"
        path.write_bytes(data[:offset])
        loaded = load(path)
        assert not repair(loaded.messages).notes
        complete = [json.loads(line) for line in data[:offset].split(b"\n")[:-1]]
        for entry in complete:
            if entry["kind"] == "message":
                words = [b["text"] for b in entry["message"]["content"] if b["type"] == "text"]
                kept = [b.text for m in loaded.messages for b in m.content if isinstance(b, TextBlock)]
                assert set(words) <= set(kept)
        if number % 10 == 0:
            found = describe(path)
            if found is None:
                continue
            resumed = sessions.resume(found, FACTS)
            agent = continued(resumed, ["Fine."])
            assert (await agent.run_turn(UserInput("next"))).outcome == "completed"
            resumed.close()
            again = load(path)
            assert again.messages == tuple(agent.state.messages)
            assert again.messages[-1] == assistant("Fine.")
        path.unlink()
    assert len(whole) == 24


DAMAGES: list[tuple[str, bytes, str]] = [
    ("zero bytes", b"\0" * 4096, "zero bytes"),
    ("a number", b"42\n", "no entry"),
    ("a list", b"[1]\n", "no entry"),
    ("cut off", b'{"v":1,"kind":"message","mess', "cut off or damaged"),
    ("no message", b'{"v":1,"kind":"message"}\n', "not an entry as it should be"),
    ("odd role", b'{"v":1,"kind":"message","message":{"role":"system","content":[]}}\n', "unknown role"),
    ("content is a number", b'{"v":1,"kind":"message","message":{"role":"user","content":5}}\n', "not an entry"),
    (
        "a text that is none",
        b'{"v":1,"kind":"message","message":{"role":"user","content":[{"type":"text","text":[]}]}}\n',
        "its text is no text",
    ),
    (
        "a call without an object",
        (
            b'{"v":1,"kind":"message","message":{"role":"assistant","content":'
            b'[{"type":"tool_use","id":"a","name":"B","input":"x"}]}}\n'
        ),
        "no object",
    ),
    (
        "a number that can't be sent",
        (
            b'{"v":1,"kind":"message","message":{"role":"assistant","content":'
            b'[{"type":"tool_use","id":"a","name":"B","input":{"n":1e999}}]}}\n'
        ),
        "damaged",
    ),
    ("a turn without end", b'{"v":1,"kind":"turn_end","turn":Infinity}\n', "damaged"),
    (
        "a front of which no request can be made",
        (
            b'{"v":1,"kind":"prefix","sections":{},"absent":{},"choices":{},"beta_headers":[],"tools":[],"model":"m",'
            b'"effort":null,"thinking":"on","start_date":"","system":{"level":"default","parts":[{"name":1}]}}\n'
        ),
        "not an entry",
    ),
    ("deep nesting", b"[" * 200_000 + b"\n", "damaged"),
]


@pytest.mark.parametrize(("damage", "note"), [(d, n) for _, d, n in DAMAGES], ids=[i for i, _, _ in DAMAGES])
@pytest.mark.parametrize("where", ["middle", "end"])
def test_a_damaged_line_is_named_and_nothing_else_is_lost(home: Path, damage: bytes, note: str, where: str) -> None:
    path = write(home / "s.jsonl", said(user("one")), said(assistant("two")))
    with path.open("ab") as file:
        file.write(damage)
    if where == "middle":
        write(path, said(user("three")), said(assistant("four")))
    loaded = load(path)
    expected = [user("one"), assistant("two"), *([user("three"), assistant("four")] if where == "middle" else [])]
    assert list(loaded.messages) == expected
    assert len(loaded.notes) == 1
    assert note in loaded.notes[0]
    assert loaded.notes[0].startswith("line 3 ")


def test_an_empty_file_crlf_and_a_missing_last_newline_are_no_damage(home: Path) -> None:
    empty = home / "empty.jsonl"
    empty.touch()
    assert (load(empty).messages, load(empty).notes) == ((), ())
    path = write(home / "s.jsonl", said(user("one")), said(assistant("two")))
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n").rstrip(b"\r\n"))
    loaded = load(path)
    assert (loaded.messages, loaded.notes) == ((user("one"), assistant("two")), ())


def test_invalid_utf8_is_replaced_and_named(home: Path) -> None:
    path = write(home / "s.jsonl", said(user("one X two")), said(assistant("three")))
    path.write_bytes(path.read_bytes().replace(b"X", b"\xff"))
    loaded = load(path)
    assert loaded.messages == (user("one \ufffd two"), assistant("three"))
    assert loaded.notes == ("line 1 was not valid UTF-8; the broken bytes were replaced",)


def test_a_line_that_is_too_long_is_skipped(home: Path) -> None:
    path = write(home / "s.jsonl", said(user("one")), said(assistant("x" * 5_000)), said(assistant("two")))
    loaded = load(path, longest_line=1_000)
    assert loaded.messages == (user("one"), assistant("two"))
    assert "too many for one entry" in loaded.notes[0]


@pytest.mark.soak
def test_a_line_of_more_than_the_limit_takes_no_such_memory(home: Path) -> None:
    path = write(home / "s.jsonl", said(user("one")))
    with path.open("r+b") as file:
        file.seek(0, 2)
        file.write(b'{"v":1,"kind":"message","x":"')
        file.seek(300 * 1024 * 1024, 1)
        file.write(b'"}\n')
    write(path, said(assistant("two")))
    assert load(path).messages == (user("one"), assistant("two"))


def test_text_that_was_shown_and_never_finished_is_kept(home: Path) -> None:
    path = write(home / "s.jsonl", said(user("one")), ("delta", {"text": "Hello "}), ("delta", {"text": "wor"}))
    loaded = load(path)
    assert loaded.messages == (user("one"), assistant("Hello wor"))
    assert loaded.interrupted
    assert loaded.notes == ("the last answer was not finished; what had been shown of it was kept",)


def test_text_that_was_voided_is_not_kept(home: Path) -> None:
    path = write(home / "s.jsonl", said(user("one")), ("delta", {"text": "Hello "}), ("discard", {"reason": "x"}))
    assert load(path).messages == (user("one"),)
    write(path, ("delta", {"text": "Hello"}), said(assistant("Hello")))
    assert load(path).messages == (user("one"), assistant("Hello"))


def test_results_that_were_shown_are_kept_and_open_calls_get_one(home: Path) -> None:
    other = ToolUseBlock("c2", "Echo", {})
    result = ToolResultBlock("c1", (TextBlock("echo x"),))
    path = write(
        home / "s.jsonl",
        said(user("one")),
        said(assistant(CALL, other)),
        ("result", {"block": message_to_record(user(result))["content"][0]}),
    )
    lost = ToolResultBlock("c2", (TextBlock(LOST),), is_error=True)
    assert load(path).messages == (user("one"), assistant(CALL, other), user(result, lost))


def test_what_a_process_left_open_is_settled_the_same_way_for_every_later_reader(home: Path) -> None:
    path = write(home / "s.jsonl", said(user("one")), said(assistant(CALL)))
    first = load(path).messages
    start = ("start", {"session_id": "s", "cwd": "/p", "resumed": True})
    write(path, start, said(user("go on")), said(assistant("ok")))
    lost = ToolResultBlock("c1", (TextBlock(LOST),), is_error=True)
    assert first == (user("one"), assistant(CALL), user(lost))
    assert load(path).messages == (user("one"), assistant(CALL), user(lost, "go on"), assistant("ok"))


def test_history_is_replayed_as_it_was_changed(home: Path) -> None:
    path = write(
        home / "s.jsonl",
        said(user("one")),
        said(assistant("two")),
        said(user("three")),
        said(assistant("four")),
        ("rewind", {"keep": 2}),
        said(user("other")),
        ("clearing", {"intent": "image removed", "messages": [message_to_record(user("note"))]}),
    )
    assert load(path).messages == (user("note"),)
    summary = user(TextBlock("sum", "summary"))
    write(path, ("compaction", {"messages": [message_to_record(summary)]}), said(user("next")))
    assert load(path).messages == (user(TextBlock("sum", "summary"), "next"),)


def test_settings_of_the_session_come_back(home: Path) -> None:
    usage = {"m": asdict(Usage(1, 2, 3, 4, 5))}
    path = write(
        home / "s.jsonl",
        ("start", {"session_id": "s1", "cwd": "/p"}),
        said(user("one")),
        ("todos", {"todos": [{"content": "a", "status": "pending", "active_form": "doing a"}]}),
        ("title", {"title": "T"}),
        ("mode", {"mode": "plan"}),
        ("model", {"model": "m2", "effort": "high", "thinking": "off"}),
        ("turn_end", {"turn": 3, "outcome": "interrupted", "usage": usage, "total_cost": 0.5, "written": ["d1"]}),
        ("brand_new_kind", {"x": 1}),
    )
    loaded = load(path)
    assert (loaded.todos, loaded.title, loaded.mode) == ((Todo("a", "pending", "doing a"),), "T", "plan")
    assert (loaded.model, loaded.effort, loaded.thinking) == ("m2", "high", "off")
    assert (loaded.usage, loaded.cost, loaded.turns) == ({"m": Usage(1, 2, 3, 4, 5)}, 0.5, 3)
    assert (loaded.interrupted, loaded.written, loaded.notes) == (True, ("d1",), ())


def test_section_values_and_latches_come_back(home: Path) -> None:
    from agentcli.agent import SessionState

    state = SessionState("s", "m", "2026-11-30")
    state.cache = ConversationCache({"memory": "M", "env": None}, {"mcp": "failed"}, ["b1"], {"ttl": "1h"})
    record = prefix_record(state, SYSTEM)
    path = home / "s.jsonl"
    journal = FileJournal(path, clock=SystemClock())
    journal.prefix(record)
    journal.append("turn_end", {"turn": 1, "outcome": "completed", "written": ["d1", "d2"]})
    journal.close()
    cache = restored_cache(load(path))
    assert (cache.sections, cache.absent, cache.beta_headers, cache.choices, cache.written) == (
        {"memory": "M", "env": None},
        {"mcp": "failed"},
        ["b1"],
        {"ttl": "1h"},
        ["d1", "d2"],
    )
    assert restored_cache(load(write(home / "other.jsonl", said(user("one"))))) == ConversationCache()


def test_ten_thousand_messages_load_quickly(home: Path) -> None:
    """A bound far above what it takes (about 0.25 s of CPU), so that only a wrong algorithm fails it."""
    path = home / "s.jsonl"
    journal = FileJournal(path, clock=SystemClock())
    for number in range(2_500):
        use = ToolUseBlock(f"c{number}", "Echo", {"text": "x" * 200})
        for message in (
            user(f"prompt {number}"),
            assistant("I look.", use),
            user(ToolResultBlock(f"c{number}", (TextBlock("line\n" * 40),))),
            assistant("Done. " * 20),
        ):
            journal.append("message", {"message": message_to_record(message)})
    journal.close()
    began = time.process_time()
    loaded = load(path)
    spent = time.process_time() - began
    assert len(loaded.messages) == 10_000
    assert spent < 2.5
