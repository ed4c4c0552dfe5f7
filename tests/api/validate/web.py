"""What comes back of the API's web search: results, errors, citations."""

from __future__ import annotations

from typing import Any

from tests.api.errors import bad
from tests.api.validate.shape import Shape, check, may, need
from tests.api.web import sealed

ERRORS = (
    "invalid_tool_input",
    "unavailable",
    "max_uses_exceeded",
    "too_many_requests",
    "query_too_long",
    "request_too_large",
)
HIT: Shape = {
    "type": need("string", "web_search_result"),
    "title": need(),
    "url": need(),
    "encrypted_content": need(),
    "page_age": may(),
}
FAULT: Shape = {
    "type": need("string", "web_search_tool_result_error"),
    "error_code": need("string", *ERRORS),
}
CITATION: Shape = {
    "type": need("string", "web_search_result_location"),
    "cited_text": need(),
    "encrypted_index": need(),
    "title": may(),
    "url": need(),
}


def check_found(path: str, content: Any) -> None:
    """The content of a ``web_search_tool_result`` that comes back."""
    if isinstance(content, dict):
        check(f"{path}.content", content, FAULT, ())
        return
    for i, found in enumerate(content):
        check(f"{path}.content.{i}", found, HIT, ())
        if found["encrypted_content"] != sealed("content", found["title"], found["url"]):
            raise bad(f"{path}.content.{i}.encrypted_content", "Invalid `encrypted_content` in search result")


def check_citations(path: str, citations: list[Any]) -> None:
    """Those of a text that comes back."""
    for i, citation in enumerate(citations):
        kind = citation.get("type") if isinstance(citation, dict) else None
        if kind != "web_search_result_location":
            continue
        check(f"{path}.citations.{i}", citation, CITATION, ())
        if citation["encrypted_index"] != sealed("index", citation["cited_text"], citation["url"]):
            raise bad(f"{path}.citations.{i}.encrypted_index", "Invalid `encrypted_index` in citation")
