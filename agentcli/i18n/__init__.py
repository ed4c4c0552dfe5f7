"""Texts of the interface in the user's language.

One package per language joins the tables of its areas in one flat ``TEXTS``; English is complete by definition, and
every key that a table lacks falls back to it.  To add a language: copy ``english/``, translate, add a line to
``LANGUAGES``.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping

from agentcli.i18n.english import TEXTS as ENGLISH

LANGUAGES: Mapping[str, str] = {"en": "agentcli.i18n.english", "ko": "agentcli.i18n.korean"}
"""Language code to the package of its table."""


class Texts:
    """The texts of one language.  ``texts("key", name=value)`` fills in the named values.

    ``KeyError`` for a key that English does not have: that is a bug of the caller.
    """

    def __init__(self, language: str = "en") -> None:
        self.language = language if language in LANGUAGES else "en"
        self._table: Mapping[str, str] = ENGLISH
        if self.language != "en":
            self._table = importlib.import_module(LANGUAGES[self.language]).TEXTS

    def __call__(self, key: str, **values: object) -> str:
        text = self._table.get(key) or ENGLISH[key]
        return text.format(**values) if values else text

    def count(self, key: str, count: int) -> str:
        """So many of something: a text with ``{count}``.  Where one is said otherwise, its form stands in front of a
        ``|``."""
        one, _, many = self(key).rpartition("|")
        return (one if one and count == 1 else many).format(count=f"{count:,}")

    def optional(self, key: str, default: str) -> str:
        """The text, or ``default`` where no table has the key (descriptions of commands that others add)."""
        return self._table.get(key) or ENGLISH.get(key) or default


IN_ENGLISH = Texts()
"""For what speaks to programs and logs."""


def choose_language(given: str | None, env: Mapping[str, str]) -> str:
    """The language code: what was asked for, else what ``LC_ALL``, ``LC_MESSAGES`` and ``LANG`` say, else English."""
    for value in (given, env.get("LC_ALL"), env.get("LC_MESSAGES"), env.get("LANG")):
        if not value:
            continue
        code = value.replace("-", "_").split("_")[0].split(".")[0].lower()
        return code if code in LANGUAGES else "en"
    return "en"
