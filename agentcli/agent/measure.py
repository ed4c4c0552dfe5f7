"""How much room messages take (offline estimates), and messages without their thinking."""

from __future__ import annotations

from collections.abc import Iterable

from agentcli.agent.state import SessionState
from agentcli.messages import (
    Block,
    DocumentBlock,
    ImageBlock,
    Message,
    RedactedThinkingBlock,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    block_to_api,
    canonical,
)
from agentcli.text import estimate_tokens

IMAGE_TOKENS = 1_600
"""About what an image of the largest useful size costs."""
DOCUMENT_PAGE_BYTES = 100_000
DOCUMENT_PAGE_TOKENS = 2_000


def block_tokens(block: Block) -> int:
    match block:
        case ImageBlock():
            return IMAGE_TOKENS
        case DocumentBlock() if block.media_type != "text/plain":
            return DOCUMENT_PAGE_TOKENS * (1 + len(block.data) // DOCUMENT_PAGE_BYTES)
        case TextBlock():
            return estimate_tokens(block.text)
        case ToolResultBlock():
            return sum(block_tokens(c) for c in block.content)
        case _:
            return estimate_tokens(canonical(block_to_api(block)))


def tokens(messages: Iterable[Message]) -> int:
    """Estimated tokens of the messages."""
    return sum(block_tokens(b) for m in messages for b in m.content)


def used(state: SessionState) -> int:
    """Tokens in the window: the API's figure for what it has seen, an estimate for what came since."""
    return state.context_tokens + tokens(state.messages[state.measured :])


def without_thinking(message: Message) -> Message:
    """Thinking is bound to the history in front of it: where that changes, it is dropped whole."""
    kept = tuple(b for b in message.content if not isinstance(b, ThinkingBlock | RedactedThinkingBlock))
    return message if len(kept) == len(message.content) else Message(message.role, kept)
