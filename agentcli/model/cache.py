"""Prompt-cache breakpoints: where the four marks of a request go.  The only setter of ``cache_control``.

Facts (prompt-caching page): at most four marks over tools, system and messages; entries are written only at marks;
from each mark the lookup goes back at most 20 blocks; one-hour marks must stand before five-minute ones.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from agentcli.conversation import CacheScope, ConversationCache, SystemPromptBlock
from agentcli.env import truthy
from agentcli.messages import Block, Message, OpaqueBlock, RedactedThinkingBlock, TextBlock, ThinkingBlock
from agentcli.model.catalog import base_id
from agentcli.ports.model import QuerySource

Ttl: TypeAlias = Literal["5m", "1h"]
TTL_SECONDS: Mapping[Ttl, int] = {"5m": 300, "1h": 3600}
HOUR_SOURCES: frozenset[QuerySource] = frozenset({"repl", "print", "sdk", "compact"})
"""Who may use the one-hour cache where the session is eligible: it costs 2 x to write and pays from the third read on,
which subagents and side questions seldom reach."""
MAX_MARKS = 4
MAX_WRITTEN = 4096
Position: TypeAlias = tuple[int, int]
"""(message, block)."""


def get_cache_control(scope: CacheScope | None, query_source: QuerySource, *, hour: bool = False) -> dict[str, str]:
    """The ``cache_control`` value of one mark.

    ``hour`` says that the session is eligible for the one-hour cache.  ``org`` is the API's default scope and is sent
    as a plain mark; ``global`` needs its beta header.
    """
    control = {"type": "ephemeral"}
    if hour and query_source in HOUR_SOURCES:
        control["ttl"] = "1h"
    if scope == "global":
        control["scope"] = "global"
    return control


def wants_hour(env: Mapping[str, str], *, setting: str | None = None) -> bool:
    """Whether the session is eligible for the one-hour cache: ``ENABLE_PROMPT_CACHING_1H`` or the setting ``1h``,
    unless ``FORCE_PROMPT_CACHING_5M``."""
    if truthy("FORCE_PROMPT_CACHING_5M", env):
        return False
    return truthy("ENABLE_PROMPT_CACHING_1H", env) or setting == "1h"


def latched_ttl(conversation: ConversationCache, query_source: QuerySource, *, hour: bool) -> Ttl:
    """The conversation's ttl: decided at its first request, kept until the conversation is reset."""
    first: Ttl = "1h" if hour and query_source in HOUR_SOURCES else "5m"
    return "1h" if conversation.latch("ttl", first) == "1h" else "5m"


def caching_disabled(model: str, env: Mapping[str, str]) -> bool:
    """``DISABLE_PROMPT_CACHING``, or its form for one family (``DISABLE_PROMPT_CACHING_HAIKU``)."""
    if truthy("DISABLE_PROMPT_CACHING", env):
        return True
    name = base_id(model)
    families = ("opus", "sonnet", "haiku", "fable", "mythos")
    return any(f in name and truthy(f"DISABLE_PROMPT_CACHING_{f.upper()}", env) for f in families)


@dataclass(frozen=True, slots=True)
class BreakpointPlan:
    """Which blocks are marked.  ``tool``: the last rendered tool (only where there is no system prompt)."""

    tool: bool = False
    system: tuple[int, ...] = ()
    messages: tuple[Position, ...] = ()

    @property
    def count(self) -> int:
        return int(self.tool) + len(self.system) + len(self.messages)


def plan_breakpoints(
    system: Sequence[SystemPromptBlock],
    messages: Sequence[Message],
    digests: Sequence[Sequence[str]],
    written: Collection[str],
    *,
    volatile: Collection[str] = (),
    tools: int = 0,
) -> BreakpointPlan:
    """Spends the four marks.

    S: the end of the static region.  Y: the end of the system prompt.  N: the last block of the newest message.
    P: the newest block in front of N whose prefix is known to be written (``digests[m][b]`` is in ``written``), so that
    the lookup hits at once however many blocks a step added.  A conversation's first request has no such entry: its
    slot goes to the end of the leading reminders, which siblings share.  A later request of which nothing is known
    (after a resume) marks the end of the user message before, where the request before had its N.

    Never marked: thinking, empty text, and blocks made of ``volatile`` parts only.
    """
    marks = _system_marks(system, volatile)
    newest = _newest(messages, len(messages))
    chosen: list[Position] = [newest] if newest is not None else []
    if newest is not None:
        second = _known(messages, digests, written, newest) or _shared(messages)
        if second is not None and second < newest:
            chosen.insert(0, second)
    return BreakpointPlan(tool=not marks and tools > 0, system=marks, messages=tuple(chosen))


def _system_marks(system: Sequence[SystemPromptBlock], volatile: Collection[str]) -> tuple[int, ...]:
    usable = [
        i for i, b in enumerate(system) if b.text.strip() and not (b.parts and all(p in volatile for p in b.parts))
    ]
    static = [i for i in usable if system[i].static_end]
    return tuple(sorted({*static[-1:], *usable[-1:]}))


def _known(
    messages: Sequence[Message], digests: Sequence[Sequence[str]], written: Collection[str], newest: Position
) -> Position | None:
    for m in range(newest[0], -1, -1):
        top = newest[1] if m == newest[0] else len(messages[m].content)
        for b in range(top - 1, -1, -1):
            if digests[m][b] in written and markable(messages[m].content[b]):
                return m, b
    return None


def _shared(messages: Sequence[Message]) -> Position | None:
    """For a first request the end of the leading reminders, for a later one the end of the user message before."""
    if any(m.role == "assistant" for m in messages):
        last_answer = max(i for i, m in enumerate(messages) if m.role == "assistant")
        return _newest(messages, last_answer, role="user")
    leading = 0
    content = messages[0].content
    while leading < len(content) and _is_reminder(content[leading]):
        leading += 1
    return (0, leading - 1) if leading else None


def _is_reminder(block: Block) -> bool:
    return isinstance(block, TextBlock) and block.origin == "reminder" and markable(block)


def _newest(messages: Sequence[Message], end: int, *, role: str | None = None) -> Position | None:
    """The last block in front of message ``end`` that can be marked."""
    for m in range(end - 1, -1, -1):
        if role is not None and messages[m].role != role:
            continue
        for b in range(len(messages[m].content) - 1, -1, -1):
            if markable(messages[m].content[b]):
                return m, b
    return None


def markable(block: Block) -> bool:
    """Whether the API takes a mark on the block and an entry there is worth something."""
    match block:
        case ThinkingBlock() | RedactedThinkingBlock() | OpaqueBlock():
            return False
        case TextBlock():
            return bool(block.text.strip())
        case _:
            return True


def mark(block: dict[str, Any], control: Mapping[str, str]) -> dict[str, Any]:
    """A copy of the block with the mark."""
    return {**block, "cache_control": dict(control)}


def note_written(conversation: ConversationCache, digests: Sequence[str]) -> None:
    """The answer has begun: the API now holds entries for these prefixes."""
    for digest in digests:
        if digest not in conversation.written:
            conversation.written.append(digest)
    del conversation.written[:-MAX_WRITTEN]
