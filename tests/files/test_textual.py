from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentcli.files import TextFormat, decode, decode_as, dominant_newline, encode, looks_binary, to_newlines


@pytest.mark.parametrize(
    ("data", "text", "form"),
    [
        (b"a\n", "a\n", TextFormat()),
        (b"", "", TextFormat()),
        (b"\xef\xbb\xbfa\r\n", "a\r\n", TextFormat(bom=b"\xef\xbb\xbf", newline="\r\n")),
        (b"\xff\xfeh\0i\0\n\0", "hi\n", TextFormat("utf-16-le", b"\xff\xfe")),
        (b"\xfe\xff\0h\0\n", "h\n", TextFormat("utf-16-be", b"\xfe\xff")),
        (b"\xff\xfe\0\0h\0\0\0", "h", TextFormat("utf-32-le", b"\xff\xfe\0\0")),
        (b"a\rb\r", "a\rb\r", TextFormat(newline="\r")),
        (b"a\r\nb\nc\n", "a\r\nb\nc\n", TextFormat(mixed=True)),
        (b"10%\r20%\n", "10%\r20%\n", TextFormat()),
    ],
)
def test_bytes_become_text_and_the_same_bytes_again(data: bytes, text: str, form: TextFormat) -> None:
    found = decode(data)
    assert found is not None
    assert (found.text, found.format) == (text, form)
    assert encode(found.text, found.format) == data


def test_few_broken_bytes_in_utf8_are_kept() -> None:
    data = "äöü grüße\n".encode() + b"broken \xff here\n"
    found = decode(data)
    assert found is not None
    assert found.format == TextFormat(broken=True)
    assert encode(found.text, found.format) == data


@pytest.mark.parametrize("data", [b"\xff\xfeh\0i", b"\xff\xfe\0\xd8\n\0", b"\0\0\xfe\xff\0\0\1"])
def test_bytes_that_are_not_what_their_mark_says_are_no_text(data: bytes) -> None:
    assert decode(data) is None
    assert looks_binary(data)


def test_another_encoding_is_not_guessed_here() -> None:
    assert decode("Größe über alles".encode("latin-1")) is None
    assert decode_as(b"\x81", "cp1252") is None


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=60) | st.text(max_size=30).map(lambda t: t.encode("utf-8", "replace")))
def test_whatever_is_decoded_comes_back_the_same(data: bytes) -> None:
    found = decode(data)
    assert found is None or encode(found.text, found.format) == data


def test_a_nul_makes_a_file_binary_unless_a_byte_order_mark_explains_it() -> None:
    assert looks_binary(b"\x7fELF\0")
    assert not looks_binary(b"\xff\xfea\0")
    assert not looks_binary(b"text")


def test_the_line_ending_of_most_lines_is_the_dominant_one() -> None:
    assert dominant_newline("a\r\nb\r\nc\n") == ("\r\n", True)
    assert dominant_newline("abc") == ("\n", False)
    assert to_newlines("a\nb\r\n", "\r\n") == "a\r\nb\r\n"
    assert to_newlines("a\r\nb\n", "\n") == "a\r\nb\n"


def test_a_format_is_described_when_it_is_unusual() -> None:
    assert TextFormat().describe() == ""
    assert TextFormat(bom=b"\xef\xbb\xbf", newline="\r\n").describe() == "UTF-8 with BOM, CRLF line endings"
    assert TextFormat("cp1252", mixed=True).describe() == "CP1252, mixed line endings"
    assert TextFormat(broken=True).describe() == "some invalid UTF-8 bytes"
