"""Questions of the model: one of several, several of them, another answer, none."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from agentcli.events import StepStarted
from agentcli.i18n import Texts
from agentcli.ports.tools import Question
from agentcli.ui.terminal.plain_lines import PlainDialogs, PlainView
from tests.ui.scripted import Pause, ScriptedSession
from tests.ui.theatre import Theatre, theatre

ONE = Question("Which database?", "Database", (("SQLite", "one file"), ("Postgres", "a server")))
SEVERAL = Question("Which checks?", "Checks", (("ruff", ""), ("mypy", "strict"), ("pytest", "")), multiple=True)


@asynccontextmanager
async def asked(*questions: Question) -> AsyncIterator[tuple[Theatre, asyncio.Task[Any]]]:
    session = ScriptedSession([[StepStarted(1, "m"), Pause("end")]])
    async with theatre(session) as show:
        show.keys("go\r")
        await show.see("Waiting")
        task = asyncio.ensure_future(session.asking.questioner.ask(questions))
        await show.see(questions[0].question)
        show.time += 1
        yield show, task


@pytest.mark.parametrize(
    ("keys", "answer"),
    [("\r", "SQLite"), ("2", "Postgres"), ("\x1b[B\r", "Postgres"), ("3 my own \r", "my own"), ("\x1b", "")],
)
async def test_one_of_several(keys: str, answer: str) -> None:
    async with asked(ONE) as (show, task):
        assert "Database\n  Which database?\n❯ 1. SQLite  one file\n  2. Postgres  a server\n" in show.screen
        show.keys(keys)
        assert await task == {"Which database?": answer}


@pytest.mark.parametrize(
    ("keys", "answer"),
    [
        ("13\r", ["ruff", "pytest"]),
        (" \x1b[B \r", ["ruff", "mypy"]),
        ("131\r", ["pytest"]),
        ("\x1b[B\r", ["mypy"]),
        ("24bandit\r", ["mypy", "bandit"]),
        ("\x1b", ""),
    ],
)
async def test_several_may_be_taken(keys: str, answer: list[str]) -> None:
    async with asked(SEVERAL) as (show, task):
        await show.see("❯ 1. ☐ ruff\n  2. ☐ mypy  strict")
        await show.see("1-9 or Space marks")
        show.keys(keys)
        assert await task == {"Which checks?": answer}


async def test_one_after_the_other_and_esc_ends_the_asking() -> None:
    async with asked(ONE, SEVERAL, ONE) as (show, task):
        assert "Database (1/3)" in show.screen
        show.keys("1")
        await show.see("Checks (2/3)")
        show.time += 1
        show.keys("\x1b")
        assert await task == {"Which database?": "SQLite", "Which checks?": ""}


async def test_control_c_stops_the_turn() -> None:
    async with asked(ONE) as (show, task):
        show.keys("\x03")
        await show.see("Stopped.")
        assert await task == {"Which database?": ""}


class _Given:
    """Lines that somebody types."""

    def __init__(self, *lines: str | None) -> None:
        self.lines = list(lines)
        self.shown: list[str] = []

    async def ask(self, prompt: str) -> str | None:
        self.shown.append(prompt)
        return self.lines.pop(0)

    def write(self, text: str) -> None:
        self.shown.append(text)


async def test_by_lines() -> None:
    lines: Any = _Given("2", "my own", "1, 3", "1, other", "", None)
    dialogs = PlainDialogs(lines, PlainView(lines, Texts()), Texts())
    answers = [(await dialogs.ask([q]))[q.question] for q in (ONE, ONE, SEVERAL, SEVERAL, SEVERAL, ONE)]
    assert answers == ["Postgres", "my own", ["ruff", "pytest"], ["1, other"], [], ""]
    assert "  2. mypy  strict\n" in lines.shown


STEPS = "# Steps\n\n- **one**\n\n| a | b |\n|---|---|\n| 1 | 2 |"
PLAN = Question("Go ahead?", "Plan", (("Yes", ""), ("No", "")), about=STEPS)


async def test_a_plan_is_drawn_and_stays_after_the_answer() -> None:
    async with asked(PLAN) as (show, task):
        await show.until(lambda: "Steps\n\n • one\n\n a  b\n ────\n 1  2\n" in show.everything)
        assert "Plan\n  Go ahead?\n❯ 1. Yes" in show.screen
        show.keys("1")
        assert await task == {"Go ahead?": "Yes"}
        await show.gone("Go ahead?")
        assert show.everything.count(" • one") == 1
