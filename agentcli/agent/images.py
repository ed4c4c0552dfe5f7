"""When the API refuses an image that is already in the conversation, a text takes its place, once and for all."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from agentcli.agent.measure import without_thinking
from agentcli.errors import ApiError
from agentcli.messages import Block, ImageBlock, Message, ResultContent, TextBlock, ToolResultBlock

_PLACE = re.compile(r"messages\.(\d+)\.content\.(\d+)")
REMOVED = "[An image stood here. The API refused it and it was removed: {reason}]"


def without_refused_image(messages: Sequence[Message], error: ApiError) -> list[Message] | None:
    """The conversation without the image that the error is about; ``None`` if the error is about something else.

    The error's path (``messages.3.content.1``) says which; without one, all images of the newest message that has any
    are taken out.  Thinking behind the place is dropped: it is bound to the history in front of it.
    """
    text = str(error)
    if error.status not in (400, 413, None) or error.kind != "invalid_request" or "image" not in text.lower():
        return None
    index, position = _place(text, messages)
    if index is None:
        return None
    note = REMOVED.format(reason=text.splitlines()[0][:300])
    blocks = messages[index].content
    changed = tuple(_without(b, note) if position in (None, i) else b for i, b in enumerate(blocks))
    if changed == blocks:
        changed = tuple(_without(b, note) for b in blocks)
    before, behind = list(messages[:index]), [without_thinking(m) for m in messages[index + 1 :]]
    return [*before, replace(messages[index], content=changed), *(m for m in behind if m.content)]


def _place(text: str, messages: Sequence[Message]) -> tuple[int | None, int | None]:
    found = _PLACE.search(text)
    if found and int(found[1]) < len(messages) and _has_image(messages[int(found[1])]):
        return int(found[1]), int(found[2])
    newest = (i for i in range(len(messages) - 1, -1, -1) if _has_image(messages[i]))
    return next(newest, None), None


def _has_image(message: Message) -> bool:
    return any(_without(b, "") != b for b in message.content)


def _without(block: Block, note: str) -> Block:
    match block:
        case ImageBlock():
            return TextBlock(note)
        case ToolResultBlock():
            content: tuple[ResultContent, ...] = tuple(
                TextBlock(note) if isinstance(c, ImageBlock) else c for c in block.content
            )
            return replace(block, content=content)
        case _:
            return block
