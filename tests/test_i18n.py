"""The catalogues: complete, with the same placeholders, and every key in use."""

from __future__ import annotations

import importlib
import pkgutil
import re
from pathlib import Path
from string import Formatter

import pytest

from agentcli.i18n import LANGUAGES, Texts, choose_language
from agentcli.i18n.english import TEXTS as ENGLISH

ROOT = Path(__file__).resolve().parent.parent / "agentcli"
BUILT = (
    "command.",
    "mode.",
    "brought.",
    "theme.",
    "destination.",
    "outcome.",
    "job.",
    "help.key.",
    "kind.",
    "column.",
    "window.",
    "mcp.state.",
    "memory.when.",
    "memory.what.",
)
"""Prefixes of keys that are put together in code."""


def placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_a_language_has_every_text_with_the_same_placeholders(language: str) -> None:
    table = importlib.import_module(LANGUAGES[language]).TEXTS
    assert sorted(table) == sorted(ENGLISH)
    assert {k: placeholders(v) for k, v in table.items()} == {k: placeholders(v) for k, v in ENGLISH.items()}
    assert all(table.values())


def test_every_key_is_used_and_every_used_key_exists() -> None:
    code = "\n".join(
        p.read_text()
        for folder in ("ui", "commands", "cli", "model", "runtime", "modes", "memory")
        for p in (ROOT / folder).rglob("*.py")
    )
    mentioned = set(re.findall(r"""["'](\w+(?:[.-][\w-]+)+)["']""", code))
    unused = [key for key in ENGLISH if key not in mentioned and f'"{key}"' not in code and not key.startswith(BUILT)]
    assert unused == []
    used = set(re.findall(r"""\b(?:texts|_texts|t)\(\s*["']([\w.-]+)["']""", code))
    assert used - set(ENGLISH) == set()


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_no_text_stands_in_two_areas(language: str) -> None:
    package = importlib.import_module(LANGUAGES[language])
    areas = [importlib.import_module(f"{package.__name__}.{m.name}") for m in pkgutil.iter_modules(package.__path__)]
    assert sum(len(area.TEXTS) for area in areas) == len(package.TEXTS)


def test_one_of_something_has_its_own_form_where_the_language_has_one() -> None:
    assert [Texts().count("count.request", n) for n in (1, 2_000)] == ["1 request", "2,000 requests"]
    assert [Texts("ko").count("count.request", n) for n in (1, 2_000)] == ["요청 1건", "요청 2,000건"]


def test_a_language_without_a_text_falls_back_to_english(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = Texts("ko")
    monkeypatch.setattr(texts, "_table", {})
    assert texts("dialog.yes") == ENGLISH["dialog.yes"]
    with pytest.raises(KeyError):
        texts("no.such.key")


@pytest.mark.parametrize(
    ("given", "env", "expected"),
    [
        (None, {}, "en"),
        ("ko", {"LANG": "de_DE.UTF-8"}, "ko"),
        (None, {"LANG": "ko_KR.UTF-8"}, "ko"),
        (None, {"LC_ALL": "C.UTF-8", "LANG": "ko_KR.UTF-8"}, "en"),
        (None, {"LC_MESSAGES": "ko", "LANG": "en_US"}, "ko"),
        ("xx", {"LANG": "ko_KR"}, "en"),
    ],
)
def test_the_language_is_chosen_by_request_then_by_locale(
    given: str | None, env: dict[str, str], expected: str
) -> None:
    assert choose_language(given, env) == expected
