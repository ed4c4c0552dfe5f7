"""What an MCP server asks for: values as they are typed and chosen, checked; addresses that are opened."""

from __future__ import annotations

import asyncio
import math
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from typing import Any
from urllib.parse import urlsplit

from agentcli.errors import UserError
from agentcli.i18n import Texts
from agentcli.ports.elicitation import ElicitField

_INTEGER = re.compile(r"[+-]?[0-9]{1,300}")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")


def typed_value(field: ElicitField, typed: str, texts: Texts) -> str | int | float:
    """The value of a text or number field.  ``UserError`` says what is wrong with what was typed."""
    word = typed.strip()
    if not word:
        raise UserError(texts("elicit.needed"))
    if field.kind == "text":
        _limits(field, len(word), texts, "elicit.short", "elicit.long")
        if not _has_form(field.format, word):
            raise UserError(texts("elicit.format", value=word, format=field.format))
        return word
    value = _number(field, word, texts)
    _limits(field, value, texts, "elicit.least", "elicit.most")
    return value


def _number(field: ElicitField, word: str, texts: Texts) -> int | float:
    if _INTEGER.fullmatch(word):
        return int(word)
    if field.kind == "integer":
        raise UserError(texts("elicit.integer", value=word))
    if not _NUMBER.fullmatch(word) or math.isinf(float(word)):
        raise UserError(texts("elicit.number", value=word))
    return float(word)


def chosen_values(field: ElicitField, numbers: Sequence[int], texts: Texts) -> list[str]:
    """The values of the options at these places.  ``UserError`` for too few or too many."""
    _limits(field, len(numbers), texts, "elicit.few", "elicit.many")
    return [field.options[n][0] for n in numbers]


def _limits(field: ElicitField, size: float, texts: Texts, low: str, high: str) -> None:
    if field.least is not None and size < field.least:
        raise UserError(texts(low, limit=field.least))
    if field.most is not None and size > field.most:
        raise UserError(texts(high, limit=field.most))


def _has_form(name: str, word: str) -> bool:
    check = _FORMS.get(name)
    try:
        return check is None or bool(check(word))
    except ValueError:
        return False


_FORMS: Mapping[str, Callable[[str], object]] = {
    "email": lambda word: re.fullmatch(r"[^@\s]+@[^@\s]+", word),
    "uri": lambda word: urlsplit(word).scheme and not re.search(r"\s", word),
    "date": date.fromisoformat,
    "date-time": datetime.fromisoformat,
}
"""The formats of the protocol; any other is the server's to check."""


def is_web(url: str) -> bool:
    """Whether it is an address that a browser may be given."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname)


async def open_address(url: str, env: Mapping[str, str]) -> bool:
    """Gives the address to the browser.  False where there is none with a window of its own: one that draws in this
    terminal would draw over us."""
    import webbrowser

    if sys.platform == "linux" and not any(env.get(name) for name in _DISPLAYS):
        return False
    return await asyncio.to_thread(webbrowser.open, url)


def shown(field: ElicitField, value: Any) -> str:
    """A value in the words of the form."""
    labels = dict(field.options)
    if isinstance(value, list):
        return ", ".join(labels.get(str(v), str(v)) for v in value)
    return labels.get(str(value), str(value))
