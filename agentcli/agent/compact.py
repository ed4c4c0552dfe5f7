"""Compaction: the conversation is replaced by a summary that the model writes of it.

The summary's request is the conversation's own next request (same system, tools and messages) with one instruction
appended, so that everything that had been sent is read from the cache.  Until the summary is there and proves smaller,
nothing is changed.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from agentcli.agent.measure import tokens, used, without_thinking
from agentcli.agent.reminders import blocks, wrap
from agentcli.agent.rooms import Limits, Rooms
from agentcli.agent.state import SessionState
from agentcli.agent.successor import GO_ON, Attachment, recent_files, summary_blocks
from agentcli.agent.turn import Answer, ModelCall
from agentcli.errors import ApiError, TurnError
from agentcli.events import CacheObserved, Compacted, Event, FallbackUsed, Notice, RetryScheduled
from agentcli.messages import (
    Json,
    Message,
    TextBlock,
    append,
    message_to_record,
)
from agentcli.ports.model import ModelRequest
from agentcli.ports.permissions import HookEvent
from agentcli.ports.sessions import EntryKind, PrefixRecord

Trigger = Literal["manual", "auto"]
BUFFER = 13_000
"""Tokens kept free beside the longest answer."""
WARNING = 20_000
"""So many tokens before the threshold the user is told."""
TRIES = 3
INSTRUCTION = Path(__file__).with_name("compact.md")


class _Unrecorded:
    """The summary's stream is no part of the transcript."""

    def append(self, kind: EntryKind, data: Json) -> None:
        return None

    def prefix(self, record: PrefixRecord) -> None:
        return None

    def sync(self) -> None:
        return None


@dataclass(slots=True)
class Compactor:
    """Compacts one session's conversation.  ``request`` builds the conversation's next request."""

    state: SessionState
    rooms: Rooms
    limits: Limits
    request: Callable[[], Awaitable[ModelRequest]]
    failures: int = 0
    warned: bool = False

    def threshold(self) -> int | None:
        """Used tokens from which the automatic compaction is due; ``None`` where it is off or the window unknown."""
        if not self.limits.auto_compact or self.rooms.model_info is None:
            return None
        info = self.rooms.model_info(self.state.model)
        if self.limits.compact_percent:
            return info.window * min(self.limits.compact_percent, 100) // 100
        # A small local window may be smaller than its own reserve: half of it is always used.
        return max(info.window - info.max_output - BUFFER, info.window // 2)

    def due(self) -> bool:
        """Whether the automatic compaction has to run before the next request; warns once when it is near."""
        threshold = self.threshold()
        if threshold is None or self.failures >= TRIES:
            return False
        now = used(self.state)
        near = threshold - min(WARNING, threshold // 10)
        if now >= near and not self.warned:
            self.warned = True
            text = f"The context is nearly full ({now:,} tokens); at {threshold:,} it is compacted. Or now: /compact."
            self.rooms.emit(Notice("info", text, "context_low"))
        return now >= threshold

    async def when_due(self) -> Compacted | None:
        """The automatic compaction.  A failure is told and the conversation goes on; three stop it."""
        if not self.due():
            return None
        try:
            return await self.compact("auto")
        except TurnError as error:
            self.failures += 1
            more = "" if self.failures < TRIES else " No further automatic compaction is tried; use /compact or /clear."
            self.rooms.emit(Notice("warning", f"The automatic compaction failed: {error}{more}", "compaction_failed"))
            return None

    async def compact(self, trigger: Trigger, *, focus: str = "") -> Compacted | None:
        """Replaces the conversation.  ``None`` when there is nothing to compact; ``TurnError`` leaves it untouched."""
        before = list(self.state.messages)
        if not any(m.role == "assistant" for m in before):
            return None
        extra = await self._before(trigger, focus)
        summary = await self._summarise(before, focus, extra)
        files = recent_files(before, self.rooms.workspace)
        message, attached = await self._successor(trigger, summary, before, files)
        sizes = (max(used(self.state), tokens(before)), tokens([message]))
        self._replace(trigger, summary, message, sizes)
        self._see(attached)
        await self.rooms.hooks.fire(HookEvent("PostCompact", trigger, {"trigger": trigger, "compact_summary": summary}))
        compacted = Compacted(trigger, *sizes, summary)
        self.rooms.emit(compacted)
        return compacted

    async def _before(self, trigger: Trigger, focus: str) -> tuple[str, ...]:
        fields = {"trigger": trigger, "custom_instructions": focus}
        verdict = await self.rooms.hooks.fire(HookEvent("PreCompact", trigger, fields))
        if verdict.behavior == "deny" or verdict.stop:
            raise TurnError(f"A PreCompact hook blocked the compaction: {verdict.reason}".rstrip(": "))
        return verdict.context

    async def _summarise(self, messages: Sequence[Message], focus: str, extra: tuple[str, ...]) -> str:
        asked = INSTRUCTION.read_text(encoding="utf-8").strip()
        wishes = "\n".join(w for w in (focus.strip(), *extra) if w)
        instruction = f"{asked}\n\nKeep in particular:\n{wishes}" if wishes else asked
        request = await self.request()
        sent = list(messages)
        problem = "it gave no summary"
        for _ in range(TRIES):
            asking = list(sent)
            append(asking, Message("user", (TextBlock(instruction, "summary"),)))
            try:
                answer = await self._answer(replace(request, messages=tuple(asking)))
            except ApiError as error:
                if error.kind != "prompt_too_long":
                    raise
                problem = str(error)
                sent = without_oldest(sent)
                continue
            text = answer.message.text().strip()
            if text and answer.stop_reason in ("end_turn", "stop_sequence", "tool_use", None):
                return text
            problem = f"it gave no whole summary (stop reason {answer.stop_reason})"
        raise TurnError(f"The summary could not be made: {problem}. The conversation is unchanged.")

    async def _answer(self, request: ModelRequest) -> Answer:
        intent = request.intent or "compaction"
        request = replace(request, query_source="compact", intent=intent, output_schema=None)
        answer = await ModelCall(self.rooms.model, self.state, _Unrecorded(), self._emit_quietly).run(request)
        report = answer.report
        self.state.spend(answer.model, answer.usage, report.cost if report else None)
        if report is not None:
            use = report.usage
            self.rooms.emit(
                CacheObserved(
                    read=use.cache_read,
                    readable=report.readable,
                    written=use.cache_write,
                    uncached=use.input,
                    cost=report.cost,
                    saved=report.saved,
                    cause=report.cause,
                    expected=report.expected,
                    alert=report.alert,
                )
            )
        return answer

    def _emit_quietly(self, event: Event) -> None:
        if isinstance(event, RetryScheduled | FallbackUsed | Notice):
            self.rooms.emit(event)

    async def _successor(
        self, trigger: Trigger, summary: str, before: Sequence[Message], files: Sequence[Attachment]
    ) -> tuple[Message, Sequence[Attachment]]:
        """The new first message.  Files are left out where with them it would not be smaller."""
        head = blocks(await self.rooms.reminders.collect("after_compaction"))
        tail = (wrap(GO_ON),) if trigger == "auto" and before[-1].tool_results() else ()
        limit = max(tokens(before), self.state.context_tokens)
        for attached in (files, ()):
            words = summary_blocks(summary, before, self.state.todos, attached)
            message = Message("user", (*head, *words, *tail))
            if tokens([message]) < limit:
                return message, attached
        raise TurnError("The summary is not smaller than the conversation, which is therefore unchanged.")

    def _replace(self, trigger: Trigger, summary: str, message: Message, sizes: tuple[int, int]) -> None:
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
        self.failures = 0
        self.warned = False

    def _see(self, files: Sequence[Attachment]) -> None:
        """Nothing counts as seen any more but what was attached again."""
        if self.rooms.seen is None:
            return
        self.rooms.seen.forget()
        for file in files:
            if file.text is not None:
                self.rooms.seen.note(file.path, file.data, whole=True)


def without_oldest(messages: Sequence[Message]) -> list[Message]:
    """Without about the older quarter, cut at a prompt where there is one, else between whole steps.

    Thinking is dropped: it is bound to the history in front of it.
    """
    goal = tokens(messages) * 3 // 4
    plain = [m for m in (without_thinking(m) for m in messages) if m.content]
    prompts = [i for i, m in enumerate(plain) if i and m.role == "user" and not m.tool_results()]
    start = next((i for i in prompts if tokens(plain[i:]) <= goal), None)
    if start is not None:
        return plain[start:]
    answers = [i for i, m in enumerate(plain) if i > 1 and m.role == "assistant"]
    step = next((i for i in answers if tokens(plain[i:]) <= goal), answers[-1] if answers else 1)
    return [plain[0], *plain[step:]]
