"""A text file as Read, Edit and Write see it: bytes, state on disk, text, format."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from agentcli.errors import ToolError
from agentcli.files import Decoded, Stamp, TextFormat, decode, decode_as, encode, looks_binary, read_stamped
from agentcli.files.seen import digest
from agentcli.ports.tools import SeenFile
from agentcli.text import clean
from agentcli.tools.differences import name_of

MAX_BYTES = 100 * 1024 * 1024
_SAMPLE = 128 * 1024
_FIRST = ("cp1252", "gb18030", "big5", "cp932", "euc_jp", "euc_kr")
_SECOND = ("cp1251", "koi8_r", "cp1253")
_THIRD = ("cp1250", "cp1254", "cp1255", "cp1256", "iso2022_jp")
"""Each asked only where none before fits: single-byte encodings fit almost any bytes."""


@dataclass(frozen=True, slots=True)
class TextFile:
    real: Path
    data: bytes
    stamp: Stamp
    text: str
    """As in the file, without byte order mark; may hold ``surrogateescape`` characters where ``format.broken``."""
    format: TextFormat

    def plain(self) -> str:
        """The text as the model sees it: every line ends with ``\\n``."""
        if self.format.newline == "\r":
            return self.text.replace("\r", "\n")
        return self.text.replace("\r\n", "\n")


def read_bytes(real: Path, name: str) -> tuple[bytes, Stamp]:
    """``ToolError`` where it is too big or can't be read."""
    try:
        size = real.stat().st_size
        if size > MAX_BYTES:
            raise ToolError(
                f"{name} has {size:,} bytes, more than this tool opens ({MAX_BYTES:,}). Look for what you need with "
                "Grep, or take a part with Bash (head, tail, sed -n)."
            )
        return read_stamped(real)
    except OSError as error:
        raise ToolError(f"{name} can't be read: {error.strerror}.") from error


def read_text(real: Path, name: str, seen: SeenFile | None = None) -> TextFile:
    """``ToolError`` where it is binary, too big or can't be read."""
    data, stamp = read_bytes(real, name)
    return as_text(real, name, data, stamp, seen)


def as_text(real: Path, name: str, data: bytes, stamp: Stamp, seen: SeenFile | None = None) -> TextFile:
    """``seen``: what was read or written here before.  As long as the file is still that, its encoding is not guessed
    anew: of few characters the guess may be another."""
    if looks_binary(data):
        raise ToolError(
            f"{name} is a binary file of {len(data):,} bytes (it holds NUL bytes), not text. Use Bash with a tool that "
            "understands it (file, xxd, strings)."
        )
    found = _as_before(data, seen) or decode_any(data)
    return TextFile(real, data, stamp, found.text, found.format)


def _as_before(data: bytes, seen: SeenFile | None) -> Decoded | None:
    if seen is None or not seen.encoding or seen.digest != digest(data):
        return None
    open_to_guess = data.isascii() or decode(data) is None
    return decode_as(data, seen.encoding) if data and open_to_guess else None


def decode_any(data: bytes) -> Decoded:
    """By byte order mark, as UTF-8, else by a guess that gives the same bytes back.

    Latin-1 is the last resort: it fits any bytes, so that an edit in plain characters leaves all others alone.
    """
    found = decode(data)
    if found is None:
        guess = _guess(data)
        found = decode_as(data, guess) if guess else None
    return found or decode_as(data, "cp1252") or _latin1(data)


def _latin1(data: bytes) -> Decoded:
    found = decode_as(data, "latin-1")
    if found is None:
        raise ToolError("The file is in an encoding that is not understood. Convert it to UTF-8 with Bash first.")
    return found


def _guess(data: bytes) -> str | None:
    from charset_normalizer import from_bytes

    sample = data[:_SAMPLE]
    if len(data) > _SAMPLE:
        sample = sample[: sample.rfind(b"\n") + 1] or sample
    for candidates in (_FIRST, _SECOND, _THIRD):
        best = from_bytes(sample, cp_isolation=list(candidates)).best()
        if best:
            return best.encoding
    return None


def encode_or_explain(text: str, form: TextFormat, name: str) -> bytes:
    """``ToolError`` naming the character that the file's encoding lacks."""
    try:
        return encode(text, form)
    except UnicodeEncodeError as error:
        lacking = name_of(text[error.start])
        raise ToolError(
            f"{name} is in {form.encoding.upper()}, which has no {lacking}. Use other characters, or convert the file "
            "to UTF-8 with Bash (iconv) first. Nothing was written."
        ) from error


def whole_characters(text: str, parameter: str) -> str:
    """Model's text as valid Unicode: split pairs joined.  ``ToolError`` for half a pair: we don't write guesses."""
    joined = clean(text)
    if joined.count("\ufffd") > text.count("\ufffd"):
        place = next(i for i, c in enumerate(text) if "\ud800" <= c <= "\udfff")
        raise ToolError(
            f"{parameter} holds half of a character (a lone surrogate, U+{ord(text[place]):04X}) near position "
            f"{place}. Send the whole character. Nothing was written."
        )
    return joined
