"""Finds deferred tools by what they are called and what they say of themselves."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from agentcli.ports.model import ToolSpec

SELECT = "select:"
_WORD = re.compile(r"[a-z0-9]+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def find(specs: Iterable[ToolSpec], query: str, limit: int) -> list[ToolSpec]:
    """``select:NAME,NAME`` by exact names, in that order; else the best ``limit`` by keywords (``+word`` must be in).

    A query that is itself a tool's name finds that tool; a server's name finds its tools.
    """
    known = {s.name: s for s in specs}
    text = query.strip()
    if text.lower().startswith(SELECT):
        names = [n.strip() for n in text[len(SELECT) :].split(",")]
        return [known[n] for n in dict.fromkeys(names) if n in known]
    if text in known:
        return [known[text]]
    wanted, must = _query(text)
    scored = [(score, s.name) for s in known.values() if (score := _score(s, wanted, must)) > 0]
    scored.sort(key=lambda pair: (-pair[0], pair[1]))
    return [known[name] for _, name in scored[:limit]]


def _query(text: str) -> tuple[list[str], list[str]]:
    must = [w for word in text.split() if word.startswith("+") for w in _words(word)]
    return list(dict.fromkeys(_words(text))), must


def _words(text: str) -> list[str]:
    return _WORD.findall(_HUMP.sub(" ", text).lower())


def _score(spec: ToolSpec, wanted: Sequence[str], must: Sequence[str]) -> float:
    name = _words(spec.name.removeprefix("mcp__"))
    about = _words(spec.description)
    fields = [w for p in spec.input_schema.get("properties", {}) for w in _words(str(p))]
    if any(not _in(w, name) and not _in(w, about) for w in must):
        return 0
    return sum(_weight(w, name, about, fields) for w in wanted)


def _weight(word: str, name: Sequence[str], about: Sequence[str], fields: Sequence[str]) -> float:
    if word in name:
        return 5
    if _in(word, name):
        return 3
    if word in about:
        return 2
    if len(word) > 2 and _in(word, about):
        return 1
    return 0.5 if word in fields else 0


def _in(word: str, words: Sequence[str]) -> bool:
    """Whether the word, or a longer or shorter form of it, is among them."""
    return any(w.startswith(word) or (len(w) > 3 and word.startswith(w)) for w in words)
