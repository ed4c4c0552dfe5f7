"""The API's web search as a script plays it: calls with their results, and text that cites them.

    found = hit("Python 3.14", "https://docs.test/3.14")
    reply(*search("python release", found), cited("It is out.", found))

What the API encrypts is sealed here: it must come back as it was sent.
"""

from __future__ import annotations

import hashlib
import itertools
from typing import Any

from tests.api.script import Text, ToolUse, Whole, block, server_tool_use

Json = dict[str, Any]
PRICE = 0.01
"""US dollars for one search that did not fail."""
_numbers = itertools.count(1)


def hit(title: str, url: str, age: str | None = None) -> Json:
    """One result."""
    return {
        "type": "web_search_result",
        "title": title,
        "url": url,
        "encrypted_content": sealed("content", title, url),
        "page_age": age,
    }


def search(query: str, *hits: Json) -> tuple[ToolUse, Whole]:
    """A search and its results, for ``reply(*search(…))``."""
    return _searched(query, list(hits))


def search_fails(query: str, code: str) -> tuple[ToolUse, Whole]:
    return _searched(query, {"type": "web_search_tool_result_error", "error_code": code})


def cited(text: str, *hits: Json) -> Text:
    """A text that rests on these results."""
    return Text((text,), tuple(_citation(text, h) for h in hits))


def searches(content: list[Json]) -> int:
    """How many searches of an answer are paid."""
    results = (b["content"] for b in content if b["type"] == "web_search_tool_result")
    return sum(isinstance(found, list) for found in results)


def _searched(query: str, content: Any) -> tuple[ToolUse, Whole]:
    id = f"srvtoolu_w{next(_numbers):06d}"
    return server_tool_use("web_search", {"query": query}, id=id), block(
        {"type": "web_search_tool_result", "tool_use_id": id, "content": content}
    )


def _citation(text: str, found: Json) -> Json:
    return {
        "type": "web_search_result_location",
        "cited_text": text[:150],
        "encrypted_index": sealed("index", text[:150], found["url"]),
        "title": found["title"],
        "url": found["url"],
    }


def sealed(*parts: str) -> str:
    """What the API would encrypt."""
    return "Eo8DCioIARgC" + hashlib.sha256("\0".join(parts).encode()).hexdigest()
