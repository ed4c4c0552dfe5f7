"""Questions: answered once, one at a time, and each answer does what it says."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from agentcli.events import FromSubagent, PermissionAsked, PermissionResolved, StepStarted
from agentcli.ports.display import CommandDisplay
from agentcli.ports.permissions import Answer, PermissionUpdate
from agentcli.ui.terminal.permission import update_from
from tests.ui.scripted import Pause, ScriptedSession
from tests.ui.theatre import Theatre, theatre

RULE = {"type": "addRules", "rules": ["Bash(make *)"], "behavior": "allow", "destination": "localSettings"}
SAVED = PermissionUpdate("addRules", rules=("Bash(make *)",), behavior="allow", destination="localSettings")
ASKED = PermissionAsked("p1", "t1", "Bash", {}, "make all", "no rule", CommandDisplay("make all"), (RULE,))


@asynccontextmanager
async def asking(*more: PermissionAsked) -> AsyncIterator[Theatre]:
    session = ScriptedSession([[StepStarted(1, "m"), ASKED, *more, Pause("p1"), Pause("end")]])
    async with theatre(session) as show:
        show.keys("go\r")
        await show.see("May the agent use Bash?")
        show.time += 1
        yield show


async def answers(show: Theatre, count: int = 1) -> dict[str, Answer]:
    await show.until(lambda: len(show.session.answers) >= count)
    return show.session.answers


@pytest.mark.parametrize(
    ("keys", "answer"),
    [
        ("1", Answer(True)),
        ("\r", Answer(True)),
        ("2", Answer(True, updates=(SAVED,))),
        ("\x1b[B\r", Answer(True, updates=(SAVED,))),
        ("\x1b[A\r\r", Answer(False)),
        ("3use ninja\r", Answer(False, message="use ninja")),
        ("\x03", Answer(False, interrupt=True)),
    ],
)
async def test_each_answer(keys: str, answer: Answer) -> None:
    async with asking() as show:
        show.keys(keys)
        assert await answers(show) == {"p1": answer}
        await show.gone("May the agent")
        await show.until(lambda: show.caret_text == "❯ ")


async def test_escape_is_no_with_a_reason_if_there_is_one() -> None:
    async with asking() as show:
        show.keys("\x1b")
        await show.see("Why not")
        show.keys("too slow\r")
        assert await answers(show) == {"p1": Answer(False, message="too slow")}


async def test_escape_twice_is_no_without_a_reason() -> None:
    async with asking() as show:
        show.keys("\x1b")
        await show.see("Why not")
        show.keys("\x1b")
        assert await answers(show) == {"p1": Answer(False)}


async def test_the_cursor_stands_on_the_chosen_answer() -> None:
    async with asking() as show:
        show.keys("\x1b[B")
        await show.until(lambda: show.screen.split("\n")[show.emulator.caret()[0]].startswith("❯ 2."))
        assert not show.emulator.cursor.hidden


@asynccontextmanager
async def interrupted_typing(draft: str = "my draft") -> AsyncIterator[Theatre]:
    """A question that comes up while somebody types."""
    session = ScriptedSession([[StepStarted(1, "m"), Pause("ask"), ASKED, Pause("p1"), Pause("end")]])
    async with theatre(session) as show:
        show.keys("go\r")
        await show.see("Waiting")
        show.keys(draft)
        await show.see(f"❯ {draft}".rstrip())
        session.go_on("ask")
        await show.see("May the agent")
        yield show


async def test_what_is_typed_ahead_is_no_answer_and_goes_into_the_input_line() -> None:
    async with interrupted_typing() as show:
        show.keys(" is 3 times\r as lonh\x7fg\x1b\r")
        show.paste("pasted")
        await show.see("your text waits below")
        await show.see("❯ my draft is 3 times as long pasted")
        show.time += 10
        show.keys("\r\r")
        await show.settled()
        assert show.session.answers == {}
        show.keys("1")
        assert await answers(show) == {"p1": Answer(True)}
        await show.until(lambda: show.caret_text == "  pasted")
        assert "❯ my draft is 3 times as long\n  pasted" in show.screen


async def test_enter_answers_only_after_the_question_has_stood_for_a_moment() -> None:
    async with interrupted_typing() as show:
        show.keys("\r1")
        await show.see("❯ my draft1")
        assert show.session.answers == {}
        show.time += 1
        show.keys("\x1b[B\r")
        assert await answers(show) == {"p1": Answer(True, updates=(SAVED,))}


async def test_enter_answers_at_once_where_the_question_is_read() -> None:
    async with interrupted_typing() as show:
        show.time += 0.3
        show.keys("\x1b[B\x1b[A\r")
        await show.settled()
        assert show.session.answers == {}
        show.time += 0.5
        show.keys("\x1b[A\x1b[B\r")
        assert await answers(show) == {"p1": Answer(True)}


async def test_a_digit_answers_at_once_where_nothing_was_being_typed() -> None:
    session = ScriptedSession([[StepStarted(1, "m"), ASKED, Pause("p1"), Pause("end")]])
    async with theatre(session) as show:
        show.keys("go\r")
        await show.see("May the agent")
        show.keys("1")
        assert await answers(show) == {"p1": Answer(True)}


async def test_a_key_that_repeats_does_not_answer_the_next_question() -> None:
    other = replace(ASKED, request_id="p2", title="make other", preview=CommandDisplay("make other"))
    async with asking(other) as show:
        show.keys("11")
        await show.see("make other")
        await show.see("your text waits below")
        assert list(await answers(show)) == ["p1"]
        show.time += 1
        show.keys("1")
        assert list(await answers(show, 2)) == ["p1", "p2"]
        await show.until(lambda: show.caret_text == "❯ ")


async def test_questions_come_one_after_the_other() -> None:
    other = replace(ASKED, request_id="p2", title="make other", preview=CommandDisplay("make other"))
    async with asking(other) as show:
        await show.see("1 more waiting")
        assert "make other" not in show.screen
        show.keys("1")
        await show.see("make other")
        show.time += 1
        show.keys("3\r")
        assert await answers(show, 2) == {"p1": Answer(True), "p2": Answer(False)}


async def test_a_question_that_was_answered_elsewhere_disappears() -> None:
    async with asking() as show:
        show.session.events.emit(PermissionResolved("p1", True, "hook"))
        await show.gone("May the agent")
        await show.settled()
        assert show.session.answers == {}


async def test_a_withdrawn_question_behind_another_is_never_shown() -> None:
    other = replace(ASKED, request_id="p2", preview=CommandDisplay("make other"))
    async with asking(other) as show:
        await show.see("1 more waiting")
        show.session.events.emit(PermissionResolved("p2", False, "cancelled"))
        await show.gone("1 more waiting")
        show.keys("1")
        await show.gone("May the agent")
        assert list(await answers(show)) == ["p1"]


async def test_a_subagents_question_names_it() -> None:
    asked = replace(ASKED, agent="explorer", task="look at the tests")
    session = ScriptedSession([[FromSubagent("explorer", "t9", asked), Pause("p1")]])
    async with theatre(session) as show:
        show.keys("go\r")
        await show.see("May the agent use Bash? (asked by explorer: look at the tests)")
        show.keys("1")
        assert await answers(show) == {"p1": Answer(True)}


async def test_a_low_window_still_shows_the_answers() -> None:
    asked = replace(ASKED, preview=CommandDisplay("\n".join(f"line {n}" for n in range(9))))
    session = ScriptedSession([[asked, Pause("p1")]])
    async with theatre(session, rows=10) as show:
        show.keys("go\r")
        await show.see("3. No")
        assert "1. Yes" in show.screen
        show.keys("1")
        assert await answers(show) == {"p1": Answer(True)}


def test_suggestions_of_the_protocol_are_understood() -> None:
    record = {"type": "addRules", "rules": [{"toolName": "Read", "ruleContent": "src/**"}, {"toolName": "Glob"}]}
    assert update_from(record) == PermissionUpdate("addRules", rules=("Read(src/**)", "Glob"), destination="session")
    assert update_from({"type": "removeRules", "rules": ["Bash"]}) is None


async def test_the_reason_does_not_repeat_what_stands_above_it() -> None:
    asked = replace(ASKED, reason="make all: no rule allows it")
    session = ScriptedSession([[asked, Pause("p1")]])
    async with theatre(session) as show:
        show.keys("go\r")
        await show.see("May the agent use Bash?\n  make all\n  no rule allows it\n")
