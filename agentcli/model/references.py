"""Tool references where the server does not take them: the definitions as text in their place.

A conversation that began on a server with tool references may go on at one without, or the server may refuse them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from agentcli.messages import Block, Message, ResultContent, TextBlock, ToolReferenceBlock, ToolResultBlock
from agentcli.model.parts import dumps, tool_to_api
from agentcli.ports.model import ToolSpec


class References:
    """Remembers what it made of a message, so that a message that is sent again is the same object."""

    def __init__(self) -> None:
        self._made: dict[int, tuple[Message, Message]] = {}

    def as_text(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> tuple[Message, ...]:
        known = {t.name: t for t in tools}
        return tuple(self._message(m, known) for m in messages)

    def _message(self, message: Message, known: Mapping[str, ToolSpec]) -> Message:
        if not any(_refers(b) for b in message.content):
            return message
        found = self._made.get(id(message))
        if found is None or found[0] is not message:
            content = tuple(_block(b, known) for b in message.content)
            found = self._made[id(message)] = (message, Message(message.role, content))
        return found[1]


def _refers(block: Block) -> bool:
    return isinstance(block, ToolResultBlock) and any(isinstance(c, ToolReferenceBlock) for c in block.content)


def _block(block: Block, known: Mapping[str, ToolSpec]) -> Block:
    if not isinstance(block, ToolResultBlock):
        return block
    return replace(block, content=tuple(_content(c, known) for c in block.content))


def _content(content: ResultContent, known: Mapping[str, ToolSpec]) -> ResultContent:
    if not isinstance(content, ToolReferenceBlock):
        return content
    spec = known.get(content.tool_name)
    if spec is None:
        return TextBlock(f"The tool {content.tool_name} is not defined any more.")
    return TextBlock(f"This tool can be called by its name:\n{dumps(tool_to_api(replace(spec, deferred=False)))}")
