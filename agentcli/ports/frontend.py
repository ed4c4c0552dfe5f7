"""Between the runtime and its front ends: what a person typed comes down, choices go up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from agentcli.events import Compacted, EventStream, TurnFinished
from agentcli.messages import Block, TextBlock
from agentcli.ports.permissions import Answer, PermissionMode
from agentcli.ports.tools import Workspace


@dataclass(frozen=True, slots=True)
class UserInput:
    """What the person sends: the text as typed (placeholders expanded) and attached blocks (images)."""

    text: str
    attachments: tuple[Block, ...] = ()

    def blocks(self) -> tuple[Block, ...]:
        words: tuple[Block, ...] = (TextBlock(self.text),) if self.text.strip() else ()
        return self.attachments + words


@dataclass(frozen=True, slots=True)
class Choice:
    """``preview`` gives lines about it, shown while it is the one that Enter would take."""

    value: str
    label: str
    description: str = ""
    preview: Callable[[], Sequence[str]] | None = None


class Dialogs(Protocol):
    """Questions of slash commands.  Without a terminal every one answers ``None`` or ``False``."""

    async def choose(self, title: str, choices: Sequence[Choice], *, current: str | None = None) -> str | None: ...

    async def confirm(self, question: str, *, detail: str = "") -> bool: ...

    async def edit(self, text: str, *, suffix: str = ".md") -> str | None: ...

    async def show(self, text: str) -> None: ...


@dataclass(frozen=True, slots=True)
class SessionStatus:
    """What a status line shows.

    ``context_used`` is tokens of the last request and its answer, ``window`` the model's window; ``cache_read_share``
    is the last request's read tokens by its total input (0 to 1); ``None`` where unknown.
    """

    session_id: str
    model: str
    model_name: str
    effort: str | None
    mode: PermissionMode
    cwd: str
    branch: str | None
    context_used: int
    window: int
    cost: float | None
    cache_read_share: float | None
    turn_running: bool
    queued: int
    title: str = ""


class SessionHandle(Protocol):
    """A running session as its front end holds it.  Events come through ``events``; these calls are the answers.

    Everything runs on one event loop; no call blocks it.
    """

    @property
    def id(self) -> str: ...

    @property
    def events(self) -> EventStream: ...

    @property
    def workspace(self) -> Workspace: ...

    def start(self) -> None:
        """Call once, after subscribing: tells what happened before anybody listened."""

    def status(self) -> SessionStatus: ...

    async def run(self, prompt: UserInput) -> TurnFinished:
        """One turn.  Never raises for what ends a turn (see ``TurnFinished.outcome``)."""

    def steer(self, prompt: UserInput) -> None:
        """Queues a message for delivery between steps of the running turn."""

    def take_back(self) -> UserInput | None:
        """Takes the newest queued message back, for editing."""

    def interrupt(self) -> None:
        """Ends the running turn as soon as possible; the conversation stays valid.  Without a turn: nothing."""

    def answer(self, request_id: str, answer: Answer) -> bool:
        """Answers a ``PermissionAsked``.  False when it has been answered already."""

    def set_mode(self, mode: PermissionMode) -> None: ...

    def cycle_mode(self) -> PermissionMode:
        """default → acceptEdits → plan → (bypassPermissions where it was allowed at the start) → default."""

    async def set_model(
        self, model: str | None = None, *, effort: str | None = None, thinking: str | None = None
    ) -> None:
        """Switches from the next request on.  ``UserError`` for an unknown alias or effort."""

    async def clear(self) -> None:
        """Begins a new conversation (and session file); section cache and latches are reset."""

    async def compact(self, focus: str = "") -> Compacted | None:
        """Replaces the conversation by a summary; ``None`` when there was nothing to do.  ``TurnError`` if it fails,
        with the conversation untouched."""

    async def shell(self, command: str) -> None:
        """``!command``: runs under the user's own authority; output is shown and becomes part of the context."""

    async def close(self) -> None:
        """Ends the turn, children and connections; the journal is whole.  Safe to call twice."""
