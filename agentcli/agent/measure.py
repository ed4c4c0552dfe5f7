"""How much room messages take (offline estimates), and messages without their thinking."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from agentcli.agent.state import SessionState
from agentcli.conversation import SystemPrompt
from agentcli.messages import (
    Block,
    DocumentBlock,
    ImageBlock,
    Message,
    RedactedThinkingBlock,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
    append,
    block_to_api,
    canonical,
)
from agentcli.ports.model import ToolSpec
from agentcli.text import estimate_tokens, one_line

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
    """Tokens in the window: the API's figure for what it has seen, an estimate for what came since.  Where it has not
    seen the conversation as it is (rewritten history), all is estimated, tools and system prompt too."""
    seen = state.context_tokens if state.measured else state.front_tokens
    return seen + tokens(state.messages[state.measured :])


def front_tokens(system: SystemPrompt, tools: Sequence[ToolSpec]) -> int:
    """Estimated tokens of what stands in front of the messages."""
    shown = [t for t in tools if not t.deferred]
    return sum(estimate_tokens(p.text) for p in system.parts if p.kind != "boundary") + sum(map(_tool_tokens, shown))


def largest_results(messages: Sequence[Message], count: int) -> list[tuple[str, int]]:
    """The largest tool results with their tokens, as (tool and its telling argument, tokens)."""
    calls = {c.id: c for m in messages for c in m.tool_uses()}
    sizes = [
        (calls[r.tool_use_id], block_tokens(r)) for m in messages for r in m.tool_results() if r.tool_use_id in calls
    ]
    largest = sorted(sizes, key=lambda item: -item[1])[:count]
    return [(title(call), size) for call, size in largest]


def title(call: ToolUseBlock) -> str:
    """The call's name and its telling argument, in one line."""
    for key in ("command", "file_path", "notebook_path", "pattern", "url", "query"):
        value = call.input.get(key)
        if isinstance(value, str) and value.strip():
            return f"{call.name} `{one_line(value, 300)}`"
    return call.name


def _tool_tokens(tool: ToolSpec) -> int:
    schema = canonical(tool.input_schema if tool.raw is None else tool.raw)
    return estimate_tokens(tool.name + tool.description + schema)


def without_thinking(message: Message) -> Message:
    """Thinking is bound to the history in front of it: where that changes, it is dropped whole."""
    kept = tuple(b for b in message.content if not isinstance(b, ThinkingBlock | RedactedThinkingBlock))
    return message if len(kept) == len(message.content) else Message(message.role, kept)


def rewritten(before: Sequence[Message], after: Sequence[Message]) -> list[Message]:
    """``after``, message for message a rewriting of ``before``, without the thinking behind the first change."""
    same = next((i for i, (a, b) in enumerate(zip(before, after, strict=True)) if a != b), len(before))
    made = list(after[: same + 1])
    for message in after[same + 1 :]:
        append(made, without_thinking(message))
    return made
