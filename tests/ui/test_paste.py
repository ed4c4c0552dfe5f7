"""A long paste is a chip on the screen and its content everywhere else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentcli.i18n import Texts
from agentcli.messages import ImageBlock
from agentcli.ui.terminal.actions import image_path
from agentcli.ui.terminal.input.chips import FIRST, Chips
from tests.ui.scripted import ScriptedSession
from tests.ui.theatre import theatre

ROWS = "\n".join(f"row {n}" for n in range(500))
OTHER = "\n".join(f"other {n}" for n in range(12))
UP, BACKSPACE, HOME = "\x1b[A", "\x7f", "\x01"


async def test_a_long_paste_is_sent_whole() -> None:
    session = ScriptedSession()
    async with theatre(session) as show:
        show.paste(ROWS.replace("\n", "\r\n"))
        await show.see("[Pasted text #1, 500 lines]")
        show.keys(" summarise\r")
        await show.until(lambda: session.received)
        await show.see("echo")
    assert session.received[0].text == f"{ROWS} summarise"


async def test_two_pastes_keep_their_order_and_deleting_the_chip_deletes_its_content() -> None:
    session = ScriptedSession()
    async with theatre(session) as show:
        show.paste(ROWS)
        show.paste(OTHER)
        await show.see("[Pasted text #1, 500 lines][Pasted text #2, 12 lines]")
        show.keys(HOME + "first ")
        await show.see("first [Pasted")
        show.keys("\r")
        await show.until(lambda: len(session.received) == 1)
        show.paste(ROWS)
        show.paste(OTHER)
        await show.see("❯ [Pasted text #1, 500 lines][Pasted text #2, 12 lines]")
        show.keys(BACKSPACE + "end\r")
        await show.until(lambda: len(session.received) == 2)
    assert [p.text for p in session.received] == [f"first {ROWS}{OTHER}", f"{ROWS}end"]


@pytest.mark.parametrize("first", ["/help me with", "!touch made", "# note"])
async def test_a_long_paste_is_no_command_whatever_it_begins_with(first: str, project: Path) -> None:
    session = ScriptedSession()
    async with theatre(session) as show:
        show.paste(f"{first}\n{ROWS}")
        await show.see("[Pasted text #1, 501 lines]")
        show.keys("\r")
        await show.until(lambda: session.received)
    assert session.received[0].text == f"{first}\n{ROWS}"


async def test_the_caret_steps_over_a_chip() -> None:
    async with theatre(ScriptedSession()) as show:
        show.paste(ROWS)
        await show.until(lambda: show.caret_text == "❯ [Pasted text #1, 500 lines]")
        show.keys("\x1b[D")
        await show.until(lambda: show.caret_text == "❯ ")


async def test_a_short_paste_and_a_typed_look_alike_are_text() -> None:
    session = ScriptedSession()
    async with theatre(session) as show:
        show.paste("two\nlines")
        show.keys(" [Pasted text #1, 500 lines]\r")
        await show.until(lambda: session.received)
    assert session.received[0].text == "two\nlines [Pasted text #1, 500 lines]"


async def test_recall_sends_the_content_in_this_session_and_the_next(tmp_path: Path) -> None:
    history = tmp_path / "state" / "history.jsonl"
    session = ScriptedSession()
    async with theatre(session, history=history) as show:
        show.paste(ROWS)
        show.keys(" again\r")
        await show.see("row 499 again")
        await show.until(lambda: show.turns_ended)  # else the key takes back what is queued, or Enter finds it busy
        show.keys(UP)
        await show.see("❯ [Pasted text #1, 500 lines] again")
        show.keys("\r")
        await show.until(lambda: len(session.received) == 2)
    later = ScriptedSession()
    async with theatre(later, history=history) as show:
        show.keys(UP)
        await show.see("❯ [Pasted text #1, 500 lines] again")
        show.keys("!\r")
        await show.until(lambda: len(later.received) == 1)
    expected = f"{ROWS} again"
    assert [p.text for p in session.received] == [expected, expected]
    assert later.received[0].text == expected + "!"
    assert history.stat().st_mode & 0o777 == 0o600
    assert history.parent.stat().st_mode & 0o777 == 0o700
    assert [json.loads(line)["text"] for line in history.read_text().splitlines()] == [expected, expected + "!"]


async def test_a_command_takes_a_paste_as_its_argument() -> None:
    session = ScriptedSession()
    async with theatre(session) as show:
        show.keys("/compact ")
        show.paste(ROWS)
        await show.see("[Pasted text #1, 500 lines]")
        show.keys("\r")
        await show.until(lambda: session.focus)
    assert session.focus == [ROWS]


async def test_an_image_path_becomes_an_attachment(tmp_path: Path) -> None:
    from PIL import Image

    path = tmp_path / "a picture.png"
    Image.new("RGB", (4, 3), "red").save(path)
    session = ScriptedSession()
    async with theatre(session) as show:
        show.paste(str(path).replace(" ", "\\ "))
        await show.see("[Image #1]")
        show.keys(" what is this\r")
        await show.until(lambda: session.received)
    sent = session.received[0]
    assert sent.text == "[Image #1] what is this"
    assert [type(block) for block in sent.attachments] == [ImageBlock]


def test_only_a_lone_path_of_an_image_counts(tmp_path: Path) -> None:
    path = tmp_path / "x.PNG"
    path.write_bytes(b"")
    assert image_path(f"'{path}'") == path
    assert image_path(f"{path} and words") is None
    assert image_path("no/such.png") is None
    assert image_path("~nobody-at-all/x.png") is None
    assert image_path("\0.png") is None


def test_text_with_the_characters_of_chips_is_a_chip_itself() -> None:
    chips = Chips(Texts())
    odd = f"odd {chr(FIRST)} text"
    mark = chips.pasted(odd)
    assert mark != odd
    assert chips.expand(mark).text == odd


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.text(max_size=20), st.booleans()), max_size=6))
def test_expanding_and_restoring_are_inverse(parts: list[tuple[str, bool]]) -> None:
    chips = Chips(Texts())
    marked = "".join(chips.pasted("x" * 2_000 + text) if long else text for text, long in parts if text.isascii())
    expanded = chips.expand(marked)
    assert expanded.text == "".join("x" * 2_000 + t if long else t for t, long in parts if t.isascii())
    restored = chips.restore(expanded.text, expanded.spans)
    assert chips.expand(restored) == expanded
    assert chips.shown(restored) == chips.shown(marked).replace("#0", "#0")
