"""From a scripted reply to the events of the stream, and to the whole message."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from tests.api.faults import Control, Json
from tests.api.script import Piece, Reply, Text, Thinking, ToolUse, Whole
from tests.api.tokens import count_block
from tests.api.web import searches


@dataclass(frozen=True, slots=True)
class Event:
    """One SSE event of the answer."""

    name: str
    data: Json


@dataclass(slots=True)
class Answer:
    """One reply on its way: ``events`` yields what goes over the wire; ``content`` grows as blocks are sent.

    ``sign(block, content_before)`` gives a thinking block its signature; ``new_id(kind)`` makes ids.
    """

    reply: Reply
    message_id: str
    model: str
    usage: Json
    """Input side of the usage, in the API's names."""
    sign: Callable[[Json, list[Json]], str]
    new_id: Callable[[str], str]
    extra: Json = field(default_factory=dict)
    """Further fields of the message."""
    content: list[Json] = field(default_factory=list)

    def events(self) -> Iterator[Event | Control]:
        for item in self._all():
            if isinstance(item, Event) and item.name in self.reply.omit:
                continue
            yield item

    def _all(self) -> Iterator[Event | Control]:
        start = {
            "id": self.message_id,
            "type": "message",
            "role": "assistant",
            "model": self.model,
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": {**self.usage, "output_tokens": 1},
            **self.extra,
            **self.reply.extra,
        }
        yield Event("message_start", {"type": "message_start", "message": start})
        index = 0
        for part in self.reply.parts:
            match part:
                case Text() | Thinking() | ToolUse() | Whole():
                    yield from self._block(index, part)
                    index += 1
                case _:
                    yield part
        delta = {
            "stop_reason": self.stop_reason,
            "stop_sequence": self.reply.stop_sequence,
            **({"stop_details": self.reply.stop_details} if self.reply.stop_details else {}),
        }
        usage = {k: v for k, v in self.final_usage.items() if k != "cache_creation"}
        if "cache_creation" not in self.usage:
            usage = {"output_tokens": usage["output_tokens"]}
        yield Event("message_delta", {"type": "message_delta", "delta": delta, "usage": usage})
        yield Event("message_stop", {"type": "message_stop"})

    def _block(self, index: int, part: Text | Thinking | ToolUse | Whole) -> Iterator[Event | Control]:
        match part:
            case Text():
                block: Json = {"type": "text", "text": "", **({"citations": []} if part.citations else {})}
                yield _start(index, block)
                self.content.append(block)
                yield from self._deltas(index, part.pieces, block, "text", "text_delta", "text")
                for citation in part.citations:
                    block["citations"] = [*block["citations"], citation]
                    yield _delta(index, {"type": "citations_delta", "citation": citation})
            case Thinking():
                block = {"type": "thinking", "thinking": "", "signature": ""}
                yield _start(index, block)
                before = list(self.content)
                self.content.append(block)
                yield from self._deltas(index, part.pieces, block, "thinking", "thinking_delta", "thinking")
                block["signature"] = self.sign(block, before) if part.signature is None else part.signature
                yield _delta(index, {"type": "signature_delta", "signature": block["signature"]})
            case ToolUse():
                yield from self._tool(index, part)
            case Whole():
                block = dict(part.block)
                if block.get("type") == "redacted_thinking" and block.get("data") is None:
                    block["data"] = self.sign(block, self.content)
                yield _start(index, block)
                self.content.append(block)
        yield Event("content_block_stop", {"type": "content_block_stop", "index": index})

    def _tool(self, index: int, part: ToolUse) -> Iterator[Event | Control]:
        block: Json = {
            "type": part.kind,
            "id": part.id or self.new_id("toolu" if part.kind == "tool_use" else "srvtoolu"),
            "name": part.name,
            "input": {},
        }
        yield _start(index, block)
        self.content.append(block)
        raw: Json = {"raw": ""}
        pieces = part.pieces if part.pieces != ("{}",) else ()
        yield from self._deltas(index, pieces, raw, "raw", "input_json_delta", "partial_json")
        try:
            block["input"] = json.loads(raw["raw"] or "{}")
        except ValueError:
            block["input"] = {}

    def _deltas(
        self, index: int, pieces: tuple[Piece, ...], block: Json, field_name: str, delta: str, key: str
    ) -> Iterator[Event | Control]:
        """The deltas of a block; a single text piece is cut into chunks."""
        if len(pieces) == 1 and isinstance(pieces[0], str):
            size = self.reply.chunk
            pieces = tuple(pieces[0][i : i + size] for i in range(0, len(pieces[0]), size))
        for piece in pieces:
            if isinstance(piece, str):
                block[field_name] += piece
                yield _delta(index, {"type": delta, key: piece})
            else:
                yield piece

    @property
    def stop_reason(self) -> str:
        if self.reply.stop_reason is not None:
            return self.reply.stop_reason
        calls = any(isinstance(p, ToolUse) and p.kind == "tool_use" for p in self.reply.parts)
        return "tool_use" if calls else "end_turn"

    @property
    def final_usage(self) -> Json:
        """Whole usage of the answer as far as it was sent."""
        output = sum(count_block(b) for b in self.content)
        made = searches(self.content)
        served = {"server_tool_use": {"web_search_requests": made, "web_fetch_requests": 0}} if made else {}
        return {**self.usage, "output_tokens": max(output, 1), **served, **self.reply.usage}

    def message(self) -> Json:
        """The whole message, for an answer that is not streamed.  ``events`` must have run to its end."""
        return {
            "id": self.message_id,
            "type": "message",
            "role": "assistant",
            "model": self.model,
            "content": self.content,
            "stop_reason": self.stop_reason,
            "stop_sequence": self.reply.stop_sequence,
            **({"stop_details": self.reply.stop_details} if self.reply.stop_details else {}),
            "usage": self.final_usage,
            **self.extra,
            **self.reply.extra,
        }


def _start(index: int, block: Json) -> Event:
    shown = dict(block)
    return Event("content_block_start", {"type": "content_block_start", "index": index, "content_block": shown})


def _delta(index: int, delta: dict[str, Any]) -> Event:
    return Event("content_block_delta", {"type": "content_block_delta", "index": index, "delta": delta})
