"""Images and documents within the API's limits, before they become part of the conversation and when it has grown."""

from __future__ import annotations

import asyncio
import base64
import binascii
from collections.abc import Callable, Sequence
from dataclasses import replace

from agentcli.agent.measure import rewritten
from agentcli.errors import ToolError
from agentcli.media import image_block, sniff
from agentcli.messages import Block, DocumentBlock, ImageBlock, Message, TextBlock, ToolReferenceBlock, ToolResultBlock

MOST_IMAGES = 100
"""Of one request (vision page)."""
MOST_ENCODED = 24 * 1024 * 1024
"""Characters of base64 in one request: 32 MB are the API's limit for the whole."""
MAX_DOCUMENT = 14 * 1024 * 1024
"""Characters of base64 of one document."""
UNUSABLE = "[{what} can't be sent and was left out: {reason}]"
OLD = "[An image or document stood here. It was left out to keep the request within the API's limits.]"


async def fitted(blocks: Sequence[Block]) -> tuple[Block, ...]:
    """The blocks with every image scaled to the limits; what can't be sent at all becomes a text that says why."""
    if not any(isinstance(b, ImageBlock | DocumentBlock | ToolResultBlock) for b in blocks):
        return tuple(blocks)
    return await asyncio.to_thread(lambda: tuple(_fit(b) for b in blocks))


async def all_fitted(messages: Sequence[Message]) -> list[Message] | None:
    """The whole conversation so, in one step; ``None`` where everything fits."""
    made = [replace(m, content=await fitted(m.content)) for m in messages]
    return rewritten(messages, made) if made != list(messages) else None


def within_limits(messages: Sequence[Message]) -> list[Message] | None:
    """Where all images and documents together are too many or too large, the oldest give way to notes, in one step
    down to half of what is allowed; ``None`` where they are not."""
    sizes = [_size(c) for m in messages for b in m.content for c in _parts(b)]
    media = [size for size in sizes if size]
    if len(media) <= MOST_IMAGES and sum(media) <= MOST_ENCODED:
        return None
    going = 0
    while len(media) - going > MOST_IMAGES // 2 or sum(media[going:]) > MOST_ENCODED // 2:
        if going == len(media) - 1:
            break  # the newest stays in any case
        going += 1
    oldest = iter(range(len(media)))

    def note(part: Block) -> Block:
        return TextBlock(OLD, "reminder") if _size(part) and next(oldest) < going else part

    made = [replace(m, content=tuple(_each(b, note) for b in m.content)) for m in messages]
    return rewritten(messages, made)


def _each(block: Block, change: Callable[[Block], Block]) -> Block:
    if not isinstance(block, ToolResultBlock):
        return change(block)
    made = tuple(
        c
        for c in map(change, block.content)
        if isinstance(c, TextBlock | ImageBlock | DocumentBlock | ToolReferenceBlock)
    )
    return replace(block, content=made)


def _parts(block: Block) -> tuple[Block, ...]:
    return block.content if isinstance(block, ToolResultBlock) else (block,)


def _size(block: Block) -> int:
    """Characters of base64; 0 for what is none."""
    match block:
        case ImageBlock(data=data):
            return len(data)
        case DocumentBlock(media_type=kind, data=data) if kind != "text/plain":
            return len(data)
        case _:
            return 0


def _fit(block: Block) -> Block:
    match block:
        case ImageBlock():
            return _image(block)
        case DocumentBlock():
            return _document(block)
        case ToolResultBlock():
            return _each(block, _fit)
        case _:
            return block


def _image(block: ImageBlock) -> ImageBlock | TextBlock:
    try:
        data = base64.b64decode(block.data, validate=True)
        return image_block(data, "it").block
    except binascii.Error:
        return _unusable("An image", "it is no valid base64")
    except ToolError as error:
        return _unusable("An image", str(error))


def _document(block: DocumentBlock) -> DocumentBlock | TextBlock:
    if block.media_type == "text/plain":
        return block if block.data.strip() else _unusable("A document", "it is empty")
    try:
        kind = sniff(base64.b64decode(block.data[:4_096], validate=True))
    except binascii.Error:
        kind = None
    if kind != "application/pdf":
        return _unusable("A document", "it is no PDF by its content")
    if len(block.data) > MAX_DOCUMENT:
        reason = f"it has {len(block.data) * 3 // 4:,} bytes; take parts of it with Read (pages)"
        return _unusable("A document", reason)
    return block


def _unusable(what: str, reason: str) -> TextBlock:
    return TextBlock(UNUSABLE.format(what=what, reason=reason), "reminder")
