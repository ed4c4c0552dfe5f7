"""What the server saw: every request with its bytes, and what became of it."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.api.cache import CacheFigures

Json = dict[str, Any]


@dataclass(slots=True, eq=False)
class Request:
    """One request.  ``status`` stays ``None`` while there is no answer; 0 means that the connection was reset."""

    number: int
    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    """Names in lower case."""
    body: bytes
    at: float
    """By the virtual clock."""
    json: Any = None
    """The parsed body; ``None`` where it is no JSON."""
    status: int | None = None
    error: Json | None = None
    """The error object of the answer's body."""
    refused: bool = False
    """The server's own validation refused it (a scripted error does not count)."""
    usage: Json | None = None
    cache: CacheFigures | None = None
    cost: float | None = None
    """US dollars for input, output and web searches, by list price; of an answer that was sent to its end."""
    message_id: str | None = None
    content: list[Json] = field(default_factory=list)
    """The blocks of the answer, as far as they were sent."""
    finished: bool = False
    """The answer was sent to its end."""
    aborted: bool = False
    """The client left before the answer's end."""

    @property
    def model(self) -> str:
        return str(self.json["model"])

    @property
    def messages(self) -> list[Json]:
        messages: list[Json] = self.json["messages"]
        return messages

    @property
    def tools(self) -> list[Json]:
        tools: list[Json] = self.json.get("tools", [])
        return tools

    @property
    def tool_names(self) -> list[str]:
        return [t["name"] for t in self.tools]

    @property
    def system(self) -> list[Json]:
        """The system prompt as a list of blocks, whatever form it came in."""
        system = self.json.get("system", [])
        return [{"type": "text", "text": system}] if isinstance(system, str) else system

    @property
    def system_text(self) -> str:
        return "\n\n".join(b["text"] for b in self.system)

    @property
    def betas(self) -> tuple[str, ...]:
        return tuple(b.strip() for b in self.headers.get("anthropic-beta", "").split(",") if b.strip())

    @property
    def version(self) -> str:
        return self.headers.get("anthropic-version", "")

    @property
    def key(self) -> str:
        """The API key or token, whichever header carried it."""
        bearer = self.headers.get("authorization", "")
        return self.headers.get("x-api-key") or bearer.removeprefix("Bearer ").strip()

    def blocks(self, *, role: str | None = None) -> Iterator[Json]:
        """All content blocks in order; string contents as text blocks."""
        for message in self.messages:
            if role is None or message["role"] == role:
                content = message["content"]
                yield from [{"type": "text", "text": content}] if isinstance(content, str) else content

    @property
    def text(self) -> str:
        """All text of all messages, tool results included: for "does the model see this"."""
        return "\n".join(_texts(list(self.blocks())))

    @property
    def opening(self) -> str:
        """Text of the first message: it tells one conversation from another."""
        content = self.messages[0]["content"]
        return content if isinstance(content, str) else "\n".join(_texts(content))

    @property
    def last(self) -> Json:
        return self.messages[-1]

    @property
    def last_text(self) -> str:
        """Text of the last message, tool results included."""
        content = self.last["content"]
        return content if isinstance(content, str) else "\n".join(_texts(content))

    @property
    def tool_results(self) -> list[Json]:
        """The tool results of the last message."""
        content = self.last["content"]
        return [] if isinstance(content, str) else [b for b in content if b["type"] == "tool_result"]


def result_text(result: Json) -> str:
    """The text of a tool result, whatever form its content has."""
    content = result.get("content", "")
    return content if isinstance(content, str) else "\n".join(_texts(content))


def _texts(blocks: Sequence[Json]) -> Iterator[str]:
    for block in blocks:
        match block.get("type"):
            case "text":
                yield block["text"]
            case "tool_result":
                yield result_text(block)


class Recorder:
    """All requests in the order of their arrival; safe to read from any thread."""

    def __init__(self) -> None:
        self._all: list[Request] = []
        self._changed = threading.Condition()

    def add(self, request: Request) -> None:
        with self._changed:
            self._all.append(request)
            self._changed.notify_all()

    def changed(self) -> None:
        with self._changed:
            self._changed.notify_all()

    @property
    def all(self) -> list[Request]:
        with self._changed:
            return list(self._all)

    @property
    def messages(self) -> list[Request]:
        """Requests to ``/v1/messages``."""
        return [r for r in self.all if r.path == "/v1/messages"]

    def wait(self, count: int, *, timeout: float, finished: bool = False) -> list[Request]:
        """Blocks until so many requests to ``/v1/messages`` came in (or are answered)."""

        def seen() -> list[Request]:
            return [
                r
                for r in self._all
                if r.path == "/v1/messages" and (not finished or r.finished or r.aborted or (r.status or 0) >= 400)
            ]

        deadline = time.monotonic() + timeout
        with self._changed:
            while len(seen()) < count:
                left = deadline - time.monotonic()
                if left <= 0:
                    raise TimeoutError(f"{len(seen())} of {count} requests after {timeout} s")
                self._changed.wait(left)
            return seen()
