"""What an MCP server asks in the middle of a call is asked in the terminal; the server gets the answer."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from agentcli.events import StepStarted
from agentcli.i18n import Texts
from agentcli.mcp.answers import fields_of
from agentcli.ports.elicitation import Elicitation, ElicitReply
from agentcli.ui.terminal.elicit_lines import PlainElicitor
from agentcli.ui.terminal.plain_lines import PlainDialogs, PlainView
from tests.mcp.world import Servers, World, texts, tool
from tests.ui.scripted import Pause, ScriptedSession
from tests.ui.theatre import Theatre, theatre

SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "title": "Name", "description": "Yours"},
        "age": {"type": "integer", "minimum": 1, "maximum": 150},
        "color": {"type": "string", "enum": ["r", "g"], "enumNames": ["Red", "Green"], "default": "g"},
        "tags": {"type": "array", "items": {"type": "string", "enum": ["a", "b", "c"]}, "minItems": 2},
        "sure": {"type": "boolean", "default": False},
        "city": {"type": "string", "default": "Seoul"},
    },
    "required": ["name", "age"],
}
ASKED = {"message": "Who \u001b[31mare you?", "requestedSchema": SCHEMA}
SHORT = {**ASKED, "requestedSchema": {**SCHEMA, "properties": {"age": SCHEMA["properties"]["age"]}}}  # type: ignore[index]
WEB = "https://shop.example/pay?id=7"
PAGE = {"mode": "url", "message": "Pay first", "url": WEB, "elicitationId": "e1"}


@asynccontextmanager
async def asked(directory: Path, question: Any) -> AsyncIterator[tuple[Theatre, asyncio.Task[Any]]]:
    """A terminal, and a server that asks during a call; the task gives what the server was answered."""
    mcp = World(directory, Servers(directory))
    mcp.servers.add("club", tools=[tool("ask")], calls={"ask": {"asks": [["elicitation/create", question]]}})
    session = ScriptedSession([[StepStarted(1, "m"), Pause("end")]])

    async def call() -> Any:
        mcp.host_options = {"elicitor": session.asking.elicitor}
        async with mcp.open() as room:
            (answer,) = texts(await mcp.call(room, "mcp__club__ask"))
            return json.loads(answer[answer.index("[") :])[0]

    async with theatre(session, env={"BROWSER": "any"}) as show:
        show.keys("go\r")
        await show.see("Waiting")
        task = asyncio.ensure_future(call())
        await show.see("The MCP server club asks:\n  ")
        show.time += 1
        yield show, task


async def answer(show: Theatre, sees: str, keys: str) -> None:
    await show.until(lambda: sees in show.screen)
    show.time += 1
    show.keys(keys)


async def test_a_form_is_filled_in_field_by_field_and_sent_after_a_last_look(project: Path) -> None:
    async with asked(project, ASKED) as (show, task):
        assert "  Who are you?\n  Name (1/6)\n  Yours\n❯ 1. Type a value\n  2. Decline\n" in show.screen
        await answer(show, "Name (1/6)", "1Ann\r")
        await answer(show, "age (2/6)", "1thirty\r")
        await show.see("thirty is not a whole number.")
        await answer(show, "not a whole number", "200\r")
        await answer(show, "at most 150", "30\r")
        await answer(show, "❯ 2. Green", "1")
        await answer(show, "tags (4/6)", "1\r")
        await answer(show, "At least 2 have to be chosen.", "13\r")
        await answer(show, "❯ 2. No", "\r")
        await answer(show, "❯ 2. Leave it at Seoul", "3")
        await answer(show, "Name: Ann\n  age: 30\n  color: Red\n  tags: a, c\n  sure: No\n❯ 1. Send this to club", "1")
        content = {"name": "Ann", "age": 30, "color": "r", "tags": ["a", "c"], "sure": False}
        assert await task == {"action": "accept", "content": content}


async def test_what_was_filled_in_can_be_changed_before_it_is_sent(project: Path) -> None:
    async with asked(project, SHORT) as (show, task):
        await answer(show, "Type a value", "130\r")
        await answer(show, "age: 30", "2")
        await answer(show, "❯ 2. Leave it at 30", "131\r")
        await answer(show, "age: 31", "1")
        assert await task == {"action": "accept", "content": {"age": 31}}


@pytest.mark.parametrize(
    ("question", "keys", "action"),
    [
        (SHORT, "\x1b", "cancel"),
        (SHORT, "1\x1b", "cancel"),
        (SHORT, "2", "decline"),
        (PAGE, "\x1b", "cancel"),
        (PAGE, "2", "decline"),
    ],
)
async def test_esc_cancels_and_no_declines(project: Path, question: Any, keys: str, action: str) -> None:
    async with asked(project, question) as (show, task):
        assert question is not PAGE or f"Pay first\n  {WEB}\n  1. Open it in the browser\n❯ 2. Decline" in show.screen
        show.keys(keys)
        assert await task == {"action": action}


async def test_an_address_is_opened_after_a_yes(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", lambda url: opened.append(url) or True)
    async with asked(project, PAGE) as (show, task):
        assert opened == []
        show.keys("1")
        assert await task == {"action": "accept"}
        await show.see(f"Opened for the MCP server club: {WEB}")
        assert opened == [WEB]


async def test_what_is_no_web_address_is_never_offered() -> None:
    session = ScriptedSession([])
    async with theatre(session) as show:
        reply = await session.asking.elicitor.elicit(Elicitation("club", "Look", url="file:///etc/passwd"))
        assert reply == ElicitReply("decline")
        await show.see("no web address")


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


@pytest.mark.parametrize(
    ("lines", "reply"),
    [
        (
            ["1", "Ann", "x", "30", "1", "1,3", "", ""],
            ElicitReply(
                "accept",
                {"name": "Ann", "age": 30, "color": "r", "tags": ["a", "c"], "sure": False, "city": "Seoul"},
            ),
        ),
        (
            ["1", "", "Ann", "30", "9", "", "", "1", "Busan"],
            ElicitReply("accept", {"name": "Ann", "age": 30, "color": "g", "sure": True, "city": "Busan"}),
        ),
        (["2"], ElicitReply("decline")),
        ([""], ElicitReply("cancel")),
        (["1", "Ann", None], ElicitReply("cancel")),
    ],
)
async def test_by_lines(lines: list[str | None], reply: ElicitReply) -> None:
    given: Any = _Given(*lines)
    dialogs = PlainDialogs(given, PlainView(given, Texts()), Texts())
    elicitor = PlainElicitor(given, dialogs, Texts(), asyncio.Lock())
    assert await elicitor.elicit(Elicitation("club", "Who are you?", fields_of(SCHEMA))) == reply
    assert given.shown[0] == "The MCP server club asks:\n  Who are you?\n"
