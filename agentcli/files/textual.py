"""Bytes as text and back: encoding, byte order mark and line endings are properties of a file that stay."""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from typing import Literal

Newline = Literal["\n", "\r\n", "\r"]

_MARKS: tuple[tuple[bytes, str], ...] = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
"""The four-byte marks first: that of UTF-32 LE begins with that of UTF-16 LE."""


_WIDE = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)
"""Behind these, NUL bytes are ordinary."""


@dataclass(frozen=True, slots=True)
class TextFormat:
    """How a text stands in its file."""

    encoding: str = "utf-8"
    """A Python codec that writes no byte order mark of its own."""
    bom: bytes = b""
    newline: Newline = "\n"
    """The line ending that most lines have."""
    mixed: bool = False
    """Whether lines end in different ways."""
    broken: bool = False
    """UTF-8 with some bytes that are none: they are kept as they are (``surrogateescape``)."""

    def describe(self) -> str:
        """What is out of the ordinary, in words: ``UTF-8 with BOM, CRLF line endings``; empty for plain UTF-8."""
        parts = []
        if self.bom or self.encoding != "utf-8":
            parts.append(self.encoding.upper() + (" with BOM" if self.bom else ""))
        if self.broken:
            parts.append("some invalid UTF-8 bytes")
        if self.mixed:
            parts.append("mixed line endings")
        elif self.newline != "\n":
            parts.append("CRLF line endings" if self.newline == "\r\n" else "CR line endings")
        return ", ".join(parts)


@dataclass(frozen=True, slots=True)
class Decoded:
    text: str
    """Without the byte order mark, line endings as they stand in the file."""
    format: TextFormat


def looks_binary(data: bytes) -> bool:
    """Whether these are not the bytes of a text: there is a NUL, and no byte order mark that explains it (or one, with
    bytes behind it that are not what it says)."""
    return b"\0" in data and (not data.startswith(_WIDE) or decode(data) is None)


def decode(data: bytes) -> Decoded | None:
    """The text of the bytes, by byte order mark or as UTF-8.  ``None`` where it is in some other encoding.

    ``encode`` of the result gives the same bytes again.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return decode_as(data, encoding, bom=mark)
    found = decode_as(data, "utf-8")
    return found or _mostly_utf8(data)


def decode_as(data: bytes, encoding: str, *, bom: bytes = b"") -> Decoded | None:
    """The text in a given encoding; ``None`` if the bytes are not in it or would not come back the same."""
    body = data[len(bom) :]
    try:
        text = body.decode(encoding)
        if encoding != "utf-8" and text.encode(encoding) != body:
            return None
    except (UnicodeError, LookupError):
        return None
    newline, mixed = dominant_newline(text)
    return Decoded(text, TextFormat(encoding, bom, newline, mixed))


def _mostly_utf8(data: bytes) -> Decoded | None:
    """UTF-8 with few broken bytes, as a log has them; a text in another encoding has many and next to none that fit."""
    text = data.decode("utf-8", "surrogateescape")
    broken = sum("\udc80" <= c <= "\udcff" for c in text)
    sound = sum(c > "\x7f" for c in text) - broken
    if broken * 4 > sound:
        return None
    newline, mixed = dominant_newline(text)
    return Decoded(text, TextFormat("utf-8", newline=newline, mixed=mixed, broken=True))


def encode(text: str, form: TextFormat) -> bytes:
    """The bytes of a text in this format; line endings are taken as they stand.

    ``UnicodeEncodeError`` where the encoding lacks a character, and for a lone surrogate.
    """
    return form.bom + text.encode(form.encoding, "surrogateescape" if form.broken else "strict")


def dominant_newline(text: str) -> tuple[Newline, bool]:
    """The line ending that most lines have, and whether there is another kind too.

    A carriage return alone ends a line only in a text without line feeds (old Macintosh); elsewhere it is an ordinary
    character, as in the output of progress bars.
    """
    crlf = text.count("\r\n")
    lf = text.count("\n") - crlf
    if not crlf and not lf:
        return ("\r", False) if "\r" in text else ("\n", False)
    return ("\r\n" if crlf > lf else "\n"), bool(crlf and lf)


def to_newlines(text: str, newline: Newline) -> str:
    """The text with this line ending.  Where that is ``\\n`` nothing is changed: what was written stays literal."""
    if newline == "\n":
        return text
    return text.replace("\r\n", "\n").replace("\n", newline)
