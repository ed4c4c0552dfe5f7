"""Whatever the file holds and however it is encoded: an edit changes what it names and nothing else."""

from __future__ import annotations

import asyncio
import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from agentcli.files import TextFormat, decode, encode
from agentcli.tools.replacing import apart, find, replace
from tests.tools.bench import Bench

ENDS = ("\n", "\r\n")
LINE = st.text(st.sampled_from("ab \t$\\&{}%é→\u00a0'\"🙂\r"), max_size=8).filter(lambda t: not t.endswith("\r"))
MARKS = {"utf-8": b"", "utf-8-bom": b"\xef\xbb\xbf", "utf-16-le": b"\xff\xfe", "utf-16-be": b"\xfe\xff"}


@st.composite
def texts(draw: st.DrawFn) -> str:
    """Lines with one kind of ending, or mixed ones, perhaps without the last."""
    lines = draw(st.lists(LINE, min_size=1, max_size=8))
    only = draw(st.sampled_from([*ENDS, None]))
    ends = [only or draw(st.sampled_from(ENDS)) for _ in lines]
    if draw(st.booleans()):
        ends[-1] = ""
    return "".join(line + end for line, end in zip(lines, ends, strict=True))


def in_bytes(text: str, kind: str) -> bytes:
    return MARKS[kind] + text.encode(kind.removesuffix("-bom"))


@settings(max_examples=60, deadline=None)
@given(text=texts(), kind=st.sampled_from(sorted(MARKS)), data=st.data())
def test_untouched_bytes_stay_and_the_replacement_is_literal(text: str, kind: str, data: st.DataObject) -> None:
    """The wanted text is cut from what the model sees; the replacement is a single line of anything."""
    plain = text.replace("\r\n", "\n")
    assume(plain)
    start = data.draw(st.integers(0, len(plain) - 1))
    wanted = plain[start : data.draw(st.integers(start + 1, len(plain)))]
    assume(plain.find(wanted) == plain.rfind(wanted) and "\r" not in wanted)
    new = data.draw(st.text(st.sampled_from("ab$\\&1{}é🙂'\"% "), max_size=8))
    assume(new != wanted)
    after = edited(in_bytes(text, kind), wanted, new)
    raw_start = raw_place(text, start)
    raw_end = raw_place(text, start + len(wanted))
    assert after == in_bytes(text[:raw_start] + new + text[raw_end:], kind)


def raw_place(text: str, place: int) -> int:
    """The place in the text as it is for one in the text with line feeds only."""
    raw = 0
    for _ in range(place):
        raw += 2 if text[raw : raw + 2] == "\r\n" else 1
    return raw


def edited(before: bytes, old: str, new: str) -> bytes:
    """The file's bytes after Read and Edit; nothing else is in the directory, and mode bits are the same."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder).resolve() / "f"
        path.write_bytes(before)
        path.chmod(0o640)
        bench = Bench(path.parent)

        async def run() -> None:
            await bench.read("f")
            await bench.edit("f", old, new)

        asyncio.run(run())
        assert os.listdir(folder) == ["f"]
        assert path.stat().st_mode & 0o7777 == 0o640
        return path.read_bytes()


@settings(max_examples=150, deadline=None)
@given(text=texts(), new=texts(), data=st.data())
def test_every_place_is_replaced_and_what_is_between_stays(text: str, new: str, data: st.DataObject) -> None:
    found = decode(text.encode())
    assert found is not None
    plain = text.replace("\r\n", "\n")
    assume(plain and found.format.newline != "\r")
    start = data.draw(st.integers(0, len(plain) - 1))
    old = plain[start : start + data.draw(st.integers(1, 3))]
    assume("\r" not in old)
    places = find(text, found.format, old)
    assert {text[a:b].replace("\r\n", "\n") for a, b in places.spans} == {old}
    assert len(apart(places)) == plain.count(old)
    rest = replace(text, found.format, places, new)
    place = 0
    for begin, end in apart(places):
        assert rest.startswith(text[place:begin])
        rest = rest[begin - place :]
        length = raw_place(rest, len(new.replace("\r\n", "\n")))
        assert rest[:length].replace("\r\n", "\n") == new.replace("\r\n", "\n")
        rest, place = rest[length:], end
    assert rest == text[place:]


@settings(max_examples=100, deadline=None)
@given(texts(), st.sampled_from(["utf-8", "utf-16-le", "utf-16-be", "utf-32-le"]))
def test_a_format_gives_the_same_bytes_back(text: str, encoding: str) -> None:
    mark = "\ufeff".encode(encoding)
    found = decode(mark + text.encode(encoding))
    assert found is not None
    assert encode(found.text, found.format) == mark + text.encode(encoding)


@pytest.mark.parametrize("form", [TextFormat(mixed=True), TextFormat(newline="\r\n", mixed=True)])
def test_in_a_mixed_file_repeated_lines_keep_their_ends(form: TextFormat) -> None:
    text = "a\r\nb\nc\r\nd\n"
    places = find(text, form, "a\nb\nc\nd\n")
    assert replace(text, form, places, "a\nb\nx\nc\nd\n").replace("x\r\n", "").replace("x\n", "") == text


@pytest.mark.parametrize("form", [TextFormat(mixed=True), TextFormat(newline="\r\n", mixed=True)])
@pytest.mark.parametrize("text", ["a\r\nb\nc\r\nd\n", "a\nb\r\nc\r\nd", "a\r\nb\nc\nd\r\n"])
def test_in_a_mixed_file_changed_lines_keep_the_ends_of_their_places(form: TextFormat, text: str) -> None:
    places = find(text, form, text.replace("\r\n", "\n"))
    new = text.replace("\r\n", "\n").upper()
    assert replace(text, form, places, new) == text.upper()
    one = find(text, form, "b\nc")
    assert replace(text, form, one, "x\ny") == text.replace("b", "x").replace("c", "y")
