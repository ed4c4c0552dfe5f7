"""All calls of one answer: who runs beside whom, and one message with their results.

Neighbouring ``read`` calls run in parallel, and so do neighbouring ``agent`` calls; a ``write`` call runs alone, after
everything in front of it and before everything behind it.  The results stand in the order of the calls.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from agentcli.agent.execute import CallLife, CallOutcome
from agentcli.agent.rooms import Rooms
from agentcli.messages import Message
from agentcli.ports.tools import Effect, ToolCall


@dataclass(frozen=True, slots=True)
class CallsDone:
    """``message`` holds one result per call, in order."""

    message: Message
    touched: tuple[Path, ...]
    notes: tuple[str, ...]
    interrupt: bool
    stop: str | None


class CallRunner:
    """Runs the calls of one answer.  Cancelled, ``done`` is complete all the same."""

    def __init__(
        self, rooms: Rooms, calls: Sequence[ToolCall], *, faults: Mapping[str, str], parallel: int = 10
    ) -> None:
        self._rooms = rooms
        self._calls = calls
        self._faults = faults
        self._slots = asyncio.Semaphore(parallel)
        self._lives = [CallLife(rooms, c, fault=faults.get(c.id, "")) for c in calls]

    async def run(self) -> CallsDone:
        pairs = zip(self._calls, self._lives, strict=True)
        for effect, group in groupby(pairs, key=lambda pair: self._effect(pair[0])):
            lives = [life for _, life in group]
            batches: Iterable[list[CallLife]] = [lives] if effect != "write" else [[life] for life in lives]
            for batch in batches:
                await self._batch(batch)
                if self._halted(batch):
                    return self.done()
        return self.done()

    def done(self) -> CallsDone:
        """Closes the calls that have no result yet as interrupted."""
        outcomes: list[CallOutcome] = [life.outcome or life.cancelled() for life in self._lives]
        return CallsDone(
            message=Message("user", tuple(o.block for o in outcomes)),
            touched=tuple(dict.fromkeys(p for o in outcomes for p in o.touched)),
            notes=tuple(n for o in outcomes for n in o.notes),
            interrupt=any(o.interrupt for o in outcomes),
            stop=next((o.stop for o in outcomes if o.stop is not None), None),
        )

    async def _batch(self, lives: list[CallLife]) -> None:
        async with asyncio.TaskGroup() as group:
            for life in lives:
                group.create_task(self._one(life))

    async def _one(self, life: CallLife) -> None:
        async with self._slots:
            await life.run()

    def _halted(self, batch: list[CallLife]) -> bool:
        return any(life.outcome and (life.outcome.interrupt or life.outcome.stop is not None) for life in batch)

    def _effect(self, call: ToolCall) -> Effect:
        tool = self._rooms.tools.get(call.name)
        if tool is None or call.id in self._faults:
            return "read"  # never runs: its error result needs no place in the order
        try:
            return tool.effect(call.input)
        except Exception:  # an input that makes the judgement fail: the cautious answer; the run will name the fault
            return "write"
