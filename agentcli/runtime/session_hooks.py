"""Hooks around a whole session: SessionStart, SessionEnd and Notification."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

from agentcli.events import Compacted, Emit, Event, Notice, PermissionAsked
from agentcli.ports.permissions import HookEvent, Hooks, HookVerdict
from agentcli.ports.prompt import Moment, Remaining, Reminder

Source = Literal["startup", "resume", "clear", "compact", "fork"]
END_SECONDS = 60.0
"""A hook at the end may ask for so much; nobody waits longer."""


class SessionHooks:
    """Fires them, and passes on what they say.

    ``emit`` takes notices; ``tell(key, text)`` has the model told with the next message.  Nothing waits for a hook but
    the first request (``ready``).
    """

    def __init__(self, hooks: Hooks, emit: Emit, tell: Callable[[str, str], None]) -> None:
        self._hooks = hooks
        self._emit = emit
        self._tell = tell
        self._tasks: set[asyncio.Task[None]] = set()
        self._starting: asyncio.Task[None] | None = None
        self._said: list[str] = []
        """By the SessionStart hooks of this conversation, for the model."""

    def begin(self, source: Source, *, model: str = "", agent: str = "") -> None:
        """A conversation begins.  The hooks run beside everything else."""
        self._said = [] if source in ("startup", "clear") else self._said
        fields = {"source": source, **({"model": model} if model else {}), **({"agent_type": agent} if agent else {})}
        self._starting = self._spawn(HookEvent("SessionStart", source, fields))

    async def ready(self) -> None:
        """Until the SessionStart hooks have said what the model should know.  Cancelled, they go on."""
        if self._starting is not None:
            await asyncio.wait({self._starting})
            self._starting = None

    async def collect(self, moment: Moment, *, paths: Sequence[Path] = ()) -> list[Reminder]:
        """``ports.prompt.ReminderSource``: hooks are told when they have run, by ``tell``."""
        return []

    def rewound(self, remaining: Remaining) -> None:
        """``ports.prompt.Rewindable``: at the beginning, what the hooks said there is told again."""
        if not remaining.messages:
            for context in self._said:
                self._tell("hook:SessionStart", context)

    def hear(self, event: Event) -> None:
        """A listener of the event stream."""
        match event:
            case PermissionAsked():
                words = f"agentcli needs your permission to use {event.name}"
                fields = {"message": words, "notification_type": "permission_prompt"}
                self._spawn(HookEvent("Notification", "permission_prompt", fields))
            case Compacted():
                self.begin("compact")
            case _:
                pass

    async def end(self, reason: Literal["clear", "resume", "prompt_input_exit", "other"]) -> None:
        """The session ends; what is still running is given up."""
        for task in [*self._tasks]:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        try:
            async with asyncio.timeout(END_SECONDS):
                verdict = await self._hooks.fire(HookEvent("SessionEnd", reason, {"reason": reason}))
        except TimeoutError:
            return
        self._say(verdict)

    def _spawn(self, event: HookEvent) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(self._fire(event))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _fire(self, event: HookEvent) -> None:
        verdict = await self._hooks.fire(event)
        self._say(verdict)
        for context in verdict.context:
            self._tell(f"hook:{event.name}", context)
        if event.name == "SessionStart":
            self._said += verdict.context

    def _say(self, verdict: HookVerdict) -> None:
        for message in verdict.messages:
            self._emit(Notice("info", message, "hook"))
