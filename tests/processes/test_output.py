"""Collecting output: bounded memory, nothing invented, nothing lost that is said to be kept."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentcli.processes import Collector, Limits, Output, Page


def collector(limits: Limits, directory: Path) -> Collector:
    return Collector(limits, lambda: directory)


@settings(max_examples=60, deadline=None)
@given(
    chunks=st.lists(st.binary(min_size=1, max_size=40), max_size=30),
    memory=st.integers(2, 60),
    file=st.integers(0, 300),
    size=st.integers(1, 50),
)
def test_head_tail_file_and_pages_agree_with_what_was_fed(
    chunks: list[bytes], memory: int, file: int, size: int
) -> None:
    with tempfile.TemporaryDirectory() as name:
        kept = collector(Limits(memory=memory, file=file), Path(name))
        for chunk in chunks:
            kept.feed(chunk)
        whole = b"".join(chunks)
        output = kept.output()
        assert output.total == len(whole)
        assert whole.startswith(output.head)
        assert whole.endswith(output.tail)
        assert len(output.head) + len(output.tail) <= memory
        if len(whole) <= memory:
            assert (output.head, output.dropped, output.file) == (whole, 0, None)
        else:
            assert output.file is not None
            assert output.file.read_bytes() == whole[:file] == whole[: output.file_bytes]
        offset, seen = 0, 0
        while offset < len(whole):
            page = kept.read(offset, size)
            assert page.data == whole[page.next_offset - len(page.data) : page.next_offset]
            assert 0 < len(page.data) <= size
            seen += page.skipped + len(page.data)
            offset = page.next_offset
        assert seen == len(whole)
        assert kept.read(offset, size) == Page(b"", offset, 0)
        kept.discard()
        assert os.listdir(name) == []


def test_text_says_what_is_missing(tmp_path: Path) -> None:
    kept = collector(Limits(memory=8, file=100), tmp_path)
    kept.feed(b"abcd12345678wxyz")
    assert kept.output().text == "abcd\n[… 8 bytes left out …]\nwxyz"
    kept.close()


def test_where_no_file_can_be_written_head_and_tail_stay(tmp_path: Path) -> None:
    kept = collector(Limits(memory=8, file=100), tmp_path / "gone")
    kept.feed(b"abcd12345678wxyz")
    assert kept.output() == Output(b"abcd", b"wxyz", 16, None, 0, "No such file or directory")
    assert kept.read(4, 100) == Page(b"wxyz", 16, 8)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_told_and_survived(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    full = os.open("/dev/full", os.O_WRONLY)
    monkeypatch.setattr(tempfile, "mkstemp", lambda **_: (full, str(tmp_path / "x")))
    kept = collector(Limits(memory=8, file=100), tmp_path)
    kept.feed(b"abcd12345678")
    kept.feed(b"wxyz")
    output = kept.output()
    assert (output.head, output.tail, output.file_bytes) == (b"abcd", b"wxyz", 0)
    assert output.file_error == "No space left on device"


def test_closed_it_takes_nothing_more(tmp_path: Path) -> None:
    kept = collector(Limits(), tmp_path)
    kept.feed(b"one")
    kept.close()
    kept.feed(b"two")
    assert kept.output() == Output(b"one", b"", 3)
