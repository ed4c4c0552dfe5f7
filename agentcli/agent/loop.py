"""The loop, on one page: a turn is steps; a step is one request and the calls of its answer.

Before each step the user message is completed (reminders, what was typed meanwhile), the effective prompt is rebuilt
(memoised, so it comes out as the same bytes), the request is sent, the answer kept, its calls run.  The conversation
is valid for the API at every moment; ``asyncio.CancelledError`` at any point leaves it so.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace

from agentcli.agent.calls import CallRunner
from agentcli.agent.conversation import Conversation
from agentcli.agent.mending import Mender
from agentcli.agent.queue import SteeringQueue
from agentcli.agent.rooms import Limits, Rooms
from agentcli.agent.state import SessionState
from agentcli.agent.stops import REFUSED, Course, Ending, Next, faults
from agentcli.agent.tally import Tally, limit_reached
from agentcli.agent.turn import Answer, ModelCall
from agentcli.agent.turn_hooks import TurnHooks
from agentcli.errors import ApiError
from agentcli.events import StepStarted
from agentcli.messages import Message
from agentcli.ports.frontend import UserInput
from agentcli.ports.tools import ToolCall


class Turn:
    """One turn.  ``run`` returns how it ended; it raises ``TurnError`` and ``CancelledError``."""

    def __init__(
        self, state: SessionState, rooms: Rooms, limits: Limits, *, talk: Conversation, queue: SteeringQueue
    ) -> None:
        self._state = state
        self._rooms = rooms
        self._limits = limits
        self._talk = talk
        self._queue = queue
        self._hooks = TurnHooks(rooms, limits, talk)
        self._mender = Mender(state, rooms, talk)
        self._course = Course()
        self.tally = Tally()

    async def run(self, prompt: UserInput) -> Ending:
        """The prompt is accepted, then step follows step until nothing is left to do."""
        if (blocked := await self._hooks.blocked(prompt.text)) is not None:
            return blocked
        await self._talk.accept([*self._queue.drain(), prompt])
        while True:
            if (ending := limit_reached(self._limits, self.tally, self._state.cost)) is not None:
                return ending
            await self._talk.compactor.when_due()
            answer = await self._ask()
            self._talk.keep(answer)
            if answer.stop_reason == "refusal":
                return REFUSED
            if (ending := await self._run_calls(answer)) is not None:
                return ending
            if (ending := await self._go_on(self._course.after(answer))) is not None:
                return ending

    async def _ask(self) -> Answer:
        """One step's request, sent again only where the conversation could be mended."""
        self.tally.steps += 1
        self._state.steps += 1
        self._state.steps_since_todos += 1
        self._rooms.emit(StepStarted(self.tally.steps, self._state.model))
        await asyncio.sleep(0)  # whoever ends the turn because of that event ends it before anything is sent
        while True:
            try:
                return await self._send()
            except ApiError as error:
                if not await self._mender.mended(error):
                    raise

    async def _send(self) -> Answer:
        request = await self._talk.request()
        call = ModelCall(self._rooms.model, self._state, self._rooms.journal, self._rooms.emit)
        began = self._rooms.clock.monotonic()
        try:
            answer = await call.run(request)
        except asyncio.CancelledError:
            self._keep_partial(call.partial())
            raise
        finally:
            self.tally.api_seconds += self._rooms.clock.monotonic() - began
        if answer.stop_reason == "refusal":
            call.discard("refusal")
            answer = replace(answer, message=Message("assistant", ()))
        self.tally.add(answer)
        return answer

    def _keep_partial(self, answer: Answer) -> None:
        self.tally.add(answer)
        self._talk.keep(answer, partial=True)
        if answer.message.tool_uses():
            self._talk.keep_results(self._runner(answer).done())

    async def _run_calls(self, answer: Answer) -> Ending | None:
        if not answer.message.tool_uses():
            return None
        runner = self._runner(answer)
        try:
            done = await runner.run()
        except asyncio.CancelledError:
            self._talk.keep_results(runner.done())
            raise
        self._talk.keep_results(done)
        await self._talk.note_touched(done.touched)
        if done.stop is not None:
            return Ending("hook_stopped", done.stop, "hook")
        return Ending("interrupted", "", "declined") if done.interrupt else None

    def _runner(self, answer: Answer) -> CallRunner:
        calls = [self._rooms.resolve(ToolCall(c.id, c.name, c.input)) for c in answer.message.tool_uses()]
        return CallRunner(self._rooms, calls, faults=faults(answer), parallel=self._limits.parallel_calls)

    async def _go_on(self, step: Next) -> Ending | None:
        """Prepares the next step, or says how the turn ends."""
        match step.kind:
            case "stop":
                return step.ending
            case "again":
                return None
            case "compact":
                await self._mender.compact_once()
            case "end" if (ending := await self._ended()) is not None:
                return ending
            case _:
                pass
        await self._talk.complete(self._queue.drain(), note=step.note)
        return None

    async def _ended(self) -> Ending | None:
        """How the turn ends here; ``None`` where something is left to tell, or a hook objects."""
        if self._queue or await self._rooms.outstanding():
            return None
        return await self._hooks.stopping(self.tally.text)
