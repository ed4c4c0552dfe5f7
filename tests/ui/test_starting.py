"""What is typed while a prompt is being prepared: nothing is refused, and nothing overtakes."""

from __future__ import annotations

import asyncio

import pytest

from agentcli.errors import UserError
from agentcli.events import PromptAccepted
from agentcli.messages import user
from agentcli.ports.frontend import UserInput
from tests.ui.scripted import Pause, ScriptedSession
from tests.ui.theatre import theatre

UP = "\x1b[A"


@pytest.mark.parametrize("fails", [False, True])
async def test_enter_while_a_prompt_is_prepared_is_queued_behind_it(fails: bool) -> None:
    accepted = PromptAccepted(user("first @a"), steering=False)
    session = ScriptedSession([[accepted, Pause("on")]])
    begun, read = asyncio.Event(), asyncio.Event()

    async def prepare(_: ScriptedSession, prompt: UserInput) -> UserInput:
        if "@" in prompt.text:
            begun.set()
            await read.wait()
            if fails:
                raise UserError("that can't be read")
        return prompt

    async with theatre(session, prepare=prepare) as show:
        show.keys("first @a \r")
        await show.until(begun.is_set)
        show.keys("second\r")
        await show.see("queued: second")
        show.keys("third\r")
        await show.see("queued: third")
        show.keys(UP)
        await show.until(lambda: show.caret_text == "❯ third")
        show.keys("\r")
        await show.see("queued: third")
        assert session.received == []
        read.set()
        if fails:
            await show.see("that can't be read")
            await show.until(lambda: [p.text for p in session.received] == ["second"])
        else:
            await show.until(lambda: [q.text for q in session.queue] == ["second", "third"])
            assert [p.text.strip() for p in session.received] == ["first @a"]
        session.go_on("on")
