"""What is sent and what is kept: every change of the conversation passes here, journal first.

A message grows in pieces (results, then reminders and what was typed meanwhile); the journal holds the pieces in
order, and reading them back joins them to the same message.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from agentcli.agent.calls import CallsDone
from agentcli.agent.clearing import Clearer
from agentcli.agent.compact import Compactor
from agentcli.agent.images_fit import fitted, within_limits
from agentcli.agent.measure import front_tokens
from agentcli.agent.prefix import prefix_record
from agentcli.agent.reminders import blocks, taken_back
from agentcli.agent.rooms import Limits, Rooms
from agentcli.agent.state import SessionState
from agentcli.agent.turn import Answer, cache_observed
from agentcli.conversation import SystemPrompt
from agentcli.events import AssistantMessage, Notice, PromptAccepted, ToolResultsAppended
from agentcli.messages import Block, Message, TextBlock, first_part, message_to_record, repair
from agentcli.ports.frontend import UserInput
from agentcli.ports.model import ModelRequest, ToolSpec
from agentcli.ports.prompt import Reminder, StepContext
from agentcli.text import clean

MARKS = 4
"""At most so many cache entries come from one request."""


class Conversation:
    """The messages of the session state, and everything that may be done to them."""

    def __init__(self, state: SessionState, rooms: Rooms, limits: Limits) -> None:
        self._state = state
        self._rooms = rooms
        clearer = Clearer(state, rooms, lambda messages, intent: self.rewrite(messages, intent=intent))
        self.compactor = Compactor(state, rooms, limits, request=self.request, clearer=clearer)
        self._sent: SystemPrompt | None = None
        """The effective prompt of the last request."""

    async def request(self) -> ModelRequest:
        """The next request: the effective prompt of this step and everything said so far."""
        state = self._state
        self.settle()
        state.tools = with_late(state.tools, self._rooms.late_tools())
        system = await self._rooms.prompt.effective(StepContext(state.model, state.interactive))
        self._rooms.journal.prefix(prefix_record(state, system))
        state.front_tokens = front_tokens(system, state.tools)
        self._sent = system
        return ModelRequest(
            system=system,
            tools=state.tools,
            messages=tuple(state.messages),
            model=state.model,
            conversation=state.cache,
            conversation_id=state.conversation_id,
            effort=state.effort,
            thinking=state.thinking,
            query_source=state.query_source,
            output_schema=state.output_schema,
            intent=state.take_intent(),
        )

    async def accept(self, prompts: Sequence[UserInput]) -> None:
        """The turn's first user message: reminders in front of the person's own words."""
        due = await self._rooms.reminders.collect("before_step" if self._state.messages else "first_message")
        await self._say(due, prompts, steering=False)

    async def complete(self, prompts: Sequence[UserInput], *, note: str = "") -> None:
        """Between steps: what is due and what was typed goes behind the results."""
        if note:
            self.note("engine", note)
        due = await self._rooms.reminders.collect("before_step")
        await self._say(due, prompts, steering=True)

    def note(self, key: str, text: str) -> None:
        """A reminder of the engine's own, for the next user message."""
        self._state.pending.append(Reminder(key, text))

    async def note_touched(self, paths: Sequence[Path]) -> None:
        if paths:
            self._state.pending.extend(await self._rooms.reminders.collect("file_touched", paths=paths))

    def keep(self, answer: Answer, *, partial: bool = False) -> None:
        """Makes the answer part of the conversation.  An empty one is only accounted for."""
        state, report = self._state, answer.report
        if self._sent is not None:  # with what was decided when the request was built (latches)
            self._rooms.journal.prefix(prefix_record(state, self._sent))
        cost = report.cost if report else self._rooms.broken_off(answer.model, answer.usage)
        state.spend(answer.model, answer.usage, cost)
        if answer.message.content:
            state.context_tokens = answer.usage.total_input + answer.usage.output
            state.answered_at = self._rooms.clock.now()
            self._append(
                answer.message,
                model=answer.model,
                stop_reason=answer.stop_reason,
                message_id=answer.message_id,
                partial=partial,
                usage=asdict(answer.usage),
                written=state.cache.written[-MARKS:],
            )
            state.measured = len(state.messages)
            self._rooms.emit(
                AssistantMessage(
                    answer.message, answer.model, answer.stop_reason, answer.usage, answer.message_id, partial
                )
            )
        elif partial:
            self._rooms.journal.append("discard", {"reason": "interrupted"})
        if report is not None:
            self._rooms.emit(cache_observed(report))

    def keep_results(self, done: CallsDone) -> None:
        self._append(done.message)
        for text in done.notes:
            self.note("hook", text)
        self._rooms.emit(ToolResultsAppended(done.message))

    def rewrite(self, messages: Sequence[Message], *, intent: str) -> None:
        """Replaces history; the transcript keeps what it was."""
        records = [message_to_record(m) for m in messages]
        self._rooms.journal.append("clearing", {"intent": intent, "messages": records})
        self._state.replace(messages, intent=intent)

    def rewind(self, keep: int, blocks: int = 0) -> None:
        """Takes the conversation back to its first ``keep`` messages and so many blocks of the next; the transcript
        keeps the rest."""
        self._rooms.journal.append("rewind", {"keep": keep, **({"blocks": blocks} if blocks else {})})
        self._state.replace(first_part(self._state.messages, keep, blocks), intent="rewind")
        taken_back(self._state, self._rooms, restored=False)
        if self._sent is not None:  # a resume from here on must not believe what is told no longer
            self._rooms.journal.prefix(prefix_record(self._state, self._sent))

    def settle(self) -> None:
        """The guard before every request: a conversation that is not valid becomes so, and the journal says how."""
        mended = repair(self._state.messages)
        if mended.notes:
            what = "; ".join(mended.notes)
            self.rewrite(mended.messages, intent=f"repaired: {what}")
            self._rooms.emit(Notice("warning", f"The conversation was repaired: {what}.", "repaired"))
        if (fewer := within_limits(self._state.messages)) is not None:
            self.rewrite(fewer, intent="old images removed")
            text = "There were more images than one request may hold; notes stand in place of the oldest."
            self._rooms.emit(Notice("warning", text, "images_removed"))

    async def _say(self, due: Sequence[Reminder], prompts: Sequence[UserInput], *, steering: bool) -> None:
        pending, self._state.pending[:] = list(self._state.pending), []
        words = await fitted([_clean(b) for p in prompts for b in p.blocks()])
        message = Message("user", (*blocks([*due, *pending]), *words))
        if not message.content:
            return
        self._append(message, **({"steering": True} if steering and words else {}))
        if words:
            self._rooms.emit(PromptAccepted(message, steering))

    def _append(self, message: Message, **extra: object) -> None:
        self._rooms.journal.append("message", {"message": message_to_record(message), **extra})
        self._state.append(message)


def with_late(tools: tuple[ToolSpec, ...], late: Sequence[ToolSpec]) -> tuple[ToolSpec, ...]:
    """The array with what came since; what is in it keeps its place."""
    newer = {spec.name: spec for spec in late}
    return (*(newer.pop(spec.name, spec) for spec in tools), *newer.values())


def _clean(block: Block) -> Block:
    return TextBlock(clean(block.text), block.origin) if isinstance(block, TextBlock) else block
