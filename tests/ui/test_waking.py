"""Turns that nobody asked for run when nothing else does; what is typed meanwhile steers them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from agentcli.commands.base import Command, CommandContext, CommandResult
from agentcli.commands.registry import Registry
from agentcli.events import StepStarted
from agentcli.i18n import Texts
from agentcli.ports.frontend import UserInput
from agentcli.ports.rest import REPORTED
from agentcli.ui.terminal.plain import PlainFrontEnd
from agentcli.ui.terminal.way import Way
from tests.ui.scripted import Pause, ScriptedSession
from tests.ui.theatre import theatre

SLOW = [StepStarted(1, "m"), Pause("end")]


def waker() -> tuple[asyncio.Queue[str], Callable[[ScriptedSession], Awaitable[UserInput]]]:
    reasons: asyncio.Queue[str] = asyncio.Queue()

    async def wake(session: ScriptedSession) -> UserInput:
        return UserInput(await reasons.get())

    return reasons, wake


async def test_a_turn_begins_by_itself_and_can_be_steered() -> None:
    reasons, wake = waker()
    async with theatre(ScriptedSession([SLOW]), wake=wake) as show:
        show.keys("draft")
        await show.see("❯ draft")
        reasons.put_nowait("a report came")
        await show.see("❯ a report came")
        await show.see("Waiting")
        show.keys(" sent\r")
        await show.see("queued: draft sent")
        show.session.go_on("end")
        await show.gone("Waiting")
        reasons.put_nowait("another")
        await show.see("echo: another")


async def test_why_a_turn_began_by_itself_is_said_in_the_users_language() -> None:
    reasons, wake = waker()
    async with theatre(ScriptedSession(), wake=wake, language="ko") as show:
        reasons.put_nowait(REPORTED)
        await show.see("❯ (백그라운드 에이전트의 보고가 도착했습니다.)")
        await show.settled()
        assert show.session.received == [UserInput(REPORTED)]


async def test_it_waits_for_what_runs() -> None:
    reasons, wake = waker()
    free = asyncio.Event()

    async def hold(context: CommandContext, arguments: str) -> CommandResult:
        await free.wait()
        return CommandResult("held")

    async with theatre(ScriptedSession(), wake=wake, commands=(Command("hold", "For tests", hold),)) as show:
        show.keys("/hold\r")
        await show.see("❯ /hold")
        reasons.put_nowait("a report came")
        await show.settled()
        assert show.session.received == []
        free.set()
        await show.see("echo: a report came")


class _Slow:
    """A person who types one line after the turn that came by itself."""

    def __init__(self) -> None:
        self.shown: list[str] = []
        self.lines: asyncio.Queue[str | None] = asyncio.Queue()

    async def ask(self, prompt: str) -> str | None:
        self.write(prompt)
        return await self.lines.get()

    def write(self, text: str) -> None:
        self.shown.append(text)
        if "echo: a report came" in text:
            self.lines.put_nowait("typed")
        if "echo: typed" in text:
            self.lines.put_nowait(None)


async def test_by_lines_too() -> None:
    reasons, wake = waker()
    session, lines = ScriptedSession(), _Slow()
    given: Any = lines

    async def start() -> ScriptedSession:
        return session

    front = PlainFrontEnd(session, Registry(), given, Texts(), Way(start, wake=wake))
    reasons.put_nowait("a report came")
    assert await front.run("") == 0
    assert [p.text for p in session.received] == ["a report came", "typed"]
