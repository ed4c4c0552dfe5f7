"""Small parts of the front end, each for itself."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.text import Text

from agentcli.errors import SetupError
from agentcli.events import ToolFinished
from agentcli.i18n import Texts
from agentcli.ports.display import CommandDisplay
from agentcli.text import strip_ansi
from agentcli.ui.terminal import external
from agentcli.ui.terminal.capabilities import Capabilities, detect
from agentcli.ui.terminal.output.diff import Diff, DiffLine, compare, draw
from agentcli.ui.terminal.output.glyphs import ASCII, UNICODE
from agentcli.ui.terminal.output.markdown import whole
from agentcli.ui.terminal.output.pen import Pen, cut, safe
from agentcli.ui.terminal.output.tools import CallPainter, RunningCall, seconds
from agentcli.ui.terminal.status import line, parts
from agentcli.ui.terminal.theme import SHAPES, THEME_NAMES, choose_theme, theme
from tests.ui.scripted import STATUS

CAPABILITIES = detect({"TERM": "xterm-256color"})


@pytest.mark.parametrize(
    ("env", "expected"),
    [
        ({}, {"dumb": True, "color": "standard"}),
        ({"TERM": "dumb"}, {"dumb": True, "color": "standard"}),
        ({"TERM": "xterm-256color"}, {}),
        ({"TERM": "linux"}, {"color": "standard"}),
        ({"TERM": "xterm-256color", "NO_COLOR": "1"}, {"color": None}),
        ({"TERM": "xterm-256color", "NO_COLOR": ""}, {}),
        ({"TERM": "xterm-256color", "COLORTERM": "truecolor"}, {"color": "truecolor"}),
        ({"TERM": "xterm-256color", "VTE_VERSION": "7200"}, {"links": True, "reflow": True}),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "Apple_Terminal"}, {"reflow": True}),
        ({"TERM": "xterm-kitty", "KITTY_WINDOW_ID": "1"}, {"links": True, "reflow": True, "notices": True}),
    ],
)
def test_what_the_environment_tells_of_the_terminal(env: dict[str, str], expected: dict[str, object]) -> None:
    usual = Capabilities(dumb=False, color="256", links=False, reflow=False, notices=False)
    assert detect(env) == replace(usual, **expected)


def test_a_stream_that_is_not_unicode_gets_plain_signs() -> None:
    assert detect({"TERM": "xterm"}, encoding="ascii").unicode is False
    assert "".join(value if isinstance(value, str) else "".join(value) for value in _values(ASCII)).isascii()
    assert [type(v) for v in _values(ASCII)] == [type(v) for v in _values(UNICODE)]


def _values(glyphs: object) -> list[object]:
    return [getattr(glyphs, name) for name in type(glyphs).__slots__]


@pytest.mark.parametrize("name", THEME_NAMES)
def test_every_theme_has_every_look_and_signs_do_not_need_hue(name: str) -> None:
    from prompt_toolkit.styles import Style
    from rich.style import Style as RichStyle

    made = theme(name)
    for look in SHAPES:
        RichStyle.parse(made.rich(look))
        Style.from_dict({"x": made.ptk(look)})
    added, removed = RichStyle.parse(made.rich("added")), RichStyle.parse(made.rich("removed"))
    assert name == "none" or added.color != removed.color


def test_an_unknown_theme_and_a_terminal_without_colour_get_none() -> None:
    assert theme("nonsense").name == "none"
    assert theme("dark", color=False).name == "none"


def test_the_theme_follows_the_background_unless_it_is_named() -> None:
    assert choose_theme(None, {}) == "dark"
    assert choose_theme(None, {"COLORFGBG": "0;15"}) == "light"
    assert choose_theme(None, {"COLORFGBG": "15;default;0"}) == "dark"
    assert choose_theme("daltonised", {"COLORFGBG": "0;15"}) == "daltonised"


def test_a_diff_has_numbers_signs_and_word_marks() -> None:
    before = "a\nb\nc\nthe old value\ne\nf\ng\nh\ni\n"
    after = "a\nb\nc\nthe new value\ne\nf\ng\nh\ni\nj\n"
    assert compare(before, after) == Diff(
        (
            DiffLine(" ", 1, "a"),
            DiffLine(" ", 2, "b"),
            DiffLine(" ", 3, "c"),
            DiffLine("-", 4, "the old value", ((4, 7),)),
            DiffLine("+", 4, "the new value", ((4, 7),)),
            DiffLine(" ", 5, "e"),
            DiffLine(" ", 6, "f"),
            DiffLine(" ", 7, "g"),
            DiffLine(" ", 8, "h"),
            DiffLine(" ", 9, "i"),
            DiffLine("+", 10, "j"),
        ),
        added=2,
        removed=1,
    )


def test_a_long_diff_is_cut_and_counted() -> None:
    diff = compare(None, "".join(f"line {n}\n" for n in range(100)))
    shown = [text.plain for text in draw(diff, limit=10)]
    assert shown[:2] == ["  1 + line 0", "  2 + line 1"]
    assert len(shown) == 11
    assert shown[-1] == "… 90 more lines"


def test_far_apart_changes_are_separated() -> None:
    before = [f"line {n}" for n in range(60)]
    after = [*before]
    after[5], after[50] = "five", "fifty"
    lines = compare("\n".join(before), "\n".join(after)).lines
    assert [line.sign for line in lines].count("…") == 1
    assert [(x.sign, x.number) for x in lines if x.sign in "+-"] == [("-", 6), ("+", 6), ("-", 51), ("+", 51)]


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from("abc\t "), max_size=12), st.lists(st.sampled_from("abc\t "), max_size=12))
def test_a_diff_tells_the_new_text(old: list[str], new: list[str]) -> None:
    diff = compare("\n".join(old), "\n".join(new))
    lines = "\n".join(new).splitlines()
    shown = {x.number: x.text for x in diff.lines if x.sign in " +"}
    assert all(lines[number - 1] == text for number, text in shown.items())
    assert diff.added - diff.removed == len(lines) - len("\n".join(old).splitlines())
    for text in draw(diff):
        assert "\t" not in text.plain


def test_huge_files_are_compared_in_time() -> None:
    before = "".join(f"line {n}\n" for n in range(60_000))
    diff = compare(before, before.replace("line 30000\n", "changed\n"))
    assert (diff.added, diff.removed) == (1, 1)
    turned = compare(before, "".join(f"other {n}\n" for n in range(60_000)))
    assert (turned.added, turned.removed) == (60_000, 60_000)


@settings(max_examples=80, deadline=None)
@given(st.text(st.sampled_from("ab \n\t\r\x1b\x07\x9b\x00[]31mK;한👍"), max_size=30))
def test_text_of_others_holds_nothing_that_a_terminal_obeys(text: str) -> None:
    assert not [c for c in safe(text) if (ord(c) < 32 and c not in "\n\t") or 127 <= ord(c) < 160]


@pytest.mark.parametrize("source", ["\x1b]0;owned\x07text", "a\x1b[2Jb", "```\n\x1b[31mred\n```", "| \x1b[1m |\n|---|"])
def test_markdown_of_others_is_harmless(source: str) -> None:
    pen = Pen(theme("none"), replace(CAPABILITIES, color=None))
    shown = "".join(pen.ansi(renderable, 60) for _, renderable in whole(source, pen.theme))
    assert "\x1b" not in strip_ansi(shown)
    assert "\x1b[2J" not in shown
    assert "\x07" not in shown


@pytest.mark.parametrize("width", [1, 2, 5, 10, 40, 400])
def test_any_width_can_be_drawn(width: int) -> None:
    pen = Pen(theme("dark"), CAPABILITIES)
    source = "# 한국어\n\n- 日本語 text\n\n| a | b |\n|---|---|\n| 한 | b |\n\n> quote\n\n```py\nx = 1\n```\n"
    for _, renderable in whole(source, pen.theme):
        assert pen.ansi(renderable, width)
        assert pen.fragments(renderable, width)


def test_links_are_written_where_the_terminal_knows_them() -> None:
    def shown(links: bool) -> str:
        pen = Pen(theme("dark"), replace(CAPABILITIES, links=links))
        ((_, renderable),) = whole("see [docs](https://x.test)", pen.theme, links=links)
        return pen.ansi(renderable, 60)

    assert "\x1b]8;" in shown(True)
    assert "https://x.test" in shown(True)
    assert "\x1b]8;" not in shown(False)
    assert "docs (https://x.test)" in strip_ansi(shown(False))


def test_cut_counts_cells() -> None:
    assert cut("한국어입니다", 7) == "한국어…"
    assert cut("short", 10) == "short"
    assert Text(cut("👍👍👍", 4)).cell_len <= 4


@pytest.mark.parametrize(
    ("value", "text"), [(0.04, "0.0 s"), (9.96, "10.0 s"), (59.9, "59 s"), (61, "1 m 01 s"), (7_260, "2 h 01 m")]
)
def test_seconds(value: float, text: str) -> None:
    assert seconds(value) == text


def test_a_running_call_shows_its_last_line() -> None:
    call = RunningCall("t", "Bash", "make", 0.0)
    for chunk in ("comp", "iling\n", "10%\r20%\r", "30%\r", "\n", "\x1b[1mdone"):
        call.output(chunk)
    assert call.last == "done"


def test_the_status_line_drops_what_does_not_fit() -> None:
    shown = parts(STATUS, Texts(), UNICODE)
    full = "Test 1 high · asks · 22% context · $0.12 · 92% cached · ⎇ main"
    assert "".join(text for _, text in line(shown, 80, UNICODE)) == full
    for width in range(80):
        text = "".join(t for _, t, *_ in line(shown, width, UNICODE))
        assert full.startswith(text)
        assert len(text) <= width


def test_the_status_line_says_only_what_is_known() -> None:
    bare = replace(STATUS, effort=None, cost=None, cache_read_share=None, branch=None, context_used=190_000)
    assert parts(bare, Texts("ko"), ASCII) == [
        ("", "Test 1"),
        ("mode", "묻고 실행"),
        ("warning", "컨텍스트 95%"),
    ]


def test_programs_come_from_the_environment_with_their_arguments(monkeypatch: pytest.MonkeyPatch) -> None:
    assert external.editor({"VISUAL": "code --wait", "EDITOR": "vi"}) == ["code", "--wait"]
    assert external.pager({"PAGER": "less -R"}) == ["less", "-R"]
    with pytest.raises(SetupError, match=r"\$EDITOR can't be read"):
        external.editor({"EDITOR": "vi '"})
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(SetupError, match="no program found: set \\$PAGER"):
        external.pager({})


async def test_an_editor_that_fails_changes_nothing() -> None:
    lent = []

    @asynccontextmanager
    async def lend() -> AsyncIterator[None]:
        lent.append(1)
        yield
        lent.append(2)

    assert await external.edit("text", {"EDITOR": "false"}, lend) is None
    assert await external.edit("text\n", {"EDITOR": "true"}, lend) == "text"
    assert lent == [1, 2, 1, 2]
    with pytest.raises(SetupError):
        await asyncio.wait_for(external.page("x", {"PAGER": "/nonexistent"}, lend), 5)


def test_the_front_end_loads_neither_markdown_nor_the_client_before_it_is_needed() -> None:
    code = (
        "import sys, agentcli.ui.terminal.app;"
        "print([m for m in ('anthropic', 'mcp', 'rich.markdown', 'pygments', 'PIL', 'typer') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_each_sign_of_the_context_grid_has_a_colour_of_its_own() -> None:
    drawn = {}
    for name in ("dark", "none"):
        ((_, renderable),) = whole("```grid\n█ ▓ ·\n```\n", theme(name))
        drawn[name] = Pen(theme(name), CAPABILITIES).ansi(renderable, 80)
    assert strip_ansi(drawn["dark"]) == strip_ansi(drawn["none"]) == "█ ▓ ·\n"
    colours = dict(reversed(pair) for pair in re.findall(r"\x1b\[(\d+)m([█▓])", drawn["dark"]))
    assert colours["█"] != colours["▓"]
    assert not re.search(r"\x1b\[\d+m[█▓]", drawn["none"])


def test_a_line_of_output_without_an_end_fills_no_screen() -> None:
    painter = CallPainter(UNICODE, Texts("en"))
    display = CommandDisplay("x", "y" * 100_000 + "\nlast")
    event = ToolFinished(tool_use_id="t", name="Bash", title="x", display=display, is_error=False, duration=0.0)
    lines = [text.plain.strip() for text in painter.finished(event)]
    assert lines[1:] == ["y" * 400 + "…", "last"]
