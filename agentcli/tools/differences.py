"""Why two texts that look alike are not the same: tabs, blanks, quotes, invisible characters, ways to write é."""

from __future__ import annotations

import unicodedata

_QUOTES = str.maketrans(
    {
        **dict.fromkeys("‘’‚‛′´", "'"),
        **dict.fromkeys("“”„‟″«»", '"'),
        **dict.fromkeys("‐‑‒–—−", "-"),
        "…": "...",
    }
)
_INVISIBLE = frozenset("\ufeff\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\u2066\u2067\u2068\u2069")
_UNSEEN = str.maketrans(dict.fromkeys(_INVISIBLE, ""))


def fold(text: str) -> str:
    """The text as it looks: plain quotes, dashes and blanks, composed letters, nothing invisible, blanks squeezed."""
    if text.isascii():
        return " ".join(text.split())
    visible = text.translate(_UNSEEN)
    plain = unicodedata.normalize("NFC", visible).translate(_QUOTES)
    return " ".join(plain.split())


def fold_with_origins(text: str) -> tuple[str, list[int]]:
    """``fold`` and, for each of its characters and for its end, where that begins in the text."""
    folded: list[str] = []
    origins: list[int] = []
    end = i = 0
    while i < len(text):
        start = i
        i += 1
        blank = text[start].isspace()
        while not blank and i < len(text) and (unicodedata.combining(text[i]) or text[i] in _INVISIBLE):
            i += 1
        plain = " " if blank else fold(text[start:i])
        if plain == " " and (not folded or folded[-1] == " "):
            continue
        if plain:
            folded.extend(plain)
            origins.extend([start] * len(plain))
            end = i if plain != " " else end
    if folded and folded[-1] == " ":
        folded.pop()
        origins.pop()
    return "".join(folded), [*origins, end]


def unusual(text: str) -> str:
    """The unusual characters of a name in words; empty if there are none."""
    odd = [c for c in text if (c.isspace() and c != " ") or c in _INVISIBLE or unicodedata.combining(c)]
    return ", ".join(dict.fromkeys(name_of(c) for c in odd))


def name_of(character: str) -> str:
    """``a tab``, ``a space``, ``'x'``, ``U+2019 right single quotation mark``."""
    if not character:
        return "nothing"
    plain = {"\t": "a tab", " ": "a space", "\r": "a carriage return", "\n": "a line break"}
    if character in plain:
        return plain[character]
    if "\udc80" <= character <= "\udcff":
        return f"the byte {ord(character) - 0xDC00:#04x}, which is not valid UTF-8"
    if character.isascii() and character.isprintable():
        return f"{character!r}"
    return f"U+{ord(character):04X} {unicodedata.name(character, 'unnamed').lower()}"


def explain(there: str, given: str, *, start: int = 0) -> str:
    """How what is in the file differs from what was given, in one clause; empty if they are the same.

    ``start`` is the column (from 0) at which ``there`` begins in its line.
    """
    if there == given:
        return ""
    if there.rstrip() == given.rstrip():
        return f"at the end the file has {_blanks(_tail(there))}, old_string has {_blanks(_tail(given))}"
    if there.lstrip() == given.lstrip():
        return f"the file is indented with {_blanks(_head(there))}, old_string with {_blanks(_head(given))}"
    if unicodedata.normalize("NFC", there) == unicodedata.normalize("NFC", given):
        composed = unicodedata.normalize("NFC", there) == there
        kinds = ("composed", "decomposed") if composed else ("decomposed", "composed")
        place = _first_difference(there, given)
        return (
            f"accented letters differ in their Unicode form at column {start + place + 1}: the file has them "
            f"{kinds[0]}, old_string {kinds[1]}"
        )
    place = _first_difference(there, given)
    return f"at column {start + place + 1} the file has {name_of(there[place : place + 1])}, old_string has " + name_of(
        given[place : place + 1]
    )


def _first_difference(a: str, b: str) -> int:
    return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


def _tail(text: str) -> str:
    return text[len(text.rstrip()) :]


def _head(text: str) -> str:
    return text[: len(text) - len(text.lstrip())]


def _blanks(text: str) -> str:
    """``2 tabs and 1 space``."""
    if not text:
        return "no blanks"
    parts: list[str] = []
    for character in dict.fromkeys(text):
        count = text.count(character)
        noun = name_of(character).removeprefix("a ")
        parts.append(f"{count} {noun}{'s' if count > 1 else ''}")
    return " and ".join(parts)
