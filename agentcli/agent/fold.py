"""Folds the raw events of one attempt into the blocks of an answer.  Pure: events in, derived events out."""

from __future__ import annotations

import json
import math
import re
import uuid
from collections.abc import Container
from dataclasses import dataclass, field
from typing import Any, NoReturn

from agentcli.events import Event, TextDelta, ThinkingDelta, ToolCallStarted
from agentcli.messages import (
    Block,
    Json,
    OpaqueBlock,
    RedactedThinkingBlock,
    TextBlock,
    ThinkingBlock,
    ToolUseBlock,
    Usage,
)
from agentcli.text import clean, clean_json

_ID = re.compile(r"[a-zA-Z0-9_-]+")
_NOT_IN_A_NAME = re.compile(r"[^a-zA-Z0-9_-]")
_LONGEST_NAME = 128
_DEEPEST_INPUT = 100
"""Levels of a call's input; behind it every walk over the value comes near the interpreter's recursion limit."""
NOT_JSON = "The input of this call was not a valid JSON object ({error}). Nothing was run. Send the call again."
NOT_UNICODE = (
    "The input of this call held half of a surrogate pair, which is not valid Unicode. Nothing was run. "
    "Send the call again with the whole character."
)


@dataclass(slots=True)
class OpenBlock:
    """A block while it streams in."""

    raw: dict[str, Any]
    id: str = ""
    texts: list[str] = field(default_factory=list)
    json_parts: list[str] = field(default_factory=list)
    citations: list[Json] = field(default_factory=list)
    signature: str = ""
    held: str = ""
    """The first half of a surrogate pair whose second half is still to come."""
    closed: bool = False

    @property
    def type(self) -> str:
        return str(self.raw.get("type", ""))

    def add_text(self, piece: str) -> str:
        """Takes a delta; returns what can be shown of it."""
        text = self.held + piece
        self.held = text[-1] if text and "\ud800" <= text[-1] <= "\udbff" else ""
        shown = clean(text[: len(text) - len(self.held)])
        self.texts.append(shown)
        return shown

    def text(self) -> str:
        return "".join(self.texts) + clean(self.held)


class AnswerFold:
    """The state of one attempt.  ``taken`` are the call ids of the conversation: an answer that repeats one, or sends
    one that the API would refuse, gets a fresh id."""

    def __init__(self, taken: Container[str] = ()) -> None:
        self._taken = taken
        self._open: dict[int, OpenBlock] = {}
        self._usage: dict[str, Any] = {}
        self.model = ""
        self.message_id = ""
        self.stop_reason: str | None = None
        self.faults: dict[str, str] = {}
        """Calls that must not run, with the error text that the model gets."""
        self.begun = False

    def feed(self, raw: Json) -> list[Event]:
        """Takes one raw event; unknown ones change nothing."""
        self.begun = True
        match raw.get("type"):
            case "message_start":
                self._start(raw.get("message") or {})
            case "content_block_start":
                return self._open_block(int(raw.get("index", 0)), dict(raw.get("content_block") or {}))
            case "content_block_delta":
                block = self._open.get(int(raw.get("index", 0)))
                return self._delta(block, raw.get("delta") or {}) if block else []
            case "content_block_stop":
                block = self._open.get(int(raw.get("index", 0)))
                return self._close(block) if block else []
            case "message_delta":
                self.stop_reason = (raw.get("delta") or {}).get("stop_reason") or self.stop_reason
                self._usage.update({k: v for k, v in (raw.get("usage") or {}).items() if v is not None})
            case _:
                pass
        return []

    def usage(self) -> Usage:
        """As far as the stream told; all zero for a server without usage."""
        made = self._usage.get("cache_creation") or {}
        served = self._usage.get("server_tool_use") or {}
        hour = _count(made.get("ephemeral_1h_input_tokens"))
        written = _count(self._usage.get("cache_creation_input_tokens"))
        return Usage(
            input=_count(self._usage.get("input_tokens")),
            output=_count(self._usage.get("output_tokens")),
            cache_read=_count(self._usage.get("cache_read_input_tokens")),
            cache_write_5m=max(written - hour, 0),
            cache_write_1h=hour,
            web_searches=max(_count(served.get("web_search_requests")), self._searches()),
        )

    def _searches(self) -> int:
        """Web searches whose results have come: they are paid although an interrupted answer has no final usage."""
        results = (b.raw.get("content") for b in self._open.values() if b.type == "web_search_tool_result")
        return sum(isinstance(content, list) for content in results)

    def blocks(self) -> tuple[Block, ...]:
        """The finished answer: empty texts dropped, calls with broken input kept with ``{}`` and a fault."""
        made = (self._made(b) for _, b in sorted(self._open.items()))
        return tuple(b for b in made if b is not None)

    def partial(self) -> tuple[Block, ...]:
        """What an interrupted attempt leaves: complete blocks and the text so far; unfinished calls and thinking are
        dropped, and thinking that nothing follows."""
        kept: list[Block] = []
        for _, block in sorted(self._open.items()):
            made = self._made(block) if block.closed or block.type == "text" else None
            if made is not None:
                kept.append(made)
        while kept and isinstance(kept[-1], ThinkingBlock | RedactedThinkingBlock):
            kept.pop()
        return tuple(kept)

    def last_call(self) -> str | None:
        """The id of the call that stands last: where the output limit cuts."""
        if not self._open:
            return None
        last = self._open[max(self._open)]
        return last.id if last.type == "tool_use" else None

    def _start(self, message: Json) -> None:
        self.model = str(message.get("model") or "")
        self.message_id = str(message.get("id") or "")
        self._usage = dict(message.get("usage") or {})

    def _open_block(self, index: int, raw: dict[str, Any]) -> list[Event]:
        block = self._open[index] = OpenBlock(raw)
        match block.type:
            case "text":
                return _shown(TextDelta, block.add_text(str(raw.get("text") or "")))
            case "thinking":
                block.signature = str(raw.get("signature") or "")
                return _shown(ThinkingDelta, block.add_text(str(raw.get("thinking") or "")))
            case "tool_use":
                block.id = self._fresh_id(str(raw.get("id") or ""))
                return [ToolCallStarted(block.id, call_name(raw.get("name")))]
            case _:
                return []

    def _fresh_id(self, id: str) -> str:
        mine = {b.id for b in self._open.values()}
        return id if _ID.fullmatch(id) and id not in self._taken and id not in mine else f"toolu_{uuid.uuid4().hex}"

    def _delta(self, block: OpenBlock, delta: Json) -> list[Event]:
        match delta.get("type"):
            case "text_delta" if block.type == "text":
                return _shown(TextDelta, block.add_text(str(delta.get("text") or "")))
            case "thinking_delta" if block.type == "thinking":
                return _shown(ThinkingDelta, block.add_text(str(delta.get("thinking") or "")))
            case "citations_delta" if block.type == "text" and isinstance(delta.get("citation"), dict):
                block.citations.append(delta["citation"])
            case "signature_delta" if block.type == "thinking":
                block.signature += str(delta.get("signature") or "")
            case "input_json_delta":
                block.json_parts.append(str(delta.get("partial_json") or ""))
            case _ if block.type not in ("text", "thinking", "tool_use"):
                _grow(block.raw, delta)
            case _:
                pass
        return []

    def _close(self, block: OpenBlock) -> list[Event]:
        block.closed = True
        rest, block.held = clean(block.held), ""
        if not rest:
            return []
        block.texts.append(rest)
        return _shown(TextDelta if block.type == "text" else ThinkingDelta, rest)

    def _made(self, block: OpenBlock) -> Block | None:
        match block.type:
            case "text":
                text = block.text()
                given = (c for c in block.raw.get("citations") or () if isinstance(c, dict))
                return TextBlock(text, "model", (*given, *block.citations)) if text.strip() else None
            case "thinking":
                return ThinkingBlock(block.text(), block.signature)
            case "redacted_thinking":
                return RedactedThinkingBlock(str(block.raw.get("data") or ""))
            case "tool_use":
                return ToolUseBlock(block.id, call_name(block.raw.get("name")), self._input(block))
            case _:
                raw = dict(block.raw)
                if block.json_parts:
                    raw["input"], _ = parse_input("".join(block.json_parts))
                return OpaqueBlock(raw)

    def _input(self, block: OpenBlock) -> Json:
        given = block.raw.get("input")
        if not block.json_parts and isinstance(given, dict) and given:
            text = json.dumps(given)
        else:
            text = "".join(block.json_parts)
        value, fault = parse_input(text)
        if fault:
            self.faults[block.id] = fault
        return value


def call_name(given: object) -> str:
    """The name of a call in a form that the API takes back: no tool has another, so the call is answered as unknown."""
    return _NOT_IN_A_NAME.sub("_", str(given or ""))[:_LONGEST_NAME] or "unnamed"


def parse_input(text: str) -> tuple[dict[str, Any], str]:
    """A call's input and, where it can't be used as the model meant it, the reason; empty text is no input.

    Lone surrogates come back as U+FFFD.
    """
    whole = clean(text)
    try:
        value = json.loads(whole, parse_constant=_no_constant, parse_float=_finite) if whole.strip() else {}
    except (ValueError, RecursionError) as error:
        return {}, NOT_JSON.format(error=error)
    if not isinstance(value, dict):
        return {}, NOT_JSON.format(error=f"it is a {type(value).__name__}")
    if _is_deeper(value, _DEEPEST_INPUT):
        return {}, NOT_JSON.format(error=f"it is nested deeper than {_DEEPEST_INPUT} levels")
    cleaned = clean_json(value)
    assert isinstance(cleaned, dict)
    broken = whole.count("\ufffd") != text.count("\ufffd") or cleaned != value
    return cleaned, NOT_UNICODE if broken else ""


def _is_deeper(value: object, levels: int) -> bool:
    level = [value]
    for _ in range(levels):
        level = [c for v in level for c in (v.values() if isinstance(v, dict) else v if isinstance(v, list) else ())]
        if not level:
            return False
    return True


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _finite(text: str) -> float:
    """``1e999`` is JSON, but no number of ours: as infinity it could never be sent again."""
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"the number {text} is too large")
    return value


def _shown(kind: type[TextDelta] | type[ThinkingDelta], text: str) -> list[Event]:
    return [kind(text)] if text else []


def _grow(raw: dict[str, Any], delta: Json) -> None:
    """A block kind that we don't know: strings of the delta are appended to the fields of the same name."""
    for key, value in delta.items():
        if key != "type" and isinstance(value, str):
            before = raw.get(key)
            raw[key] = (before if isinstance(before, str) else "") + clean(value)


def _count(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0
