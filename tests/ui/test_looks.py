"""Colours change at once, the title follows the work, and whoever looks elsewhere is called."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from agentcli.commands.base import Command, CommandContext, CommandResult
from agentcli.events import PermissionAsked, StepStarted, TextDelta, TurnFinished
from agentcli.messages import ImageBlock, Usage
from agentcli.ports.frontend import UserInput
from agentcli.settings.layers import Layer, Source
from agentcli.settings.merged import Settings
from agentcli.ui.terminal.preferences import Preferences, preferences
from tests.ui.scripted import Pause, ScriptedSession
from tests.ui.theatre import CAPABILITIES, theatre

IMAGE = ImageBlock("image/png", "eA==")


async def _change(context: CommandContext, arguments: str) -> CommandResult:
    if arguments == "draft":
        return CommandResult(draft=UserInput("earlier words", (IMAGE,)))
    return CommandResult(theme=arguments)


CHANGE = Command("change", "For tests", _change)


def preferred(**settings: object) -> Preferences:
    return preferences(Settings((Layer(Source("user", None, Path("/")), dict(settings)),)))


def test_settings_of_the_interface() -> None:
    assert preferred() == Preferences()
    wanted = Preferences(theme="daltonised", language="ko", vi=True)
    assert preferred(theme="dark-daltonized", editorMode="vim", uiLanguage="ko") == wanted
    assert preferred(theme="light-ansi", preferredNotifChannel="terminal_bell") == Preferences("light", notify="bell")
    assert preferred(theme="nonsense", editorMode="normal", preferredNotifChannel="iterm2") == Preferences()


async def test_a_theme_holds_for_everything_that_is_drawn_from_then_on() -> None:
    async with theatre(ScriptedSession([[StepStarted(1, "m"), TextDelta("`code`\n")]]), commands=(CHANGE,)) as show:
        await show.until(lambda: ",bold|❯" in show.emulator.styled())
        show.keys("/change none\r")
        await show.until(lambda: "{bold|❯" in show.emulator.styled().rsplit("\n", 2)[-2])
        show.keys("go\r")
        await show.see("code")
        await show.settled()
        assert "cyan|code" not in show.emulator.styled()


async def test_a_message_that_is_handed_out_stands_in_the_line_again() -> None:
    session = ScriptedSession()
    async with theatre(session, commands=(CHANGE,)) as show:
        show.keys("/change draft\r")
        await show.until(lambda: show.caret_text == "❯ [Image #1]earlier words")
        show.keys("\r")
        await show.until(lambda: session.received)
    assert session.received == [UserInput("[Image #1]earlier words", (IMAGE,))]


def titles(text: str) -> list[str]:
    return [part.split("\x07")[0] for part in text.split("\x1b]2;")[1:]]


async def test_the_title_says_whether_the_agent_works_and_is_given_back() -> None:
    session = ScriptedSession([[StepStarted(1, "m"), Pause("end")]])
    async with theatre(session) as show:
        show.keys("go\r")
        await show.see("Waiting")
        session.status_value = replace(session.status_value, title="Mending")
        session.go_on("end")
        await show.gone("Waiting")
        show.keys("\x04")
        await show.until(show.result.done)
        assert titles("".join(show.wire.writes)) == [
            "sample · agentcli",
            "✻ sample · agentcli",
            "Mending · agentcli",
            "",
        ]


async def called(notify: str, *, notices: bool = True) -> list[bool]:
    """Whether a bell, and whether a notification came for a question and for the end of a long turn."""
    asked = PermissionAsked("p", "t", "Bash", {}, "make", "")
    long = TurnFinished(1, "completed", "", 1, 21.0, 1.0, Usage(), 0.0)
    capabilities = replace(CAPABILITIES, notices=notices)
    async with theatre(ScriptedSession(), capabilities=capabilities, notify=notify) as show:
        show.wire.writes.clear()
        show.session.events.emit(replace(long, duration=19.0))
        assert "\x07" not in "".join(show.wire.writes).replace("agentcli\x07", "")
        show.session.events.emit(asked)
        show.session.events.emit(long)
        text = "".join(show.wire.writes).replace("agentcli\x07", "")
    return [
        text.replace("permission: Bash make\x07", "").replace("done (21 s)\x07", "").count("\x07") == 2,
        "\x1b]9;The agent asks for permission: Bash make\x07" in text and "\x1b]9;The agent is done (21 s)\x07" in text,
    ]


async def test_a_question_and_the_end_of_a_long_turn_call() -> None:
    assert await called("auto") == [True, True]
    assert await called("auto", notices=False) == [True, False]
    assert await called("bell") == [True, False]
    assert await called("none") == [False, False]
