"""Creating, owning, continuing, forking, finding, exporting and removing sessions."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agentcli.clock import SystemClock
from agentcli.errors import UserError
from agentcli.messages import (
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
    assistant,
    message_to_record,
    user,
)
from agentcli.sessions import (
    FileJournal,
    MemoryJournal,
    OpenSession,
    SessionOwned,
    SessionStore,
    choose_latest,
    describe,
    expired,
    find,
    load,
    owner,
    recorder,
    remove,
    search,
    to_json,
    to_markdown,
)
from agentcli.sessions.lock import lock_path
from tests.sessions.sample import FACTS, info, store


def begun(home: Path, project: Path, prompt: str, *, title: str = "", age: int = 0) -> OpenSession:
    session = store(home, project).create(FACTS)
    session.journal.append("message", {"message": message_to_record(user(prompt))})
    if title:
        session.journal.append("title", {"title": title})
    session.close()
    assert session.path is not None
    stamp = 1_800_000_000 - age
    os.utime(session.path, (stamp, stamp))
    return session


def test_sessions_are_listed_newest_first_with_title_or_first_prompt(home: Path, project: Path) -> None:
    old = begun(home, project, "the old one", age=100)
    titled = begun(home, project, "something\nlong", title="A title", age=50)
    new = begun(home, project, "the new one")
    folder = old.path.parent if old.path else project
    (folder / "broken.jsonl").write_bytes(b"\xff\0nonsense")
    (folder / "empty.jsonl").touch()
    (folder / "dir.jsonl").mkdir()
    os.utime(folder / "broken.jsonl", (1, 1))
    found = store(home, project).list()
    assert [(i.id, i.label) for i in found] == [
        (new.id, "the new one"),
        (titled.id, "A title"),
        (old.id, "the old one"),
        ("broken", "(no prompt)"),
    ]
    assert [i.id for i in search(found, "OLD one")] == [old.id]


def test_two_directories_with_one_folder_name_are_kept_apart(home: Path, world: Path) -> None:
    one, two = world / "a-b", world / "a" / "b"
    first = begun(home, one, "in a-b")
    second = begun(home, two, "in a/b")
    assert [i.id for i in store(home, one).list()] == [first.id]
    assert [i.id for i in store(home, two).list()] == [second.id]


def test_a_session_has_one_owner_in_one_process(home: Path, project: Path) -> None:
    sessions = store(home, project)
    session = sessions.create(FACTS)
    session.journal.append("message", {"message": message_to_record(user("hi"))})
    with pytest.raises(SessionOwned) as caught:
        sessions.resume(info(session), FACTS)
    assert caught.value.owner.pid == os.getpid()
    assert f"process {os.getpid()} since 20" in str(caught.value)
    assert "--fork-session" in str(caught.value)
    session.close()
    session.close()
    assert session.path is not None
    assert not lock_path(session.path).exists()
    resumed = sessions.resume(info(session), FACTS)
    resumed.close()


HOLD = """
import sys
from pathlib import Path
from agentcli.clock import SystemClock
from agentcli.sessions import SessionStore
s = SessionStore(Path(sys.argv[1]), Path(sys.argv[2]), clock=SystemClock()).create({}, session_id="held")
s.journal.append("message", {"message": {"role": "user", "content": [{"type": "text", "text": "held prompt"}]}})
print("held", flush=True)
sys.stdin.read()
"""


def test_a_session_of_a_living_process_is_passed_over_and_one_of_a_dead_process_is_taken(
    home: Path, project: Path
) -> None:
    free = begun(home, project, "free", age=500_000_000)
    command = [sys.executable, "-c", HOLD, str(home / ".agentcli"), str(project)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        sessions = store(home, project)
        held = find(sessions.list(), "held")
        found = owner(held.path)
        assert found is not None
        assert found.pid == holder.pid
        chosen = choose_latest(sessions.list())
        assert chosen.info is not None
        assert chosen.info.id == free.id
        assert f"is open in process {holder.pid} since" in chosen.note
        with pytest.raises(SessionOwned):
            sessions.resume(held, FACTS)
        fork = sessions.fork(held, FACTS)
        assert fork.loaded is not None
        assert fork.loaded.messages == (user("held prompt"),)
        fork.close()
        holder.send_signal(signal.SIGKILL)
        holder.wait()
    assert owner(held.path) is None
    taken = sessions.resume(held, FACTS)
    assert taken.loaded is not None
    assert taken.loaded.messages == (user("held prompt"),)
    taken.close()


@pytest.mark.parametrize("fork", [False, True])
def test_a_resume_that_fails_lets_go_of_the_session(fork: bool, home: Path, project: Path) -> None:
    begun(home, project, "hello")
    mine = store(home, project)
    (known,) = mine.list()
    with pytest.raises(TypeError, match="JSON"):
        (mine.fork if fork else mine.resume)(known, {"version": object()})
    assert not list(known.path.parent.glob("*.lock"))
    mine.resume(known, {"version": "1"}).close()


def test_a_fork_goes_its_own_way(home: Path, project: Path) -> None:
    original = begun(home, project, "one")
    sessions = store(home, project)
    fork = sessions.fork(info(original), FACTS)
    fork.journal.append("message", {"message": message_to_record(assistant("two"))})
    fork.close()
    assert fork.id != original.id
    assert original.path is not None
    assert fork.path is not None
    assert load(original.path).messages == (user("one"),)
    copied = load(fork.path)
    assert (copied.session_id, copied.messages) == (fork.id, (user("one"), assistant("two")))
    assert oct(fork.path.stat().st_mode & 0o777) == "0o600"


def test_ids_of_new_sessions_differ_and_a_given_one_is_checked(home: Path, project: Path) -> None:
    sessions = store(home, project)
    first, second = sessions.create(FACTS), sessions.create(FACTS)
    assert first.path != second.path
    for session in (first, second):
        session.close()
    named = sessions.create(FACTS, session_id="mine")
    named.journal.append("message", {"message": message_to_record(user("hi"))})
    named.close()
    with pytest.raises(UserError, match="There is a session mine already"):
        sessions.create(FACTS, session_id="mine")
    for bad in ("../x", "", "a/b", ".hidden", "x" * 200):
        if bad:
            with pytest.raises(UserError, match="can't be a session id"):
                sessions.create(FACTS, session_id=bad)


def test_a_session_is_found_by_id_beginning_title_or_words(home: Path, project: Path, world: Path) -> None:
    one = begun(home, project, "fix the parser")
    two = begun(home, project, "write docs", title="Docs")
    far = begun(home, world / "elsewhere", "far away")
    infos = store(home, project).list()
    assert find(infos, one.id).id == one.id
    assert find(infos, one.id[:13]).id == one.id
    assert find(infos, "docs").id == two.id
    assert find(infos, "parser").id == one.id
    assert find(infos, far.id, home=home / ".agentcli").id == far.id
    with pytest.raises(UserError, match="No session"):
        find(infos, far.id)
    with pytest.raises(UserError, match="No session"):
        find(infos, "*", home=home / ".agentcli")
    third = begun(home, project, "fix the parser again")
    with pytest.raises(UserError, match=f"(?s)More than one.*{third.id}"):
        find(store(home, project).list(), "parser")


def test_without_a_home_the_session_lives_in_memory(project: Path) -> None:
    sessions = SessionStore(None, project, clock=SystemClock())
    session = sessions.create(FACTS)
    assert isinstance(session.journal, MemoryJournal)
    assert (session.path, session.directory, sessions.list()) == (None, None, [])
    assert choose_latest(sessions.list()).info is None
    session.close()


def test_where_nothing_can_be_written_the_session_goes_on_and_says_so_once(home: Path, project: Path) -> None:
    (home / ".agentcli").write_text("a file, not a directory")
    notices: list[str] = []
    session = store(home, project, notices).create(FACTS)
    session.journal.append("title", {"title": "x"})
    session.close()
    assert len(notices) == 1


def test_old_sessions_are_listed_and_only_then_removed(home: Path, project: Path) -> None:
    old = begun(home, project, "old", age=40 * 86_400)
    new = begun(home, project, "new", age=10 * 86_400)
    for session in (old, new):
        assert session.directory is not None
        session.directory.mkdir()
        (session.directory / "spill.txt").write_text("x")
    now = datetime.fromtimestamp(1_800_000_000, UTC)
    listed = expired(home / ".agentcli", 30, now)
    assert listed == [old.path]
    assert old.path is not None
    assert old.path.exists()
    assert remove(listed) == []
    assert not old.path.exists()
    assert old.directory is not None
    assert not old.directory.exists()
    assert [i.id for i in store(home, project).list()] == [new.id]


def test_events_that_a_session_remembers_are_recorded(home: Path) -> None:
    from agentcli.events import EventStream, ModeChanged, ModelChanged, Notice, TextDelta, TodosChanged
    from agentcli.ports.display import Todo

    journal = FileJournal(home / "s.jsonl", clock=SystemClock())
    stream = EventStream()
    stream.subscribe(recorder(journal), first=True)
    for event in (
        TodosChanged((Todo("a", "pending"),)),
        ModeChanged("plan"),
        ModelChanged("m2", "low", "off"),
        Notice("info", "not stored"),
        Notice("warning", "stored", "code"),
        TextDelta("not stored here"),
    ):
        stream.emit(event)
    journal.close()
    loaded = load(home / "s.jsonl")
    assert (loaded.todos, loaded.mode, loaded.model, loaded.effort) == ((Todo("a", "pending"),), "plan", "m2", "low")
    kinds = [json.loads(line)["kind"] for line in (home / "s.jsonl").read_bytes().splitlines()]
    assert kinds == ["todos", "mode", "model", "notice"]


def test_a_session_is_exported_for_reading_and_for_programs(home: Path, project: Path) -> None:
    session = store(home, project).create(FACTS)
    use = ToolUseBlock("c1", "Read", {"file_path": "a.md"})
    messages = [
        user(TextBlock("secret reminder", "reminder"), "look at it"),
        assistant(ThinkingBlock("hm", "sig"), "I look.", use),
        user(ToolResultBlock("c1", (TextBlock("```py\nx\n```"),), is_error=True)),
        assistant("Done."),
    ]
    for message in messages:
        session.journal.append("message", {"message": message_to_record(message)})
    session.journal.append("title", {"title": "Reading"})
    session.close()
    assert session.path is not None
    loaded = load(session.path)
    assert to_markdown(loaded) == (
        "# Reading\n\n## User\n\nlook at it\n\n## Agent\n\n> hm\n\nI look.\n\n**Read**\n\n"
        '```json\n{\n  "file_path": "a.md"\n}\n```\n\n## Results\n\nError:\n\n````\n```py\nx\n```\n````\n\n'
        "## Agent\n\nDone.\n"
    )
    value = json.loads(to_json(loaded))
    assert value["messages"] == [message_to_record(m) for m in messages]
    found = describe(session.path)
    assert found is not None
    assert (found.title, found.first_prompt, found.cwd) == ("Reading", "look at it", str(project))


def test_a_new_session_in_which_nothing_was_said_leaves_nothing(home: Path, project: Path) -> None:
    sessions = store(home, project)
    opened = sessions.create(FACTS)
    opened.journal.append("mode", {"mode": "plan"})
    assert opened.path is not None
    assert opened.path.exists()
    opened.close()
    assert [p for p in opened.path.parent.iterdir() if p.name.startswith(opened.id)] == []
    kept = begun(home, project, "hello")
    again = sessions.resume(sessions.list()[0], FACTS)
    again.close()
    assert [i.id for i in sessions.list()] == [kept.id]


@pytest.mark.parametrize("one", ["👨‍👩‍👧‍👦", "🇩🇪", "e\u0301\u0323", "👍🏽", "각", "❤️"])
def test_the_label_of_a_session_never_splits_a_character(one: str, home: Path, project: Path) -> None:
    for before in range(70, 81):
        opened = begun(home, project, "x" * before + one + "y" * 20)
        found = describe(opened.path) if opened.path else None
        assert found is not None
        assert found.label.rstrip("y…").removeprefix("x" * min(before, 79)) in ("", one)
        assert len(found.label) <= 80
