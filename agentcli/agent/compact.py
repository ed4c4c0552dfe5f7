"""Compaction: the conversation is replaced by a summary that the model writes of it.

The summary's request is the conversation's own next request (same system, tools and messages) with one instruction
appended, so that everything that had been sent is read from the cache.  Until the summary is there and proves smaller,
nothing is changed.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from agentcli.agent.clearing import Clearer
from agentcli.agent.compact_ask import Summariser, compact_instructions, instruction
from agentcli.agent.compact_guard import BUFFER, Guard
from agentcli.agent.compact_undo import KEPT, remember
from agentcli.agent.measure import block_tokens, tokens, used
from agentcli.agent.reminders import blocks, wrap
from agentcli.agent.rooms import Limits, Rooms
from agentcli.agent.state import SessionState
from agentcli.agent.successor import (
    FILE_TOKENS,
    GO_ON,
    Attachment,
    kept_blocks,
    recent_files,
    successor_blocks,
)
from agentcli.agent.successor_words import TIGHT
from agentcli.errors import TurnError
from agentcli.events import Compacted
from agentcli.messages import Block, Message, TextBlock, message_to_record
from agentcli.ports.model import ModelRequest
from agentcli.ports.permissions import HookEvent
from agentcli.ports.prompt import StepContext
from agentcli.ports.sessions import Earlier
from agentcli.text import one_line

Trigger = Literal["manual", "auto"]


@dataclass(frozen=True, slots=True)
class CompactPreview:
    """What a compaction would do now.  ``sent``: estimated tokens of its request; ``kept``: what stays word for word
    beside the summary, each with its first words and tokens."""

    before: int
    sent: int
    instruction: str
    kept: tuple[tuple[str, int], ...]

    @property
    def kept_tokens(self) -> int:
        return sum(count for _, count in self.kept)


@dataclass(slots=True)
class Compactor:
    """Compacts one session's conversation.  ``request`` builds the conversation's next request; ``clearer`` may take
    old tool results away where the settings want it."""

    state: SessionState
    rooms: Rooms
    limits: Limits
    request: Callable[[], Awaitable[ModelRequest]]
    clearer: Clearer
    guard: Guard = field(init=False)

    def __post_init__(self) -> None:
        self.guard = Guard(self.state, self.rooms, self.limits)

    async def when_due(self) -> Compacted | None:
        """The automatic compaction, or the clearing that comes before it.  A failure is told and the conversation goes
        on; three stop it."""
        if self.limits.clear_results:
            self.clearer.when_cold()
        if not self.guard.due():
            return None
        threshold = self.guard.threshold()
        if self.limits.clear_results and threshold is not None and self.clearer.instead(threshold):
            return None
        try:
            return await self.compact("auto")
        except TurnError as error:
            self.guard.failed(error)
            return None

    async def compact(self, trigger: Trigger, *, focus: str = "") -> Compacted | None:
        """Replaces the conversation.  ``None`` when there is nothing to compact; ``TurnError`` leaves it untouched."""
        before = list(self.state.messages)
        if not any(m.role == "assistant" for m in before):
            return None
        extra = await self._before(trigger, focus)
        request = await self.request()
        # The guard in front of a request may have mended the conversation.
        before = list(request.messages)
        summary = await Summariser(self.state, self.rooms, request).write(before, (focus, *extra))
        earlier = remember(self.state, request.system)
        message, attached = await self._successor(trigger, summary, before)
        sizes = (max(used(self.state), tokens(before)), self.state.front_tokens + tokens([message]))
        self._replace(trigger, summary, message, sizes, earlier)
        self._see(attached)
        compacted = Compacted(trigger, *sizes, summary)
        self.rooms.emit(compacted)
        await self._after(trigger, summary, attached)
        return compacted

    async def preview(self, focus: str = "") -> CompactPreview | None:
        """What ``compact`` would send and keep.  Nothing is asked and nothing changed; ``None`` without an answer to
        summarise."""
        before = list(self.state.messages)
        if not any(m.role == "assistant" for m in before):
            return None
        system = await self.rooms.prompt.effective(StepContext(self.state.model, self.state.interactive))
        asked = instruction((focus, *compact_instructions(system, before)))
        chosen = self._chosen("", before, 0)
        kept = chosen[0][1:] if chosen else ()
        return CompactPreview(
            before=max(used(self.state), tokens(before)),
            sent=used(self.state) + block_tokens(TextBlock(asked)),
            instruction=asked,
            kept=tuple((_first_words(b.text) if isinstance(b, TextBlock) else "image", block_tokens(b)) for b in kept),
        )

    async def _before(self, trigger: Trigger, focus: str) -> tuple[str, ...]:
        fields = {"trigger": trigger, "custom_instructions": focus}
        verdict = await self.rooms.hooks.fire(HookEvent("PreCompact", trigger, fields))
        if verdict.behavior == "deny" or verdict.stop:
            raise TurnError(f"A PreCompact hook blocked the compaction: {verdict.reason}".rstrip(": "))
        return verdict.context

    async def _after(self, trigger: Trigger, summary: str, attached: Sequence[Attachment]) -> None:
        """Instructions for the files that were attached again; then the hooks hear of it."""
        due = await self.rooms.reminders.collect("file_touched", paths=[f.path for f in attached]) if attached else []
        if told := blocks(due):
            message = Message("user", told)
            self.rooms.journal.append("message", {"message": message_to_record(message)})
            self.state.append(message)
        await self.rooms.hooks.fire(HookEvent("PostCompact", trigger, {"trigger": trigger, "compact_summary": summary}))

    def _files(self, before: Sequence[Message]) -> list[Attachment]:
        """A quarter of the room at most, so that the window is not full again at once."""
        threshold = self.guard.threshold()
        room = FILE_TOKENS if threshold is None else min(FILE_TOKENS, threshold // 4)
        return recent_files(before, self.rooms.workspace, room=room)

    async def _successor(
        self, trigger: Trigger, summary: str, before: Sequence[Message]
    ) -> tuple[Message, Sequence[Attachment]]:
        """The new first message, with the reminders of a new beginning."""
        head = blocks(await self.rooms.reminders.collect("after_compaction"))
        tail = (wrap(GO_ON),) if trigger == "auto" and before[-1].tool_results() else ()
        chosen = self._chosen(summary, before, tokens([Message("user", (*head, *tail))]))
        if chosen is None:
            raise TurnError("The summary is not smaller than the conversation, which is therefore unchanged.")
        words, attached = chosen
        return Message("user", (*head, *words, *tail)), attached

    def _chosen(
        self, summary: str, before: Sequence[Message], around: int
    ) -> tuple[tuple[Block, ...], Sequence[Attachment]] | None:
        """Summary and what is kept, with ``around`` tokens beside it.  Where it would not be smaller, or fill half of
        the room, files are left out, and long texts are cut short."""
        files = self._files(before)
        limit = max(tokens(before), self.state.context_tokens - self.state.front_tokens)
        threshold = self.guard.threshold()
        room = limit if threshold is None else min(limit, threshold // 2)
        for attached, part, most in ((files, 1, room), ((), 1, room), ((), TIGHT, limit)):
            kept = kept_blocks(before, self.state.todos, attached, self.rooms.workspace, part=part)
            words = successor_blocks(summary, kept, before)
            if around + tokens([Message("user", words)]) < most:
                return words, attached
        return None

    def _replace(
        self, trigger: Trigger, summary: str, message: Message, sizes: tuple[int, int], earlier: Earlier
    ) -> None:
        self.rooms.journal.append(
            "compaction",
            {
                "trigger": trigger,
                "before_tokens": sizes[0],
                "after_tokens": sizes[1],
                "summary": summary,
                "messages": [message_to_record(message)],
            },
        )
        self.rooms.reset()
        self.state.replace([message], intent="compaction")
        self.state.earlier = [*self.state.earlier, earlier][-KEPT:]
        self.guard.done(automatic=trigger == "auto")

    def _see(self, files: Sequence[Attachment]) -> None:
        """Nothing counts as seen any more but what was attached again."""
        if self.rooms.seen is None:
            return
        self.rooms.seen.forget()
        for file in files:
            self.rooms.seen.note(file.path, file.data, whole=True)


def _first_words(text: str) -> str:
    return one_line(text.partition("\n")[0], 100)


__all__ = ["BUFFER", "CompactPreview", "Compactor", "Trigger"]
