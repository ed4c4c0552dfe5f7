"""Whole lines, in order, never too long; a reader who leaves, a reader who is slow."""

from __future__ import annotations

import asyncio
import json
import os
from typing import Any

import pytest

from agentcli.ui.headless.writer import LONGEST_LINE, Output, encode_line

MIB = 1024 * 1024


def decoded(line: dict[str, Any]) -> Any:
    data = encode_line(line)
    assert len(data) <= MIB
    assert data.endswith(b"\n")
    assert data.count(b"\n") == 1
    return json.loads(data)


def test_what_fits_is_left_alone() -> None:
    line = {"type": "user", "text": "line one\nline two\u2028é🦊", "structured_output": [1, None, {"a": 0.5}]}
    assert decoded(line) == line


def test_halves_of_characters_become_valid() -> None:
    assert decoded({"text": "a\ud800b"}) == {"text": "a\ufffdb"}


@pytest.mark.parametrize("letter", ["a", "é", "🦊", "\n", "\x00"])
def test_a_long_text_is_cut_and_says_so(letter: str) -> None:
    cut = decoded({"result": letter * 3_000_000, "uuid": "u"})
    words = cut["result"].lstrip(letter)
    assert cut["uuid"] == "u"
    assert words.startswith("… [")
    dropped = int(words.split()[1].removeprefix("[").replace(",", ""))
    assert dropped + len(cut["result"]) - len(words) == 3_000_000
    assert len(encode_line({"result": letter * 3_000_000})) > LONGEST_LINE - 1000


def test_the_longest_texts_are_cut_first() -> None:
    blocks = [{"type": "text", "text": letter * size} for letter, size in (("a", 900_000), ("b", 1000), ("c", 700_000))]
    cut = decoded({"message": {"content": blocks}})["message"]["content"]
    assert cut[1]["text"] == "b" * 1000
    assert cut[2]["text"] == "c" * 700_000
    assert "left out" in cut[0]["text"]


def test_half_an_image_is_none() -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "A" * 2_000_000}}
    source = decoded({"content": [image]})["content"][0]["source"]
    assert (source["type"], source["media_type"]) == ("text", "text/plain")
    assert "2,000,000" in source["data"]


def test_data_is_never_cut() -> None:
    value = {"structured_output": {"text": "a" * 500_000}, "result": "b" * 900_000}
    cut = decoded(value)
    assert cut["structured_output"] == value["structured_output"]
    assert "left out" in cut["result"]


async def test_a_reader_who_leaves() -> None:
    read, write = os.pipe()
    told: list[str] = []
    output = Output(write, on_gone=lambda: told.append("gone"))
    os.close(read)
    output.line({"a": 1})
    output.line({"b": 2})
    await output.close()
    assert (output.gone, told) == (True, ["gone"])
    os.close(write)


async def test_a_slow_reader_holds_up_nobody() -> None:
    """The loop goes on while more is waiting than a pipe takes; nothing is lost or mixed."""
    read, write = os.pipe()
    os.set_blocking(write, False)
    output = Output(write)
    for number in range(50):
        output.line({"number": number, "text": "x" * 20_000})
    await asyncio.sleep(0)
    reading = asyncio.to_thread(_read, read, 50)
    lines, _ = await asyncio.gather(reading, output.close())
    assert [json.loads(x)["number"] for x in lines] == list(range(50))
    os.close(read)
    os.close(write)


def _read(descriptor: int, count: int) -> list[bytes]:
    data = b""
    while data.count(b"\n") < count:
        data += os.read(descriptor, 65_536)
    return data.splitlines()
