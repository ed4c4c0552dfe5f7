"""How a conversation grows: by appending, and never by two neighbours of one role."""

from __future__ import annotations

from collections.abc import Sequence

from agentcli.messages.blocks import Message


def append(messages: list[Message], message: Message) -> None:
    """Appends the message; where the last one has the same role, its blocks are appended to that one.

    A prompt that got no answer (interrupted, refused, offline) is followed by the next prompt: the API wants one
    user message then, and the bytes that were sent stay a prefix of it.  A message without content is left out.
    """
    if not message.content:
        return
    if messages and messages[-1].role == message.role:
        messages[-1] = Message(message.role, messages[-1].content + message.content)
    else:
        messages.append(message)


def first_part(messages: Sequence[Message], keep: int, blocks: int = 0) -> list[Message]:
    """The first ``keep`` messages, and the first ``blocks`` blocks of the next one."""
    part = [Message(m.role, m.content[:blocks]) for m in messages[keep : keep + 1]] if blocks else []
    return [*messages[:keep], *part]
