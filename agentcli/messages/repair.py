"""One function that makes any sequence of messages one that the API takes.

It is applied when a transcript is loaded, after an interruption, and before every request as a guard; on a valid
conversation it changes nothing (the same objects come back), so that sent bytes never change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from agentcli.messages.blocks import (
    Block,
    Message,
    TextBlock,
    ToolResultBlock,
    ToolUseBlock,
)

INTERRUPTED = "Interrupted by the user before it finished."
LOST = "No result was recorded for this call: the session ended before it finished."


@dataclass(frozen=True, slots=True)
class Repair:
    messages: tuple[Message, ...]
    notes: tuple[str, ...] = ()
    """What was changed, one sentence each; empty for a valid conversation."""


def repair(messages: Sequence[Message], *, missing: str = LOST) -> Repair:
    """Pairs every tool use with one result in the next message, drops what can't be sent, joins equal roles.

    ``missing`` is the text of an error result for a call that has none.  The last message may be an assistant message
    with open calls only when nothing follows; then a user message with the error results is appended.
    """
    notes: list[str] = []
    sound = [m for m in (_sound(m, notes) for m in messages) if m is not None]
    joined = _join(sound, notes)
    while joined and joined[0].role == "assistant":
        notes.append("dropped an answer that stood before the first question")
        joined = joined[1:]
    paired = _pair(joined, missing, notes)
    return Repair(tuple(paired), tuple(notes))


def _sound(message: Message, notes: list[str]) -> Message | None:
    kept: list[Block] = []
    for block in message.content:
        if isinstance(block, TextBlock) and not block.text.strip():
            notes.append("dropped an empty text")
        elif isinstance(block, ToolUseBlock) and message.role == "user":
            notes.append(f"dropped a tool call in a user message: {block.name}")
        elif isinstance(block, ToolResultBlock) and message.role == "assistant":
            notes.append(f"dropped a tool result in an answer: {block.tool_use_id}")
        else:
            kept.append(block)
    if len(kept) == len(message.content):
        return message if kept else None
    return Message(message.role, tuple(kept)) if kept else None


def _join(messages: list[Message], notes: list[str]) -> list[Message]:
    joined: list[Message] = []
    for message in messages:
        if joined and joined[-1].role == message.role:
            notes.append(f"joined two {message.role} messages")
            joined[-1] = Message(message.role, joined[-1].content + message.content)
        else:
            joined.append(message)
    return joined


def _pair(messages: list[Message], missing: str, notes: list[str]) -> list[Message]:
    result: list[Message] = []
    seen: set[str] = set()
    open_calls: list[ToolUseBlock] = []
    for message in messages:
        if message.role == "assistant":
            mended = _unique(message, seen, notes)
            open_calls = list(mended.tool_uses())
        else:
            mended = _answered(message, open_calls, missing, notes)
            open_calls = []
        if mended.content:
            result.append(mended)
    if open_calls:
        notes.extend(f"added a result for the open call {c.name}" for c in open_calls)
        result.append(Message("user", tuple(_error(c, missing) for c in open_calls)))
    return _join(result, notes) if _has_neighbours(result) else result


def _has_neighbours(messages: list[Message]) -> bool:
    return any(a.role == b.role for a, b in pairwise(messages))


def _unique(message: Message, seen: set[str], notes: list[str]) -> Message:
    kept: list[Block] = []
    for block in message.content:
        if isinstance(block, ToolUseBlock):
            if block.id in seen:
                notes.append(f"dropped a second call with the id {block.id}")
                continue
            seen.add(block.id)
        kept.append(block)
    return message if len(kept) == len(message.content) else Message("assistant", tuple(kept))


def _answered(message: Message, calls: list[ToolUseBlock], missing: str, notes: list[str]) -> Message:
    """Results first, in the order of the calls, one per call; then everything else as it stood."""
    results: dict[str, ToolResultBlock] = {}
    for found in message.tool_results():
        results.setdefault(found.tool_use_id, found)
    wanted: list[Block] = []
    for call in calls:
        if call.id not in results:
            notes.append(f"added a result for the open call {call.name}")
        wanted.append(results.get(call.id) or _error(call, missing))
    ids = {c.id for c in calls}
    strays = [r for r in message.tool_results() if r.tool_use_id not in ids]
    notes.extend(f"dropped a result without a call: {r.tool_use_id}" for r in strays)
    rest = [b for b in message.content if not isinstance(b, ToolResultBlock)]
    content = (*wanted, *rest)
    return message if content == message.content else Message("user", content)


def _error(call: ToolUseBlock, text: str) -> ToolResultBlock:
    return ToolResultBlock(call.id, (TextBlock(text),), is_error=True)


__all__ = ["INTERRUPTED", "LOST", "Repair", "repair"]
