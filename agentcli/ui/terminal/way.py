"""How a front end comes by its sessions."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentcli.commands.base import Command
from agentcli.messages import Message
from agentcli.ports.frontend import SessionHandle

if TYPE_CHECKING:
    from agentcli.runtime.trusting import TrustQuestion


@dataclass(frozen=True, slots=True)
class Way:
    """``start`` builds the session; ``restart`` one that goes on with the session of that id (``None``: not possible);
    ``past`` are the messages that a session begins with; ``commands`` the slash commands besides the built-in ones,
    asked anew at each use.  ``question`` is what has to be asked before ``start``; a yes calls ``trust``."""

    start: Callable[[], Awaitable[SessionHandle]]
    restart: Callable[[str], Awaitable[SessionHandle]] | None = None
    past: Callable[[SessionHandle], Sequence[Message]] = lambda session: ()
    commands: Callable[[], Iterable[Command]] = tuple
    question: TrustQuestion | None = None
    trust: Callable[[], None] = lambda: None
