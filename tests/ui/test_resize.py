"""Output is written once: resizing and long answers neither repeat nor erase what stands above."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace

import pytest

from agentcli.events import StepStarted, TextDelta, ToolStarted
from agentcli.ui.terminal.layout import wrap
from tests.ui.scripted import Pause, ScriptedSession
from tests.ui.theatre import CAPABILITIES, theatre

ANSWER = "".join(f"numbered line {n:03}\n\n" for n in range(120))
SIZES = [(120, 24), (40, 24), (80, 10), (80, 50), (60, 24)]


async def test_resizing_in_the_middle_of_an_answer() -> None:
    size = len(ANSWER) // 400 + 1
    deltas = [TextDelta(ANSWER[n : n + size]) for n in range(0, len(ANSWER), size)]
    steps: list[object] = []
    for number in range(30):
        part = deltas[len(deltas) * number // 30 : len(deltas) * (number + 1) // 30]
        steps += [*part, Pause(f"resize {number}")]
    session = ScriptedSession([[StepStarted(1, "m"), *steps]])
    async with theatre(session) as show:
        show.emulator.scrollback.append("what was there before")
        show.keys("go\r")
        for number in range(30):
            await show.until(lambda n=number: f"resize {n}" in session._pauses)
            show.resize(*SIZES[number % len(SIZES)])
            session.go_on(f"resize {number}")
        await show.see("numbered line 119")
        show.keys("second\r")
        await show.see("echo: second")
        await show.settled()
        everything = show.everything
        written = "".join(show.wire.writes)
    assert re.findall(r"numbered line \d+", everything) == [f"numbered line {n:03}" for n in range(120)]
    assert everything.count("agentcli 0.") == 1
    assert everything.startswith("what was there before")
    assert "\x1b[2J" not in written
    assert "\x1b[3J" not in written
    assert "\x1b[?1049h" not in written


async def test_what_is_written_per_delta_does_not_grow_with_the_answer() -> None:
    def part(first: int) -> list[object]:
        return [TextDelta(f"paragraph {n}\n\n") for n in range(first, first + 50)]

    session = ScriptedSession([[StepStarted(1, "m"), *part(0), Pause("a"), *part(50), Pause("b"), *part(100)]])
    async with theatre(session) as show:
        show.keys("go\r")
        sizes = []
        for name in ("a", "b", "c"):
            await show.see(f"paragraph {50 * len(sizes) + 49}")
            await show.settled()
            sizes.append(sum(map(len, show.wire.writes)))
            session.go_on(name)
    assert sizes[2] - sizes[1] < 2 * sizes[0]


async def test_every_frame_is_one_write_and_ends_with_a_visible_cursor() -> None:
    session = ScriptedSession([[TextDelta("one\n\ntwo\n\n"), ToolStarted("t", "Bash", {}, "x"), Pause("end")]])
    async with theatre(session) as show:
        show.keys("go\r")
        await show.see("Bash x")
        await show.settled()
        frames = [w for w in show.wire.writes if "\x1b[?2026h" in w]
        assert frames
        for frame in frames:
            assert frame.count("\x1b[?2026h") == frame.count("\x1b[?2026l") == 1
            assert frame.rfind("\x1b[?25h") > frame.rfind("\x1b[?25l")


@pytest.mark.parametrize(("columns", "rows"), [(1, 24), (2, 2), (80, 1), (1, 1), (400, 60), (7, 3)])
async def test_odd_sizes_do_no_harm(columns: int, rows: int) -> None:
    session = ScriptedSession(
        [[TextDelta("# 한국어 **b**\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n- 日本語\n"), Pause("end")]]
    )
    async with theatre(session) as show:
        show.keys("go\r")
        await show.see("한")
        show.resize(columns, rows)
        session.go_on("end")
        await show.settled()
        show.keys("next")
        await show.settled()
        show.resize(80, 24)
        show.keys("!")
        await show.see("next!")


async def test_a_terminal_that_wraps_anew_keeps_no_rest_of_the_live_part() -> None:
    """The live part's rows are wrapped by the terminal before it is drawn anew: all of them are climbed over."""
    session = ScriptedSession([[ToolStarted("t", "Bash", {}, "x" * 60), Pause("end")]])
    async with theatre(session, capabilities=replace(CAPABILITIES, reflow=True)) as show:
        show.keys("go\r")
        await show.see("Bash xxx")
        await show.settled()
        rows = show.screen.split("\n")
        live = rows[next(n for n, row in enumerate(rows) if "Bash xxx" in row) - 1 :]
        above = wrapped_at(40, rows[: len(rows) - len(live)])
        wrapped = wrapped_at(40, live)
        caret = next(n for n, row in enumerate(wrapped) if row.startswith("❯"))
        show.emulator.reset()
        show.emulator.resize(24, 40)
        show.emulator.feed("\r\n".join([*above, *wrapped]))
        show.emulator.feed(f"\x1b[{len(above) + caret + 1};3H")
        show.app._on_resize()
        await show.settled()
        assert show.screen.count("Bash") == 1
        assert show.screen.split("\n")[: len(above)] == above


def wrapped_at(width: int, rows: list[str]) -> list[str]:
    return [row[at : at + width] for row in rows for at in range(0, max(len(row), 1), width)]


async def test_a_window_that_is_resized_while_an_editor_has_it(tmp_path: object) -> None:
    async with theatre(ScriptedSession()) as show:
        async with show.app.lent():
            show.app.print_above("from the background\n")
            show.resize(50, 20)
            await asyncio.sleep(0)
        await show.see("from the background")
        assert show.everything.count("from the background") == 1


def test_wrapping_by_cells() -> None:
    assert wrap("one two three", 8) == ["one two", "three"]
    assert wrap("한국어입니다 x", 7) == ["한국어", "입니다", "x"]
    assert wrap("", 5) == [""]
