"""Every key does what it says, and the terminal's own cursor stands at the caret."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from agentcli.events import StepStarted, TextDelta, TodosChanged, ToolStarted
from agentcli.ports.display import Todo
from tests.ui.scripted import Pause, ScriptedSession
from tests.ui.theatre import Theatre, theatre

ESC, CTRL_C, CTRL_D, CTRL_G, CTRL_J, CTRL_O, CTRL_R, CTRL_T = (
    "\x1b",
    "\x03",
    "\x04",
    "\x07",
    "\n",
    "\x0f",
    "\x12",
    "\x14",
)
UP, DOWN, LEFT, SHIFT_TAB, BACKSPACE = "\x1b[A", "\x1b[B", "\x1b[D", "\x1b[Z", "\x7f"
SLOW = [StepStarted(1, "m"), Pause("end")]


async def sent(show: Theatre, count: int = 1) -> list[str]:
    await show.until(lambda: len(show.session.received) >= count)
    return [prompt.text for prompt in show.session.received]


@pytest.mark.parametrize("newline", ["\\\r", "\x1b\r", CTRL_J, "\x1b[27;2;13~", "\x1b[13;2u"])
async def test_new_lines_in_the_input(newline: str) -> None:
    async with theatre(ScriptedSession()) as show:
        show.keys(f"one{newline}two")
        await show.see("  two")
        show.keys("\r")
        assert await sent(show) == ["one\ntwo"]


async def test_the_cursor_stands_at_the_caret() -> None:
    async with theatre(ScriptedSession()) as show:

        async def caret(text: str) -> None:
            await show.until(lambda: show.caret_text.replace(" ", "") == text.replace(" ", ""))
            assert not show.emulator.cursor.hidden

        await caret("❯ ")
        show.keys("abc")
        await caret("❯ abc")
        show.keys(LEFT)
        await caret("❯ ab")
        show.keys("바람")
        await caret("❯ ab바람")
        assert show.emulator.caret()[1] == 2 + 2 + 4
        show.keys("\x1b\r日本\x1b\rend")
        await caret("  end")
        show.keys(UP)
        await caret("  日本")
        show.keys("/")
        await caret("  日本/")


async def test_the_caret_returns_while_an_answer_streams() -> None:
    words = [TextDelta(f"paragraph {n}\n\n") for n in range(30)]
    async with theatre(ScriptedSession([[StepStarted(1, "m"), Pause("a"), *words, Pause("end")]])) as show:
        show.keys("go\r")
        await show.see("Waiting")
        show.keys("초안 draft")
        await show.see("초안 draft")
        show.session.go_on("a")
        await show.see("paragraph 29")
        await show.settled()
        assert (
            show.caret_text == "❯ 초 안  draft".replace("초 안 ", "초안")
            or show.caret_text.replace(" ", "") == "❯초안draft"
        )
        assert not show.emulator.cursor.hidden


async def test_escape_interrupts_and_the_draft_stays() -> None:
    async with theatre(ScriptedSession([SLOW])) as show:
        show.keys("go\r")
        await show.see("Waiting")
        show.keys("draft")
        await show.see("draft")
        show.keys(ESC)
        await show.see("Stopped.")
        assert show.caret_text.endswith("draft")


async def test_escape_twice_clears_the_line_and_up_brings_it_back() -> None:
    async with theatre(ScriptedSession()) as show:
        show.keys("a draft")
        await show.see("a draft")
        show.keys(ESC)
        await show.see("Esc again clears")
        show.keys(ESC)
        await show.gone("a draft")
        show.keys(UP)
        await show.see("a draft")
        assert show.session.received == []


async def test_control_c_interrupts_then_clears_then_asks_then_exits() -> None:
    async with theatre(ScriptedSession([SLOW])) as show:
        show.keys("go\r")
        await show.see("Waiting")
        show.keys("draft")
        await show.see("draft")
        show.keys(CTRL_C)
        await show.see("Stopped.")
        show.keys(CTRL_C)
        await show.gone("draft")
        show.keys(CTRL_C)
        await show.see("Ctrl+C again exits")
        show.keys(CTRL_C)
        await show.until(show.result.done)
        assert show.result.result() == 0
        assert show.session.closed == 1


async def test_control_d_exits_on_an_empty_line_only() -> None:
    async with theatre(ScriptedSession()) as show:
        show.keys("x" + LEFT + CTRL_D)
        await show.until(lambda: show.caret_text == "❯ ")
        show.keys(CTRL_D)
        await show.until(show.result.done)
        assert "❯" not in show.screen.split("\n")[-1]


async def test_shift_tab_cycles_the_mode() -> None:
    async with theatre(ScriptedSession()) as show:
        for words in ("edits freely", "plans only", "asks"):
            show.keys(SHIFT_TAB)
            await show.until(lambda w=words: w in show.screen.split("\n")[-1])


async def test_todo_list_opens_and_closes() -> None:
    todos = (Todo("Read", "completed"), Todo("Write", "pending"))
    async with theatre(ScriptedSession([[TodosChanged(todos)]])) as show:
        show.keys(CTRL_T)
        await show.see("There is no todo list yet")
        show.keys(CTRL_T + "go\r" + CTRL_T)
        await show.see("☐ Write")
        show.keys(CTRL_T)
        await show.gone("☐ Write")


async def test_a_message_typed_meanwhile_is_queued_and_delivered() -> None:
    async with theatre(ScriptedSession([[StepStarted(1, "m"), Pause("a"), TextDelta("done")]])) as show:
        show.keys("go\r")
        await show.see("Waiting")
        show.keys("also this\r")
        await show.see("queued: also this")
        show.session.go_on("a")
        await show.see("❯ also this")
        await show.see("done")
        assert await sent(show) == ["go"]


async def test_up_takes_a_queued_message_back() -> None:
    async with theatre(ScriptedSession([SLOW])) as show:
        show.keys("go\r")
        await show.see("Waiting")
        show.keys("also this\r")
        await show.see("queued: also this")
        show.keys(UP)
        await show.until(lambda: show.caret_text == "❯ also this")
        assert show.session.queue == []


async def test_what_is_queued_too_late_becomes_the_next_turn() -> None:
    async with theatre(ScriptedSession([SLOW])) as show:
        show.keys("go\r")
        await show.see("Waiting")
        show.keys("one\r")
        await show.see("queued: one")
        show.keys("two\r")
        await show.see("queued: two")
        show.keys(ESC)
        assert await sent(show, 2) == ["go", "one\n\ntwo"]
        await show.see("echo: one")


async def test_typing_before_the_session_is_ready_is_kept() -> None:
    async with theatre(ScriptedSession(), first_prompt="from the command line") as show:
        await show.see("echo: from the command line")
        assert await sent(show) == ["from the command line"]


async def test_shell_lines_and_commands() -> None:
    async with theatre(ScriptedSession()) as show:
        show.keys("!make\r")
        await show.see("ran make")
        assert show.session.shell_commands == ["make"]
        show.keys("/clera\r")
        await show.see("There is no command /clera. Did you mean /clear?")
        show.keys("/clear\r")
        await show.see("A new conversation begins")
        assert show.session.cleared == 1
        show.keys("/usr/bin/env is a path\r")
        assert await sent(show) == ["/usr/bin/env is a path"]
        show.keys("?\r")
        await show.see("Shift+Tab: next permission mode")


async def test_a_command_that_must_wait_says_so_and_stays_in_the_line() -> None:
    async with theatre(ScriptedSession([SLOW])) as show:
        show.keys("go\r")
        await show.see("Waiting")
        show.keys("/clear\r")
        await show.see("Not while the agent works")
        assert show.caret_text == "❯ /clear"
        assert show.session.cleared == 0


async def test_history_goes_back_and_forth_and_is_searched() -> None:
    async with theatre(ScriptedSession()) as show:
        show.keys("alpha one\r")
        await show.see("echo: alpha one")
        show.keys("beta two\r")
        await show.see("echo: beta two")
        show.keys(UP + UP)
        await show.until(lambda: show.caret_text == "❯ alpha one")
        show.keys(DOWN)
        await show.until(lambda: show.caret_text == "❯ beta two")
        show.keys(CTRL_C)
        await show.until(lambda: show.caret_text == "❯ ")
        show.keys(CTRL_R + "alp")
        await show.until(lambda: "❯ alpha one" in show.screen.split("\n")[-3])
        show.keys("\r")
        await show.gone("I-search")
        show.keys("\r")
        assert (await sent(show, 3))[2] == "alpha one"


def program(path: Path, code: str) -> str:
    """A command line that runs the Python code with the file's name as its argument."""
    path.write_text(code)
    return f"{sys.executable} {path}"


async def test_the_editor_edits_the_whole_text(tmp_path: Path) -> None:
    change = "p.read_text().replace('row 17', 'ROW 17') + 'more\\n'"
    code = f"import sys, pathlib\np = pathlib.Path(sys.argv[1])\np.write_text({change})"
    env = {"EDITOR": program(tmp_path / "editor.py", code)}
    pasted = "\n".join(f"row {n}" for n in range(20))
    async with theatre(ScriptedSession(), env=env) as show:
        show.paste(pasted)
        await show.see("[Pasted text #1, 20 lines]")
        show.keys(CTRL_G)
        await show.see("ROW 17")
        await show.until(lambda: show.caret_text == "  row 19more")
        show.keys("\r")
        assert await sent(show) == [pasted.replace("row 17", "ROW 17") + "more"]


async def test_a_missing_editor_is_named() -> None:
    async with theatre(ScriptedSession(), env={"EDITOR": "/nonexistent/editor"}) as show:
        show.keys("draft" + CTRL_G)
        await show.see("/nonexistent/editor: No such file or directory")
        assert show.caret_text == "❯ draft"


async def test_the_pager_gets_the_whole_turn(tmp_path: Path) -> None:
    copy = tmp_path / "shown.txt"
    code = f"import sys,pathlib;pathlib.Path({str(copy)!r}).write_text(pathlib.Path(sys.argv[1]).read_text())"
    env = {"PAGER": program(tmp_path / "pager.py", code)}
    async with theatre(ScriptedSession(), env=env) as show:
        show.keys(CTRL_O)
        await show.see("Nothing has been done yet")
        show.keys("\r")
        from agentcli.events import AssistantMessage, ToolResultsAppended
        from agentcli.messages import Message, TextBlock, ToolResultBlock, ToolUseBlock, Usage, assistant

        call = ToolUseBlock("t1", "Bash", {"command": "seq 3"})
        show.session._scripts.append(
            [
                AssistantMessage(assistant("I count.", call), "m", "tool_use", Usage()),
                ToolResultsAppended(Message("user", (ToolResultBlock("t1", (TextBlock("1\n2\n3"),)),))),
            ]
        )
        show.keys("go\r")
        await show.see("I count.")
        show.keys(CTRL_O)
        await show.until(copy.exists)
        await show.until(copy.read_text)
    assert [line for line in copy.read_text().split("\n") if line and "─" not in line] == [
        "I count.",
        "{",
        '  "command": "seq 3"',
        "}",
        "1",
        "2",
        "3",
    ]


async def test_odd_bytes_are_sent_as_valid_text() -> None:
    async with theatre(ScriptedSession()) as show:
        show.bytes(b"a\xff\xfeb \xed\xa0\xbd c\r")
        texts = await sent(show)
        texts[0].encode("utf-8")
        assert texts[0].startswith("a")
        assert texts[0].endswith("c")


async def test_running_calls_are_live_lines() -> None:
    async with theatre(ScriptedSession([[ToolStarted("t", "Bash", {}, "make"), Pause("end")]])) as show:
        show.keys("go\r")
        await show.see("Bash make · 0.0 s")
        show.time += 61
        await show.see("Bash make · 1 m 01 s")


async def test_vi_mode() -> None:
    async with theatre(ScriptedSession(), vi=True) as show:
        show.keys("helo")
        await show.see("helo")
        show.keys(ESC)
        await show.until(lambda: show.caret_text == "❯ hel")
        show.keys("il\r")
        assert await sent(show) == ["hello"]
