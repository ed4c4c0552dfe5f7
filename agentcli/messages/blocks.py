"""Content blocks and messages of the Messages API, as frozen values.

Two forms leave this module.  The *API form* (``block_to_api``) is what goes over the wire: its keys stand in one
fixed order, so that the same value is the same bytes in every process.  The *record form* (``block_to_record``) is
the API form plus what only we know (where a text came from); the journal stores it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal, TypeAlias

Json: TypeAlias = Mapping[str, Any]
Role = Literal["user", "assistant"]
Origin = Literal["user", "reminder", "model", "summary", "command"]
"""Where a text came from: the person, a system reminder of ours, the model, a compaction's summary, the output of a
command that the person ran.  Never sent; compaction, breakpoints and the screen need it."""


@dataclass(frozen=True, slots=True)
class TextBlock:
    """``citations`` are the API's own objects, sent back as they came (they bind the text to a search result)."""

    text: str
    origin: Origin = "user"
    citations: tuple[Json, ...] = ()


@dataclass(frozen=True, slots=True)
class ThinkingBlock:
    """Never altered: the signature binds it to the model and to the prefix in front of it."""

    thinking: str
    signature: str


@dataclass(frozen=True, slots=True)
class RedactedThinkingBlock:
    data: str


@dataclass(frozen=True, slots=True)
class ImageBlock:
    media_type: str
    data: str
    """Base64."""


@dataclass(frozen=True, slots=True)
class DocumentBlock:
    """A PDF (base64) or a plain text document."""

    media_type: str
    data: str
    title: str | None = None


@dataclass(frozen=True, slots=True)
class ToolReferenceBlock:
    """In a tool result: brings the named deferred tool into the conversation."""

    tool_name: str


@dataclass(frozen=True, slots=True)
class ToolUseBlock:
    id: str
    name: str
    input: Json


ResultContent: TypeAlias = TextBlock | ImageBlock | DocumentBlock | ToolReferenceBlock


@dataclass(frozen=True, slots=True)
class ToolResultBlock:
    tool_use_id: str
    content: tuple[ResultContent, ...]
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class OpaqueBlock:
    """A block that we pass on untouched: server tool uses and results, compaction blocks, kinds of tomorrow."""

    raw: Json


Block: TypeAlias = (
    TextBlock
    | ThinkingBlock
    | RedactedThinkingBlock
    | ImageBlock
    | DocumentBlock
    | ToolReferenceBlock
    | ToolUseBlock
    | ToolResultBlock
    | OpaqueBlock
)


@dataclass(frozen=True, slots=True)
class Message:
    role: Role
    content: tuple[Block, ...]

    def text(self) -> str:
        """All text of the message that a person or the model wrote (reminders left out)."""
        return "\n".join(b.text for b in self.content if isinstance(b, TextBlock) and b.origin != "reminder")

    def tool_uses(self) -> tuple[ToolUseBlock, ...]:
        return tuple(b for b in self.content if isinstance(b, ToolUseBlock))

    def tool_results(self) -> tuple[ToolResultBlock, ...]:
        return tuple(b for b in self.content if isinstance(b, ToolResultBlock))


def user(*content: Block | str) -> Message:
    """A user message; plain strings are the person's own words."""
    return Message("user", tuple(TextBlock(c) if isinstance(c, str) else c for c in content))


def assistant(*content: Block | str) -> Message:
    """An assistant message; plain strings are the model's text."""
    return Message("assistant", tuple(TextBlock(c, "model") if isinstance(c, str) else c for c in content))


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one response, or a sum.  Total input = ``input + cache_write_5m + cache_write_1h + cache_read``.

    ``web_searches`` are searches of the API's own web search, which have a price of their own.
    """

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write_5m: int = 0
    cache_write_1h: int = 0
    web_searches: int = 0

    @property
    def cache_write(self) -> int:
        return self.cache_write_5m + self.cache_write_1h

    @property
    def total_input(self) -> int:
        return self.input + self.cache_read + self.cache_write

    def __add__(self, other: Usage) -> Usage:
        return Usage(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(Usage)))


def block_to_api(block: Block) -> dict[str, Any]:
    """The block as the API takes it, keys in fixed order."""
    match block:
        case TextBlock():
            cited = {"citations": _plain(block.citations)} if block.citations else {}
            return {"type": "text", "text": block.text, **cited}
        case ThinkingBlock():
            return {"type": "thinking", "thinking": block.thinking, "signature": block.signature}
        case RedactedThinkingBlock():
            return {"type": "redacted_thinking", "data": block.data}
        case ImageBlock():
            return {"type": "image", "source": _base64(block.media_type, block.data)}
        case DocumentBlock():
            return _document(block)
        case ToolReferenceBlock():
            return {"type": "tool_reference", "tool_name": block.tool_name}
        case ToolUseBlock():
            return {"type": "tool_use", "id": block.id, "name": block.name, "input": _plain(block.input)}
        case ToolResultBlock():
            result: dict[str, Any] = {
                "type": "tool_result",
                "tool_use_id": block.tool_use_id,
                "content": [block_to_api(c) for c in block.content],
            }
            if block.is_error:
                result["is_error"] = True
            return result
        case OpaqueBlock():
            plain: dict[str, Any] = _plain(block.raw)
            return plain


def message_to_api(message: Message) -> dict[str, Any]:
    """The message as the API takes it; content is always a list, so that a resumed session sends the same bytes."""
    return {"role": message.role, "content": [block_to_api(b) for b in message.content]}


def block_to_record(block: Block) -> dict[str, Any]:
    """The block as the journal stores it: API form, with ``origin`` where a text is not the obvious one."""
    record = block_to_api(block)
    if isinstance(block, TextBlock):
        record["origin"] = block.origin
    return record


def message_to_record(message: Message) -> dict[str, Any]:
    return {"role": message.role, "content": [block_to_record(b) for b in message.content]}


def block_from_api(raw: Json, *, origin: Origin = "model") -> Block:
    """Reads a block of the API or of a record.  Unknown kinds come back as ``OpaqueBlock``, never as an error."""
    match _text(raw, "type"):
        case "text":
            return TextBlock(_text(raw, "text"), raw.get("origin", origin), tuple(raw.get("citations") or ()))
        case "thinking":
            return ThinkingBlock(_text(raw, "thinking"), _text({"signature": "", **raw}, "signature"))
        case "redacted_thinking":
            return RedactedThinkingBlock(_text(raw, "data"))
        case "image" if raw.get("source", {}).get("type") == "base64":
            return ImageBlock(_text(raw["source"], "media_type"), _text(raw["source"], "data"))
        case "document" if raw.get("source", {}).get("type") in ("base64", "text"):
            return DocumentBlock(_text(raw["source"], "media_type"), _text(raw["source"], "data"), raw.get("title"))
        case "tool_reference":
            return ToolReferenceBlock(_text(raw, "tool_name"))
        case "tool_use":
            if not isinstance(raw["input"], Mapping):
                raise TypeError("the input of a call is no object")
            return ToolUseBlock(_text(raw, "id"), _text(raw, "name"), raw["input"])
        case "tool_result":
            return ToolResultBlock(
                _text(raw, "tool_use_id"), _result_content(raw.get("content", ())), bool(raw.get("is_error", False))
            )
        case _:
            return OpaqueBlock(raw)


def _text(raw: Json, key: str) -> str:
    value = raw[key]
    if not isinstance(value, str):
        raise TypeError(f"its {key} is no text")
    return value


def block_from_record(raw: Json) -> Block:
    return block_from_api(raw, origin="user")


def message_from_record(raw: Json) -> Message:
    """Reads what ``message_to_record`` wrote, or an API message.  ``KeyError``/``TypeError`` if it is neither."""
    origin: Origin = "model" if raw["role"] == "assistant" else "user"
    content = raw["content"]
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    return Message(raw["role"], tuple(block_from_api(b, origin=origin) for b in blocks))


def canonical(value: object) -> str:
    """JSON with sorted keys and no blanks: for hashes and comparisons, never for the wire."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _result_content(raw: str | Iterable[Json]) -> tuple[ResultContent, ...]:
    if isinstance(raw, str):
        return (TextBlock(raw),) if raw else ()
    blocks = (block_from_api(b, origin="user") for b in raw)
    return tuple(b for b in blocks if isinstance(b, TextBlock | ImageBlock | DocumentBlock | ToolReferenceBlock))


def _base64(media_type: str, data: str) -> dict[str, str]:
    return {"type": "base64", "media_type": media_type, "data": data}


def _document(block: DocumentBlock) -> dict[str, Any]:
    kind = "text" if block.media_type == "text/plain" else "base64"
    document: dict[str, Any] = {
        "type": "document",
        "source": {"type": kind, "media_type": block.media_type, "data": block.data},
    }
    if block.title:
        document["title"] = block.title
    return document


def _plain(value: Any) -> Any:
    """Mappings and tuples as dicts and lists, order kept."""
    if isinstance(value, Mapping):
        return {k: _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    return value
