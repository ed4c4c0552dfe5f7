"""What an answer with searches of the API's own web search says: its text, its sources, its failures.

Titles and texts come from the web: they are made one line and bounded.  Shapes and error codes are those of the API's
web search tool page.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from agentcli.messages import Block, Json, OpaqueBlock, TextBlock
from agentcli.text import clean, one_line, plural

MOST_SOURCES = 40
LONGEST_TITLE = 160
LONGEST_URL = 1_000
FAULTS: Mapping[str, str] = {
    "too_many_requests": "too many searches at this time (too_many_requests); wait a while before the next one",
    "max_uses_exceeded": "no more searches in one call (max_uses_exceeded); call again with a narrower query",
    "query_too_long": "the query is too long (query_too_long); use fewer words",
    "invalid_tool_input": "the search did not take the query (invalid_tool_input); put it another way",
    "request_too_large": "the results are too large (request_too_large); use a narrower query or domains",
    "unavailable": "the search service is not available now (unavailable); go on without it or try again later",
}


@dataclass(frozen=True, slots=True)
class Source:
    """``age`` is how old the page says that it is, in the search's words."""

    title: str
    url: str
    age: str = ""


@dataclass(slots=True)
class Results:
    """``calls`` counts searches, ``answered`` those that have a result; ``faults`` says what failed."""

    calls: int = 0
    answered: int = 0
    text: str = ""
    faults: list[str] = field(default_factory=list)
    _sources: dict[str, Source] = field(default_factory=dict)

    @property
    def sources(self) -> tuple[Source, ...]:
        """Each once, in the order of the results."""
        return tuple(self._sources.values())

    @property
    def listing(self) -> str:
        """The sources by number; those that the text names are always among them."""
        lines = [
            f"{n}. {s.title}: {s.url}{f' ({s.age})' if s.age else ''}"
            for n, s in enumerate(self.sources, 1)
            if n <= MOST_SOURCES or f"[{n}]" in self.text
        ]
        left = len(self._sources) - len(lines)
        more = [f"[{plural(left, 'more source')} left out]"] if left else []
        return "\n".join(["Sources:", *lines, *more])

    def number(self, url: str) -> int | None:
        return next((n for n, known in enumerate(self._sources, 1) if known == url), None)

    def add(self, raw: Json) -> None:
        url = clean(str(raw.get("url") or "")).strip()
        if not url.startswith(("http://", "https://")) or len(url) > LONGEST_URL or any(c.isspace() for c in url):
            return
        title = one_line(clean(str(raw.get("title") or "")), LONGEST_TITLE) or "(no title)"
        age = one_line(clean(str(raw.get("page_age") or "")), LONGEST_TITLE)
        self._sources.setdefault(url, Source(title, url, age))

    def fault(self, code: object) -> None:
        words = FAULTS.get(str(code), f"the search says {one_line(clean(str(code)))}")
        if words not in self.faults:
            self.faults.append(words)


def read_results(blocks: Iterable[Block]) -> Results:
    """Reads the answer.  A passage is followed by the numbers of the sources that it cites."""
    results, passages = Results(), []
    for block in blocks:
        match block:
            case TextBlock():
                cited = dict.fromkeys(results.number(str(c.get("url") or "")) for c in block.citations)
                marks = "".join(f"[{n}]" for n in cited if n is not None)
                passages.append(_marked(clean(block.text), marks))
            case OpaqueBlock(raw=raw):
                _server_block(results, raw)
            case _:
                pass
    results.text = "".join(passages).strip()
    return results


def _marked(text: str, marks: str) -> str:
    """The marks in front of the blanks that end the passage."""
    body = text.rstrip()
    return f"{body} {marks}{text[len(body) :]}" if marks else text


def _server_block(results: Results, raw: Json) -> None:
    match raw.get("type"):
        case "server_tool_use" if raw.get("name") == "web_search":
            results.calls += 1
        case "web_search_tool_result":
            content: Any = raw.get("content")
            if isinstance(content, list):
                results.answered += 1
                for found in content:
                    if isinstance(found, Mapping):
                        results.add(found)
            else:
                results.fault(content.get("error_code") if isinstance(content, Mapping) else content)
        case _:
            pass
