"""A session that plays events: what a front end sees of an engine, without one."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from agentcli.errors import UserError
from agentcli.events import (
    Compacted,
    ConversationCleared,
    Event,
    EventStream,
    ModeChanged,
    ModelChanged,
    PermissionResolved,
    PromptAccepted,
    QueueChanged,
    TextDelta,
    ToolOutput,
    TurnFinished,
    TurnStarted,
)
from agentcli.messages import Usage, user
from agentcli.ports.frontend import SessionStatus, UserInput
from agentcli.ports.permissions import Answer, PermissionMode
from agentcli.ports.tools import Workspace

if TYPE_CHECKING:
    from agentcli.memory import MemoryRoom
    from agentcli.ui.terminal.way import Asking

STATUS = SessionStatus(
    session_id="s1",
    model="claude-test-1",
    model_name="Test 1",
    effort="high",
    mode="default",
    cwd="/code/sample",
    branch="main",
    context_used=45_000,
    window=200_000,
    cost=0.1234,
    cache_read_share=0.92,
    turn_running=False,
    queued=0,
)
MODES: tuple[PermissionMode, ...] = ("default", "acceptEdits", "plan")


@dataclass(frozen=True)
class Pause:
    """Waits until the test sets the event of this name."""

    name: str


Script = Callable[["ScriptedSession", UserInput], Awaitable[None]]


class ScriptedSession:
    """``scripts`` are consumed turn by turn; each is a list of events and ``Pause``s.  Without one the turn answers
    ``echo: <text>``.  Every call of the front end is recorded."""

    def __init__(self, scripts: list[list[Event | Pause]] | None = None, directory: Path | None = None) -> None:
        self.id = "s1"
        self.events = EventStream()
        root = directory or Path("/code/sample")
        self.workspace = Workspace(root, root)
        self._scripts = list(scripts or [])
        self._pauses: dict[str, asyncio.Event] = {}
        self.status_value = STATUS
        self.received: list[UserInput] = []
        self.answers: dict[str, Answer] = {}
        self.shell_commands: list[str] = []
        self.models: list[tuple[str | None, str | None]] = []
        self.focus: list[str] = []
        self.queue: list[UserInput] = []
        self.cleared = 0
        self.trusted = False
        self.memory: MemoryRoom | None = None
        self.asking: Asking
        self.closed = 0
        self.started = 0
        self._turn: asyncio.Task[None] | None = None
        self._number = 0
        self._interrupted = False

    def start(self) -> None:
        self.started += 1

    def status(self) -> SessionStatus:
        running = self._turn is not None and not self._turn.done()
        return replace(self.status_value, turn_running=running, queued=len(self.queue))

    def pause(self, name: str) -> asyncio.Event:
        return self._pauses.setdefault(name, asyncio.Event())

    def go_on(self, name: str) -> None:
        self.pause(name).set()

    async def run(self, prompt: UserInput) -> TurnFinished:
        self.received.append(prompt)
        self._number += 1
        self._interrupted = False
        self.events.emit(TurnStarted(self._number, prompt.text))
        script = self._scripts.pop(0) if self._scripts else [TextDelta(f"echo: {prompt.text}")]
        self._turn = asyncio.create_task(self._play(script))
        try:
            await self._turn
        except asyncio.CancelledError:
            if not self._interrupted:
                raise
        outcome = "interrupted" if self._interrupted else "completed"
        finished = TurnFinished(self._number, outcome, "", 1, 1.5, 1.0, Usage(output=10), 0.01)
        self.events.emit(finished)
        return finished

    async def _play(self, script: list[Event | Pause]) -> None:
        for event in script:
            if isinstance(event, Pause):
                await self.pause(event.name).wait()
                self._deliver()
            else:
                self.events.emit(event)
                await asyncio.sleep(0)

    def _deliver(self) -> None:
        if self.queue:
            words = "\n\n".join(q.text for q in self.queue)
            self.queue.clear()
            self.events.emit(QueueChanged(()))
            self.events.emit(PromptAccepted(user(words), steering=True))

    def steer(self, prompt: UserInput) -> None:
        self.queue.append(prompt)
        self.events.emit(QueueChanged(tuple(q.text for q in self.queue)))

    def take_back(self) -> UserInput | None:
        if not self.queue:
            return None
        taken = self.queue.pop()
        self.events.emit(QueueChanged(tuple(q.text for q in self.queue)))
        return taken

    def interrupt(self) -> None:
        if self._turn and not self._turn.done():
            self._interrupted = True
            self._turn.cancel()

    def answer(self, request_id: str, answer: Answer) -> bool:
        if request_id in self.answers:
            return False
        self.answers[request_id] = answer
        self.events.emit(PermissionResolved(request_id, answer.allowed))
        self.go_on(request_id)
        return True

    def set_mode(self, mode: PermissionMode) -> None:
        self.status_value = replace(self.status_value, mode=mode)
        self.events.emit(ModeChanged(mode))

    def cycle_mode(self) -> PermissionMode:
        following = MODES[(MODES.index(self.status_value.mode) + 1) % len(MODES)]
        self.set_mode(following)
        return following

    async def set_model(
        self, model: str | None = None, *, effort: str | None = None, thinking: str | None = None
    ) -> None:
        if model == "nonsense":
            raise UserError("There is no model nonsense.")
        self.models.append((model, effort))
        self.events.emit(ModelChanged(model or self.status_value.model, effort))

    async def clear(self) -> None:
        self.cleared += 1
        self.events.emit(ConversationCleared("s2"))

    async def compact(self, focus: str = "") -> Compacted | None:
        self.focus.append(focus)
        event = Compacted("manual", 50_000, 4_000, "summary")
        self.events.emit(event)
        return event

    async def shell(self, command: str) -> None:
        self.shell_commands.append(command)
        self.events.emit(ToolOutput("user-1", f"ran {command}\n"))

    async def close(self) -> None:
        self.closed += 1
