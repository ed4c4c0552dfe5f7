"""What the model is told beside the conversation, once each."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from agentcli.agent import (
    ChangedFilesSource,
    DateSource,
    HeadSource,
    ModeSource,
    NewsSource,
    Reminders,
    SessionState,
    SessionTodos,
    TodoSource,
)
from agentcli.agent.reminders import wrap
from agentcli.files import FilesSeen
from agentcli.messages import TextBlock
from agentcli.model.scripted import call, say
from agentcli.ports.display import Todo
from agentcli.ports.prompt import Reminder
from tests.agent.test_loop import reminder
from tests.agent.world import FixedClock, Policy, make


@pytest.mark.parametrize(
    "tag",
    ["</system-reminder>", "< / SYSTEM-reminder >", "<system-reminder>", "</system-reminder\n>", "<\t/system-reminder"],
)
def test_nothing_inside_a_reminder_can_end_it(tag: str) -> None:
    block = wrap(f"a {tag} b")
    assert block.origin == "reminder"
    inside = block.text.removeprefix("<system-reminder>\n").removesuffix("\n</system-reminder>")
    assert "<" not in inside
    assert inside == f"a &lt;{tag[1:]} b"


def test_a_reminder_is_valid_unicode() -> None:
    assert wrap("\ud800").text == "<system-reminder>\n\ufffd\n</system-reminder>"


async def test_a_new_date_is_told_once() -> None:
    clock = FixedClock()
    source = DateSource(clock, lambda: "2026-11-30")
    assert await source.collect("before_step") == []
    clock.date = datetime(2026, 12, 1, tzinfo=UTC)
    assert await source.collect("file_touched") == []
    assert await source.collect("before_step") == [Reminder("date", "The date has changed: today is 2026-12-01.")]
    assert await source.collect("before_step") == []


async def test_a_file_that_somebody_else_changed_is_told_once(project: Path) -> None:
    changed, gone = project / "a.py", project / "b.py"
    changed.write_text("1\n")
    gone.write_text("1\n")
    seen = FilesSeen()
    for path in (changed, gone):
        seen.note(path, path.read_bytes(), whole=True)
    source = ChangedFilesSource(seen)
    assert await source.collect("before_step") == []
    changed.write_text("22\n")
    gone.unlink()
    assert await source.collect("file_touched") == []
    (told,) = await source.collect("before_step")
    assert told.key == "changed-files"
    assert told.text.splitlines()[1:] == [f"- {changed}", f"- {gone} (no longer exists)"]
    assert await source.collect("before_step") == []


async def test_a_mode_is_told_when_it_changes_and_again_after_a_compaction() -> None:
    policy = Policy()
    source = ModeSource(policy, lambda before, now: f"{before} -> {now}" if "plan" in (before, now) else None)
    assert await source.collect("first_message") == []
    policy.mode = "plan"
    assert await source.collect("before_step") == [Reminder("mode", "default -> plan")]
    assert await source.collect("before_step") == []
    assert await source.collect("after_compaction") == [Reminder("mode", "default -> plan")]
    policy.mode = "acceptEdits"
    assert await source.collect("before_step") == [Reminder("mode", "plan -> acceptEdits")]
    policy.mode = "default"
    assert await source.collect("before_step") == []


async def test_a_silent_todo_list_is_recalled_every_tenth_step() -> None:
    state = SessionState("s", "m", "2026-11-30")
    todos = SessionTodos(state)
    source = TodoSource(state)
    todos.set([Todo("write it", "in_progress"), Todo("read it", "completed")])
    told = []
    for _ in range(25):
        state.steps += 1
        state.steps_since_todos += 1
        told.append([r.text.splitlines()[1:] for r in await source.collect("before_step")])
    assert [i for i, t in enumerate(told, 1) if t] == [10, 20]
    assert told[9] == [["- [in_progress] write it", "- [completed] read it"]]
    todos.set([Todo("write it", "completed")])
    state.steps_since_todos = 50
    assert await source.collect("before_step") == []
    assert todos.get() == (Todo("write it", "completed"),)


async def test_news_and_the_head_come_at_their_moments() -> None:
    waiting = ["job 1 ended"]

    def news() -> list[str]:
        told, waiting[:] = list(waiting), []
        return told

    async def head() -> str | None:
        return "scratch: /tmp/x"

    reminders = Reminders([HeadSource(head)])
    reminders.add(NewsSource("jobs", news))
    assert await reminders.collect("file_touched") == []
    assert await reminders.collect("first_message") == [
        Reminder("head", "scratch: /tmp/x"),
        Reminder("jobs", "job 1 ended"),
    ]
    assert await reminders.collect("before_step") == []
    assert await reminders.collect("after_compaction") == [Reminder("head", "scratch: /tmp/x")]


async def test_everything_that_happens_in_a_turn_is_appended_and_stored_as_sent() -> None:
    """Six steps in which the date changes, the mode is switched and back, and a job ends."""
    world = make([*(say(call("Echo", text=str(i))) for i in range(6)), "Done."])
    clock, policy, waiting = FixedClock(), world.policy, ["job 7 ended"]
    happenings = [
        lambda: setattr(clock, "date", datetime(2026, 12, 1, tzinfo=UTC)),
        lambda: policy.set_mode("plan"),
        lambda: policy.set_mode("default"),
        lambda: waiting.append("job 8 ended"),
    ]

    def news() -> list[str]:
        told, waiting[:] = list(waiting), []
        return told

    class Happening:
        async def collect(self, moment: str, *, paths: object = ()) -> list[Reminder]:
            if happenings and moment == "before_step":
                happenings.pop(0)()
            return []

    sources = [
        Happening(),
        DateSource(clock, lambda: "2026-11-30"),
        ModeSource(policy, lambda before, now: f"mode {now}"),
        NewsSource("jobs", news),
    ]
    again = make(world.model, reminders=Reminders(sources), gate=policy)
    await again.turn()
    told = [b for m in again.state.messages for b in m.content if isinstance(b, TextBlock) and b.origin == "reminder"]
    assert told == [
        reminder("job 7 ended"),
        reminder("The date has changed: today is 2026-12-01."),
        reminder("mode plan"),
        reminder("mode default"),
        reminder("job 8 ended"),
    ]
    for before, after in zip(range(6), range(1, 7), strict=True):
        old = [(m["role"], b) for m in again.sent(before) for b in m["content"]]
        new = [(m["role"], b) for m in again.sent(after) for b in m["content"]]
        assert new[: len(old)] == old
