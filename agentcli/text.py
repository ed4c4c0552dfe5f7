"""Text on its way between people, files and the API: valid Unicode, honest cuts."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

_SURROGATES = re.compile("[\ud800-\udfff]")
_JOINERS = frozenset("\u200c\u200d") | {chr(c) for c in range(0xE0020, 0xE0080)}
"""Invisible characters that bind their neighbours to one: joiners, and the letters of flags by tags."""
_EXTENDS = re.compile("[\ufe00-\ufe0f\u1160-\u11ff\U0001f3fb-\U0001f3ff]")
_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_]|[()][A-Za-z0-9])")


def clean(text: str) -> str:
    """The text as valid Unicode: halves of one pair are joined, lone surrogates become U+FFFD.

    The border function: everything that comes from a terminal, a file name, a stream or a server passes it before it
    is stored or sent.  On valid text it returns the same object.
    """
    if not _SURROGATES.search(text):
        return text
    joined = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return _SURROGATES.sub("\ufffd", joined)


def clean_json(value: object) -> object:
    """``clean`` for every string (keys too) of a JSON value."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {clean_json(k): clean_json(v) for k, v in value.items()}
    if isinstance(value, list):
        return [clean_json(v) for v in value]
    return value


def strip_ansi(text: str) -> str:
    """Without terminal control sequences."""
    return _ANSI.sub("", text)


_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")


def plain(text: str) -> str:
    """``clean`` text without control sequences and control characters (line ends and tabs stay): what others wrote,
    for a model and for a terminal.  On plain text it returns the same object."""
    text = clean(text)
    return _CONTROLS.sub("", strip_ansi(text)) if _CONTROLS.search(text) else text


def collapse_progress(text: str) -> str:
    """What a terminal would show at the end: of a line that was overwritten with carriage returns only the last state
    stays.  Line ends ``\\r\\n`` become ``\\n``."""
    lines = text.replace("\r\n", "\n").split("\n")
    return "\n".join(_last_state(line) for line in lines)


def _last_state(line: str) -> str:
    if "\r" not in line:
        return line
    shown = ""
    for state in line.split("\r"):
        shown = state + shown[len(state) :]
    return shown


@dataclass(frozen=True, slots=True)
class Cut:
    """A text that was shortened to head and tail.  ``dropped`` characters are missing between them (0: whole)."""

    head: str
    tail: str
    dropped: int


def head_tail(text: str, limit: int) -> Cut:
    """At most ``limit`` characters: two thirds from the start, one third from the end, cut at line ends if near."""
    if len(text) <= limit:
        return Cut(text, "", 0)
    head_size = limit * 2 // 3
    head = text[:head_size]
    newline = head.rfind("\n")
    if newline > head_size * 3 // 4:
        head = head[: newline + 1]
    tail = text[len(text) - (limit - head_size) :]
    newline = tail.find("\n")
    if 0 <= newline < len(tail) // 4:
        tail = tail[newline + 1 :]
    return Cut(head, tail, len(text) - len(head) - len(tail))


def one_line(text: str, width: int = 120) -> str:
    """The text on one line, control characters out, cut with an ellipsis, never inside of what is one character to a
    reader."""
    flat = " ".join("".join(c if c.isprintable() or c in _JOINERS else " " for c in text).split())
    return flat if len(flat) <= width else flat[: cluster_start(flat, width - 1)] + "…"


def cluster_start(text: str, at: int) -> int:
    """The nearest index at or before ``at`` where a user-perceived character begins: not inside an emoji sequence, a
    flag, a letter with its marks, a Hangul syllable of letters (after UAX #29, as far as these go)."""
    while 0 < at < len(text) and not _begins(text, at):
        at -= 1
    return at


def _begins(text: str, at: int) -> bool:
    character, before = text[at], text[at - 1]
    if before == "\u200d" or character in _JOINERS or _EXTENDS.match(character):
        return False
    if unicodedata.category(character) in {"Mn", "Me", "Mc"}:
        return False
    if _is_regional(character):
        run = at
        while run > 0 and _is_regional(text[run - 1]):
            run -= 1
        return (at - run) % 2 == 0
    return True


def _is_regional(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def plural(count: int, noun: str, many: str = "") -> str:
    """``1 file``, ``3 files``."""
    return f"{count:,} {noun if count == 1 else many or noun + 's'}"


def estimate_tokens(text: str) -> int:
    """Offline estimate of the API's count for English, code and mixed text: about 3.5 bytes a token.

    Always shown as an estimate; ``ModelClient.count`` is exact where a server answers.
    """
    return -(-len(text.encode("utf-8", "replace")) * 2 // 7)


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`` (did you mean Read?)`` where a known word is near, whatever its case; else nothing."""
    from difflib import get_close_matches

    folded = {name.casefold(): name for name in sorted(known)}
    close = get_close_matches(word.casefold(), folded, n=1, cutoff=0.6)
    return f" (did you mean {folded[close[0]]}?)" if close else ""
