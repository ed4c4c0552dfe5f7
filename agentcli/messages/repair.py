"""One function that makes any sequence of messages one that the API takes.

It is applied when a transcript is loaded, after an interruption, and before every request as a guard; on a valid
conversation it changes nothing (the same objects come back), so that sent bytes never change.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from agentcli.messages.blocks import (
    Block,
    Message,
    OpaqueBlock,
    RedactedThinkingBlock,
    Role,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
)
from agentcli.text import clean

OF_USERS = frozenset({"image", "document", "search_result", "container_upload"})
OF_ANSWERS = re.compile(r"(?:[a-z0-9]+_)*tool_(?:use|result)|compaction")
"""Kinds of blocks that we pass on as they are.  The API refuses a request with one that it does not know, and so the
whole conversation from then on."""
SERVER_CALLS = ("server_tool_use", "mcp_tool_use")
INTERRUPTED = "Interrupted by the user before it finished."
LOST = "No result was recorded for this call: the session ended before it finished."


@dataclass(frozen=True, slots=True)
class Repair:
    messages: tuple[Message, ...]
    notes: tuple[str, ...] = ()
    """What was changed, one sentence each; empty for a valid conversation."""


def repair(messages: Sequence[Message], *, missing: str = LOST, recorded: bool = False) -> Repair:
    """Pairs every tool use with one result in the next message, drops what can't be sent, joins equal roles.

    Thinking behind the first change is dropped: it is bound to everything in front of it.

    ``missing`` is the text of an error result for a call that has none.  The last message may be an assistant message
    with open calls only when nothing follows; then a user message with the error results is appended.

    ``recorded``: the messages come from a file, where a block of an unknown kind is damage.  What the API itself has
    just sent it takes back.
    """
    notes: list[str] = []
    mended = [_known(m, notes) for m in messages] if recorded else list(messages)
    while True:
        told = len(notes)
        mended = _pass(mended, missing, notes)
        if len(notes) == told:
            return Repair(_unbound(mended, messages, notes) if notes else tuple(mended), tuple(notes))


def _pass(messages: list[Message], missing: str, notes: list[str]) -> list[Message]:
    """One round; what it drops may bring other things together, so rounds go on until one finds nothing."""
    sound = [m for m in (_sound(m, notes) for m in messages) if m is not None]
    joined = _join(sound, notes)
    while joined and joined[0].role == "assistant":
        notes.append("dropped an answer that stood before the first question")
        joined = joined[1:]
    last = len(joined) - 1
    served = [_served(m, notes) if i < last else m for i, m in enumerate(joined)]
    return _pair(served, missing, notes)


def _known(message: Message, notes: list[str]) -> Message:
    def passes(block: Block) -> bool:
        kind = str(block.raw.get("type")) if isinstance(block, OpaqueBlock) else ""
        known = not kind or (kind in OF_USERS if message.role == "user" else bool(OF_ANSWERS.fullmatch(kind)))
        if not known:
            notes.append(f"dropped a block of the unknown kind {kind[:40]!r}")
        return known

    kept = tuple(b for b in message.content if passes(b))
    return message if len(kept) == len(message.content) else Message(message.role, kept)


def _sound(message: Message, notes: list[str]) -> Message | None:
    made = [_sound_block(b, message.role, notes) for b in message.content]
    kept = tuple(b for b in made if b is not None)
    if kept and all(isinstance(b, ThinkingBlock | RedactedThinkingBlock) for b in kept):
        notes.append("dropped thinking that nothing followed")
        return None
    if not kept:
        notes.append(f"dropped an empty {message.role} message")
        return None
    unchanged = len(kept) == len(message.content) and all(a is b for a, b in zip(kept, message.content, strict=True))
    return message if unchanged else Message(message.role, kept)


def _sound_block(block: Block, role: Role, notes: list[str]) -> Block | None:
    match block:
        case TextBlock():
            return _sound_text(block, notes)
        case ToolUseBlock() if role == "user":
            notes.append(f"dropped a tool call in a user message: {block.name}")
            return None
        case ToolResultBlock() if role == "assistant":
            notes.append(f"dropped a tool result in an answer: {block.tool_use_id}")
            return None
        case ToolResultBlock():
            return _sound_result(block, notes)
        case _:
            return block


def _sound_text(block: TextBlock, notes: list[str]) -> TextBlock | None:
    if not block.text.strip():
        notes.append("dropped an empty text")
        return None
    text = clean(block.text)
    if text is block.text:
        return block
    notes.append("replaced characters that are not valid Unicode")
    return replace(block, text=text)


def _sound_result(block: ToolResultBlock, notes: list[str]) -> ToolResultBlock:
    made = [_sound_text(c, notes) if isinstance(c, TextBlock) else c for c in block.content]
    kept = tuple(c for c in made if c is not None)
    if len(kept) == len(block.content) and all(a is b for a, b in zip(kept, block.content, strict=True)):
        return block
    return ToolResultBlock(block.tool_use_id, kept, block.is_error)


def _served(message: Message, notes: list[str]) -> Message:
    """Without calls of the server's own tools that never got their result (it stands in the same message).

    Only in an answer that something follows: one that was paused is sent back as it is.
    """
    opaque = [b.raw for b in message.content if isinstance(b, OpaqueBlock)]
    if message.role == "user" or not opaque:
        return message
    done = {raw.get("tool_use_id") for raw in opaque}
    open_calls = [r for r in opaque if r.get("type") in SERVER_CALLS and r.get("id") not in done]
    notes.extend(f"dropped an unfinished call of the server: {r.get('name')}" for r in open_calls)
    kept = tuple(b for b in message.content if not (isinstance(b, OpaqueBlock) and b.raw in open_calls))
    return message if len(kept) == len(message.content) else Message(message.role, kept)


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
    return result


def _unique(message: Message, seen: set[str], notes: list[str]) -> Message:
    kept: list[Block] = []
    for block in message.content:
        id = _call_id(block)
        if id is not None and id in seen:
            notes.append(f"dropped a second call with the id {id}")
            continue
        if id is not None:
            seen.add(id)
        kept.append(block)
    return message if len(kept) == len(message.content) else Message("assistant", tuple(kept))


def _call_id(block: Block) -> str | None:
    match block:
        case ToolUseBlock(id=id):
            return id
        case OpaqueBlock(raw=raw) if raw.get("type") in SERVER_CALLS:
            return str(raw.get("id"))
        case _:
            return None


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
    if len(message.tool_results()) - len(strays) > len(results.keys() & ids):
        notes.append("dropped a second result for one call")
    rest = [b for b in message.content if not isinstance(b, ToolResultBlock)]
    content = (*wanted, *rest)
    if len(content) == len(message.content) and all(a is b for a, b in zip(content, message.content, strict=True)):
        return message
    notes.append("put results in the order of their calls, in front of everything else")
    return Message("user", content)


def _unbound(mended: Sequence[Message], before: Sequence[Message], notes: list[str]) -> tuple[Message, ...]:
    """Without the thinking that stands behind the first block which is not what it was."""
    old = [(m.role, b) for m in before for b in m.content]
    new = [(m.role, b) for m in mended for b in m.content]
    same = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    if not any(isinstance(b, ThinkingBlock | RedactedThinkingBlock) for _, b in new[same:]):
        return tuple(mended)
    notes.append("dropped thinking behind what was changed")
    kept: list[Message] = []
    position = 0
    for message in mended:
        blocks = [
            b
            for i, b in enumerate(message.content, position)
            if i < same or not isinstance(b, ThinkingBlock | RedactedThinkingBlock)
        ]
        position += len(message.content)
        kept.append(message if len(blocks) == len(message.content) else Message(message.role, tuple(blocks)))
    return tuple(kept)


def _error(call: ToolUseBlock, text: str) -> ToolResultBlock:
    return ToolResultBlock(call.id, (TextBlock(text),), is_error=True)


__all__ = ["INTERRUPTED", "LOST", "Repair", "repair"]
