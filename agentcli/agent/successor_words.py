"""What the person said, kept word for word over any number of compactions."""

from __future__ import annotations

from collections.abc import Sequence

from agentcli.agent.execute import DECLINED
from agentcli.agent.measure import title
from agentcli.messages import Block, Message, TextBlock, ToolResultBlock, ToolUseBlock
from agentcli.text import estimate_tokens, head_tail, one_line, plural

LAST = "The user's last request, word for word:\n\n"
EARLIER = "The user said earlier, word for word:\n\n"
REFUSED = "What the user declined:\n\n"
LAST_CHARACTERS = 40_000
EARLIER_CHARACTERS = 6_000
"""Of one earlier message."""
EARLIER_TOKENS = 8_000
"""For all earlier messages together; the oldest give way."""
TIGHT = 8
"""Where there is little room, everything is cut to this part of it."""
REFUSALS = 10
_LEFT_OUT = "[{} of the user left out here: the summary tells them]"


def fresh_words(messages: Sequence[Message]) -> tuple[Block, ...]:
    """The person's own blocks of a prompt that has no answer yet: they are kept as they are."""
    if not messages or messages[-1].role != "user" or messages[-1].tool_results():
        return ()
    return tuple(
        b for b in messages[-1].content if not (isinstance(b, TextBlock) and b.origin in ("reminder", "summary"))
    )


def words(messages: Sequence[Message]) -> list[str]:
    """All that the person said, oldest first, with what earlier compactions kept of it; a text for each message."""
    found: list[str] = []
    for message in messages:
        if message.role != "user":
            continue
        texts = [b for b in message.content if isinstance(b, TextBlock)]
        found += [kept for b in texts if b.origin == "summary" and (kept := _kept(b.text))]
        if said := [b.text for b in texts if b.origin == "user"]:
            found.append("\n\n".join(said))
    return found


def kept_words(messages: Sequence[Message], *, part: int = 1) -> list[str]:
    """Texts for the successor: earlier messages as far as there is room, then the last request, unless that has no
    answer yet and is kept as it is.  ``part`` divides the room."""
    room = EARLIER_TOKENS // part
    said = words(messages)
    fresh = fresh_words(messages)
    # A prompt without an answer is kept as it is; it may be an image alone.
    earlier = said[:-1] if not fresh or any(isinstance(b, TextBlock) for b in fresh) else said
    last = said[-1] if said and not fresh else ""
    kept: list[str] = []
    for text in reversed(earlier):
        short = cut(text, EARLIER_CHARACTERS // part)
        room -= estimate_tokens(EARLIER + short)
        if room < 0:
            kept.append(_LEFT_OUT.format(plural(len(earlier) - len(kept), "earlier message")))
            break
        kept.append(EARLIER + short)
    return [*reversed(kept), *([LAST + cut(last, LAST_CHARACTERS // part)] if last else [])]


def refusals(messages: Sequence[Message]) -> str:
    """The calls that the person declined, newest last; empty if there are none."""
    calls = {b.id: b for m in messages for b in m.content if isinstance(b, ToolUseBlock)}
    lines: dict[str, None] = {}
    for block in (b for m in messages if m.role == "user" for b in m.content):
        if isinstance(block, TextBlock) and block.origin == "summary" and block.text.startswith(REFUSED):
            lines |= dict.fromkeys(block.text.removeprefix(REFUSED).split("\n"))
        elif isinstance(block, ToolResultBlock) and block.tool_use_id in calls:
            text = "\n".join(c.text for c in block.content if isinstance(c, TextBlock))
            if block.is_error and text.startswith(DECLINED):
                lines[f"- {title(calls[block.tool_use_id])}{one_line(text.removeprefix(DECLINED), 500)}"] = None
    newest = list(lines)[-REFUSALS:]
    return REFUSED + "\n".join(newest) if newest else ""


def cut(text: str, characters: int) -> str:
    """Head and tail of a text that is too long, and how much is missing."""
    found = head_tail(text, characters)
    if not found.dropped:
        return found.head
    return f"{found.head}\n[{plural(found.dropped, 'character')} left out]\n{found.tail}"


def _kept(text: str) -> str:
    for head in (EARLIER, LAST):
        if text.startswith(head):
            return text.removeprefix(head)
    return ""
