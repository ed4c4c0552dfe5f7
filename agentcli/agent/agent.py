"""The engine's door: one turn at a time, steered, interrupted and compacted from outside."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from dataclasses import asdict
from typing import Any, TypeVar

from agentcli.agent.aside import ask_aside
from agentcli.agent.compact import CompactPreview
from agentcli.agent.compact_undo import undo_compaction
from agentcli.agent.conversation import Conversation
from agentcli.agent.loop import Turn
from agentcli.agent.queue import SteeringQueue
from agentcli.agent.rooms import Limits, Rooms
from agentcli.agent.state import SessionState
from agentcli.agent.stops import Ending
from agentcli.agent.tally import Tally
from agentcli.errors import ApiError, Bug, TurnError
from agentcli.events import Compacted, Notice, TurnFinished, TurnStarted
from agentcli.messages import Message, TextBlock
from agentcli.ports.frontend import UserInput

T = TypeVar("T")
WRITTEN = 16
"""So many of the newest cache entries are remembered for a resume."""
INTERRUPTION = "The user interrupted the previous turn. Calls without a result were not finished."


class Agent:
    """Runs turns on a session's state.  Everything happens on one event loop; no call blocks it."""

    def __init__(self, state: SessionState, rooms: Rooms, limits: Limits | None = None) -> None:
        self.state = state
        self.rooms = rooms
        self.limits = limits or Limits()
        self.queue = SteeringQueue(rooms.emit)
        self._talk = Conversation(state, rooms, self.limits)
        self._work: asyncio.Task[Any] | None = None
        self._unknown_cost_told = False

    @property
    def busy(self) -> bool:
        """Whether a turn or a compaction is running."""
        return self._work is not None

    async def run_turn(self, prompt: UserInput) -> TurnFinished:
        """One turn, from ``TurnStarted`` to ``TurnFinished``.  Never raises for what ends a turn.

        Cancelled from outside, it interrupts the turn, closes it in order, and raises ``CancelledError`` then.
        """
        self.state.turn += 1
        began = self.rooms.clock.monotonic()
        turn = Turn(self.state, self.rooms, self.limits, talk=self._talk, queue=self.queue)
        self.rooms.emit(TurnStarted(self.state.turn, prompt.text))
        work, outside = await self._worked(turn.run(prompt))
        finished = self._finish(self._ending(work), turn.tally, self.rooms.clock.monotonic() - began)
        if outside:
            raise asyncio.CancelledError
        return finished

    async def compact(self, focus: str = "") -> Compacted | None:
        """``/compact``.  ``None`` when there is nothing to do or it was interrupted; ``TurnError`` if it fails: the
        conversation is untouched then."""
        work, outside = await self._worked(self._talk.compactor.compact("manual", focus=focus))
        self.rooms.journal.sync()
        if outside:
            raise asyncio.CancelledError
        return None if work.cancelled() else work.result()

    async def compact_preview(self, focus: str = "") -> CompactPreview | None:
        """What ``compact`` would send and keep; ``None`` when there is nothing to compact."""
        return await self._talk.compactor.preview(focus)

    async def ask_aside(self, question: str) -> str:
        """Answers a side question, also while a turn runs; the conversation does not change.  ``TurnError``."""
        return await ask_aside(self.state, self.rooms, question)

    def undo_compaction(self) -> int | None:
        """Puts the conversation from before the last compaction back, byte for byte; what was said since leaves it.
        Its tokens; ``None`` when there is none to take back.  ``Bug`` while a turn runs."""
        if self.busy:
            raise Bug("a compaction can't be taken back while a turn is running")
        return undo_compaction(self.state, self.rooms)

    @property
    def compact_threshold(self) -> int | None:
        """Used tokens from which the conversation is compacted by itself; ``None`` where it is not."""
        return self._talk.compactor.guard.threshold()

    def steer(self, prompt: UserInput) -> None:
        """Queues a message for delivery between steps, or with the next turn's prompt."""
        self.queue.add(prompt)

    def take_back(self) -> UserInput | None:
        return self.queue.take_back()

    def interrupt(self) -> None:
        """Ends the running turn or compaction as soon as possible.  Asking again is no harm."""
        if self._work is not None:
            self._work.cancel()

    async def idle(self) -> None:
        """Until no turn and no compaction is running."""
        if self._work is not None:
            await asyncio.wait({self._work})

    def rewind(self, keep: int, blocks: int = 0) -> None:
        """Takes the conversation back to its first ``keep`` messages and the first ``blocks`` blocks of the next one
        (see ``prompt_starts``); nothing is deleted from the transcript.  ``Bug`` while a turn runs."""
        if self.busy:
            raise Bug("a conversation can't be rewound while a turn is running")
        self._talk.rewind(keep, blocks)

    def turn_starts(self) -> list[int]:
        """Indexes of the messages that a person's prompt began, oldest first."""
        return [index for index, block in self.prompt_starts() if block == 0]

    def prompt_starts(self) -> list[tuple[int, int]]:
        """Where a person's prompts begin, oldest first: index of the message, and of the block in it.  That is above 0
        for the prompt behind a compaction's summary, which stands in one message with it (the API wants it so)."""
        found = ((i, m, _behind_summary(m)) for i, m in enumerate(self.state.messages) if m.role == "user")
        return [(i, start) for i, m, start in found if not m.tool_results() and _said(m, start)]

    async def _worked(self, work: Coroutine[Any, Any, T]) -> tuple[asyncio.Task[T], bool]:
        """Runs the work as a task of its own to its end, whatever that is; whether we were cancelled meanwhile."""
        if self._work is not None:
            work.close()
            raise Bug("a turn is already running")
        task = self._work = asyncio.create_task(work)
        outside = False
        try:
            while not task.done():
                try:
                    await asyncio.wait({task})
                except asyncio.CancelledError:
                    outside = True
                    self.interrupt()
        finally:
            self._work = None
        return task, outside

    def _ending(self, work: asyncio.Task[Ending]) -> Ending:
        if work.cancelled():
            return Ending("interrupted")
        match work.exception():
            case None:
                return work.result()
            case ApiError() as error:
                return Ending("api_error", str(error), error.kind, error.status)
            case TurnError() as error:
                return Ending("api_error", str(error), "stream")
            case error:
                text = f"{type(error).__name__}: {error}"
                self.rooms.emit(Notice("error", f"The turn failed unexpectedly. {text}", "bug"))
                return Ending("error", text, "bug")

    def _finish(self, ending: Ending, tally: Tally, duration: float) -> TurnFinished:
        self._talk.settle()
        self._tell_unknown_cost()
        if ending.outcome == "interrupted":
            self._talk.note("interrupted", INTERRUPTION)
        finished = TurnFinished(
            turn=self.state.turn,
            outcome=ending.outcome,
            text=tally.text,
            steps=tally.steps,
            duration=duration,
            api_duration=tally.api_seconds,
            usage=tally.usage,
            cost=tally.cost,
            error=ending.error,
            error_kind=ending.kind,
            error_status=ending.status,
            stop_reason=tally.stop_reason,
            readable=tally.readable,
            read_of_readable=tally.read_of_readable,
            saved=tally.saved,
        )
        self.rooms.journal.append("turn_end", self._record(finished))
        self.rooms.journal.sync()
        self.rooms.emit(finished)
        return finished

    def _tell_unknown_cost(self) -> None:
        if self.limits.max_budget_usd is not None and self.state.cost is None and not self._unknown_cost_told:
            self._unknown_cost_told = True
            text = f"The prices of {self.state.model} are not known: --max-budget-usd can't be kept."
            self.rooms.emit(Notice("warning", text, "unknown_cost"))

    def _record(self, finished: TurnFinished) -> dict[str, Any]:
        """What a resumed session has to know: totals of the session, the window's fill, the cache's known prefixes."""
        state = self.state
        return {
            "turn": finished.turn,
            "outcome": finished.outcome,
            "steps": finished.steps,
            "cost": finished.cost,
            "error": finished.error,
            "usage": {model: asdict(use) for model, use in state.usage.items()},
            "total_cost": state.cost,
            "context_tokens": state.context_tokens,
            "measured": state.measured,
            "written": state.cache.written[-WRITTEN:],
        }


def _behind_summary(message: Message) -> int:
    """The index of the first block behind what a compaction wrote; 0 where there is no summary."""
    summaries = [i for i, b in enumerate(message.content) if isinstance(b, TextBlock) and b.origin == "summary"]
    return summaries[-1] + 1 if summaries else 0


def _said(message: Message, start: int) -> bool:
    """Whether a person's words are in it from this block on."""
    return bool(Message(message.role, message.content[start:]).text().strip())
