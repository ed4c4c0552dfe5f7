"""What commands may do to the front end: speak, ask, copy, run a turn, change the session, fail, leave."""

from __future__ import annotations

from base64 import b64encode
from pathlib import Path

from agentcli.commands.base import Command, CommandContext, CommandResult
from agentcli.errors import UserError
from agentcli.events import StepStarted
from agentcli.model.report import table
from agentcli.ports.frontend import Choice, UserInput
from tests.ui.scripted import Pause, ScriptedSession
from tests.ui.theatre import Theatre, theatre


async def _probe(context: CommandContext, arguments: str) -> CommandResult:
    match arguments.split():
        case ["say"]:
            return CommandResult("Some **Markdown**\n\n- a\n- b")
        case ["copy"]:
            return CommandResult(copy="text for the clipboard")
        case ["turn"]:
            return CommandResult(prompt=UserInput("a prompt of the command"))
        case ["resume"]:
            return CommandResult(resume="other")
        case ["mend"]:
            raise UserError("Give a number: /probe 3")
        case ["bug"]:
            raise LookupError("no such thing")
        case ["choose"]:
            picked = await context.dialogs.choose(
                "Which?", [Choice("a", "Alpha", "the first"), Choice("b", "Beta")], current="b"
            )
            return CommandResult(f"picked {picked}")
        case ["preview"]:
            offered = [
                Choice("a", "Alpha", preview=lambda: ["first words", "x" * 200]),
                Choice("b", "Beta", preview=lambda: ["other\x1b[2J words"]),
            ]
            return CommandResult(f"picked {await context.dialogs.choose('Which?', offered)}")
        case ["table"]:
            heads = ("request", "of", "input", "cache read", "cost")
            rows = [("1", "conversation", "12.3k", "100k", "$0.02"), ("2", "compaction", "1.2M", "", "$1.02")]
            return CommandResult("\n".join(table(heads, rows)))
        case ["confirm"]:
            return CommandResult(f"confirmed {await context.dialogs.confirm('Sure?', detail='It is much.')}")
        case ["edit"]:
            return CommandResult(f"edited {await context.dialogs.edit('draft')}")
        case ["show"]:
            await context.dialogs.show("# Shown")
    return CommandResult()


PROBE = Command("probe", "For tests", _probe, argument_hint="WORD")
INSTANT = Command("instant", "At any time", _probe, while_running=True)


def probing(session: ScriptedSession | None = None, **options: object):
    return theatre(session or ScriptedSession(), commands=(PROBE, INSTANT), **options)


async def probe(show: Theatre, word: str, seen: str) -> None:
    show.keys(f"/probe {word}\r")
    await show.see(seen)


async def test_a_choice_shows_what_it_is_about() -> None:
    async with probing() as show:
        await probe(show, "preview", "first words")
        show.keys("\x1b[B")
        await show.see("other")
        await show.gone("first words")
        show.keys("\r")
        await show.see("picked b")


async def test_a_table_that_is_too_wide_is_shown_row_by_row() -> None:
    async with probing(columns=40) as show:
        await probe(show, "table", "request 2")
        for line in ("request 1", "  of conversation, input 12.3k,", "  cache read 100k, cost $0.02"):
            assert line in show.screen
    async with probing(columns=80) as show:
        await probe(show, "table", "compaction")
        assert any(line.split()[:5] == ["request", "of", "input", "cache", "read"] for line in show.screen.splitlines())


async def test_text_is_markdown() -> None:
    async with probing() as show:
        await probe(show, "say", "Some Markdown\n\n • a\n • b")


async def test_copying_goes_by_way_of_the_terminal() -> None:
    async with probing() as show:
        await probe(show, "copy", "22 characters handed to the terminal's clipboard")
        code = b64encode(b"text for the clipboard").decode()
        assert f"\x1b]52;c;{code}\x07" in "".join(show.wire.writes)


async def test_a_prompt_is_run_as_a_turn() -> None:
    async with probing() as show:
        await probe(show, "turn", "echo: a prompt of the command")


async def test_errors_of_the_user_are_one_line_and_bugs_are_reported_whole() -> None:
    async with probing(rows=60) as show:
        await probe(show, "mend", "Give a number: /probe 3")
        assert "Traceback" not in show.everything
        await probe(show, "bug", "A bug in agentcli, please report it: LookupError: no such thing")
        await show.see("Traceback")
        show.keys("still here\r")
        await show.see("echo: still here")


async def test_choosing() -> None:
    async with probing() as show:
        await probe(show, "choose", "❯ 2. Beta")
        assert "1. Alpha  the first" in show.screen
        show.keys("\x1b[A\r")
        await show.see("picked a")
        await probe(show, "choose", "Which?\n  1. Alpha  the first\n❯ 2. Beta")
        show.keys("\x1b")
        await show.see("picked None")


async def test_confirming() -> None:
    async with probing() as show:
        await probe(show, "confirm", "Sure?\n  It is much.\n  1. Yes\n❯ 2. No")
        show.keys("1")
        await show.see("confirmed True")
        show.keys("/probe confirm\r")
        await show.until(lambda: "❯ 2. No" in show.screen)
        show.keys("\r")
        await show.see("confirmed False")


async def test_editing_and_showing() -> None:
    async with probing(env={"EDITOR": "true"}) as show:
        await probe(show, "edit", "edited draft")
        await probe(show, "show", "Shown")


async def test_another_session_takes_the_place_of_this_one() -> None:
    first, second = ScriptedSession(), ScriptedSession()
    asked = []

    async def restart(session_id: str) -> ScriptedSession:
        asked.append(session_id)
        return second

    async with probing(first, restart=restart) as show:
        show.keys("/probe resume\r")
        await show.until(lambda: second.started)
        show.keys("hello\r")
        await show.see("echo: hello")
        first.events.emit(StepStarted(1, "the old session is not heard any more"))
    assert asked == ["other"]
    assert (first.closed, second.closed) == (1, 1)
    assert [p.text for p in second.received] == ["hello"]
    assert first.received == []


async def test_a_session_that_can_not_be_opened_leaves_this_one() -> None:
    async def restart(session_id: str) -> ScriptedSession:
        raise UserError("Session other is open in another terminal.")

    session = ScriptedSession()
    async with probing(session, restart=restart) as show:
        await probe(show, "resume", "Session other is open in another terminal.")
        show.keys("hello\r")
        await show.see("echo: hello")
        assert session.closed == 0


async def test_only_instant_commands_run_beside_a_turn() -> None:
    session = ScriptedSession([[StepStarted(1, "m"), Pause("end")]])
    async with probing(session) as show:
        show.keys("go\r")
        await show.see("Waiting")
        show.keys("/instant say\r")
        await show.see("Some Markdown")
        show.keys("/probe say\r")
        await show.see("Not while the agent works")
        assert show.caret_text == "❯ /probe say"


async def test_commands_of_the_session_are_in_the_menu_and_the_help(project: Path) -> None:
    async with probing(rows=60) as show:
        show.keys("/pro")
        await show.see("/probe WORD  For tests")
        show.keys("\x03/help probe\r")
        await show.see("/probe WORD: For tests")
