"""Thinking and effort, by the rules of each model.

Current models think adaptively; some always, some "between tools" when thinking is off, older ones by a token budget
(models overview and adaptive-thinking pages).  Thinking blocks are bound to the model that wrote them and to everything
that stood in front of them: after a change those that came before it are dropped whole, never altered.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agentcli.conversation import ConversationCache
from agentcli.env import truthy
from agentcli.messages import Block, Message, RedactedThinkingBlock, ThinkingBlock
from agentcli.ports.model import Effort, ModelInfo, ThinkingChoice

BUDGET = 16_000
SMALLEST_BUDGET = 1_024
_ORDER: tuple[Effort, ...] = ("low", "medium", "high", "xhigh", "max")


def thinking_field(
    info: ModelInfo, choice: ThinkingChoice, max_tokens: int, *, env: Mapping[str, str], display: bool = True
) -> dict[str, Any] | None:
    """The request's ``thinking`` value; ``None`` leaves it out.

    ``display`` "summarized" is asked for, since text between tool calls is invisible without it on some models.
    """
    wish = _wish(choice, env)
    adaptive = {"type": "adaptive", **({"display": "summarized"} if display else {})}
    match info.thinking:
        case "none":
            return None
        case "always":
            return adaptive
        case "adaptive":
            return {"type": "disabled"} if wish == "off" else adaptive
        case "between_tools":
            return {"type": "between_tools"} if wish == "off" else adaptive
        case "budget":
            budget = min(_budget(env), max_tokens - SMALLEST_BUDGET)
            if wish != "on" or budget < SMALLEST_BUDGET:
                return None
            return {"type": "enabled", "budget_tokens": budget}


def _wish(choice: ThinkingChoice, env: Mapping[str, str]) -> ThinkingChoice:
    given = env.get("MAX_THINKING_TOKENS", "").strip()
    if truthy("CLAUDE_CODE_DISABLE_THINKING", env) or (given.isdecimal() and int(given) == 0):
        return "off"
    if choice == "default" and given.isdecimal():
        return "on"
    return choice


def _budget(env: Mapping[str, str]) -> int:
    given = env.get("MAX_THINKING_TOKENS", "").strip()
    return max(int(given), SMALLEST_BUDGET) if given.isdecimal() and int(given) > 0 else BUDGET


def cannot_think(thinking: Mapping[str, Any] | None, messages: Sequence[Message]) -> bool:
    """Whether a thinking budget can't be used: an answer whose calls have just got their results must begin with
    thinking then, and this one's was dropped, or another model wrote it without (extended-thinking page)."""
    if thinking is None or thinking["type"] != "enabled" or len(messages) < 2 or not messages[-1].tool_results():
        return False
    return not isinstance(messages[-2].content[0], ThinkingBlock | RedactedThinkingBlock)


def effort_for(info: ModelInfo, effort: Effort | None) -> Effort | None:
    """The effort that the model takes: the same, or the next lower one that it has; ``None`` leaves it out."""
    if effort is None or not info.efforts:
        return None
    lower = [e for e in _ORDER[: _ORDER.index(effort) + 1] if e in info.efforts]
    return lower[-1] if lower else info.efforts[0]


def foreign_before(conversation: ConversationCache, bound: str, count: int) -> int:
    """How many leading messages hold thinking that was thought behind another front.

    ``bound`` names what thinking is bound to in front of the messages: model, tools and system prompt.  Notes in the
    conversation's choices which it is, and at which message it changed; a conversation that has become shorter than
    that (a rewind) moves the mark back.
    """
    choices = conversation.choices
    before: int = min(int(choices.get("foreign_before", 0)), count)
    if choices.get("thinking_bound", bound) != bound:
        before = count
    choices["thinking_bound"] = bound
    if before or "foreign_before" in choices:
        choices["foreign_before"] = before
    return before


def foreign_aside(conversation: ConversationCache, bound: str, count: int) -> int:
    """The same for a question asked aside, which leaves the conversation as it is."""
    choices = conversation.choices
    return min(int(choices.get("foreign_before", 0)), count) if choices.get("thinking_bound") == bound else count


def without_foreign_thinking(messages: Sequence[Message], before: int) -> tuple[Message, ...]:
    """The messages with the thinking of the first ``before`` ones left out; neighbours of a message that becomes empty
    are joined.  The same objects come back where nothing is dropped."""
    if not before:
        return tuple(messages)
    kept: list[Message] = []
    for number, message in enumerate(messages):
        slim = _without(message) if number < before and message.role == "assistant" else message
        if not slim.content:
            continue
        if kept and kept[-1].role == slim.role:
            kept[-1] = Message(slim.role, kept[-1].content + slim.content)
        else:
            kept.append(slim)
    return tuple(kept)


def _without(message: Message) -> Message:
    content: tuple[Block, ...] = tuple(
        b for b in message.content if not isinstance(b, ThinkingBlock | RedactedThinkingBlock)
    )
    return message if len(content) == len(message.content) else Message(message.role, content)
