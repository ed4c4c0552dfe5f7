"""When the API refuses an image that is already in the conversation, a text takes its place, once and for all."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from agentcli.agent.measure import rewritten
from agentcli.errors import ApiError
from agentcli.messages import Block, ImageBlock, Message, ResultContent, TextBlock, ToolResultBlock

_PLACE = re.compile(r"messages\.(\d+)\.content\.(\d+)")
REMOVED = "[An image stood here. The API refused it and it was removed: {reason}]"


def about_image(error: ApiError) -> bool:
    """Whether the API refused the request for an image in it."""
    return error.status in (400, 413, None) and error.kind == "invalid_request" and "image" in str(error).lower()


def without_refused_image(messages: Sequence[Message], error: ApiError) -> list[Message] | None:
    """The conversation without the image that the error is about; ``None`` if the error is about something else.

    The error's path (``messages.3.content.1``) says which; without one, all images of the newest message that has any
    are taken out.  Thinking behind the place is dropped: it is bound to the history in front of it.
    """
    text = str(error)
    if not about_image(error):
        return None
    index, position = _place(text, messages)
    if index is None:
        return None
    note = REMOVED.format(reason=text.splitlines()[0][:300])
    blocks = messages[index].content
    changed = tuple(_without(b, note) if position in (None, i) else b for i, b in enumerate(blocks))
    if changed == blocks:
        changed = tuple(_without(b, note) for b in blocks)
    return rewritten(messages, [*messages[:index], replace(messages[index], content=changed), *messages[index + 1 :]])


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
            return TextBlock(note, "reminder")
        case ToolResultBlock():
            content: tuple[ResultContent, ...] = tuple(
                TextBlock(note) if isinstance(c, ImageBlock) else c for c in block.content
            )
            return replace(block, content=content)
        case _:
            return block
