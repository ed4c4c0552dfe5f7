"""How a front end comes by its sessions."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, TypeAlias

from agentcli.commands.base import Command
from agentcli.messages import Json, Message
from agentcli.ports.agents import AgentTask
from agentcli.ports.elicitation import Elicitor
from agentcli.ports.frontend import SessionHandle, UserInput
from agentcli.ports.jobs import Job
from agentcli.ports.tools import Questioner
from agentcli.ui.terminal.input.complete import MentionEntry
from agentcli.ui.terminal.statuscommand import StatusSource
from agentcli.ui.terminal.turns import Prepare

if TYPE_CHECKING:
    from agentcli.memory import AskOutside
    from agentcli.runtime.options import SessionOptions
    from agentcli.runtime.trusting import TrustQuestion


Change: TypeAlias = "Callable[[SessionOptions], SessionOptions]"
Wake: TypeAlias = Callable[[SessionHandle], Awaitable[UserInput]]


@dataclass(frozen=True, slots=True)
class Asking:
    """Who is asked: ``outside`` about memory files from outside the project, ``questioner`` what the model asks,
    ``elicitor`` what an MCP server asks.  ``watch_focus`` takes who wants to know whether the user is there (by the
    focus of the terminal's window); ``None`` where nobody does."""

    outside: AskOutside
    questioner: Questioner
    elicitor: Elicitor
    watch_focus: Callable[[Callable[[bool], None] | None], None] = lambda listener: None


@dataclass(frozen=True, slots=True)
class Way:
    """How sessions come about, and what the front end asks of them beside ``SessionHandle``."""

    start: Callable[[], Awaitable[SessionHandle]]
    """Builds the session."""
    restart: Callable[[str], Awaitable[SessionHandle]] | None = None
    """One that goes on with the session of that id; ``None``: not possible."""
    past: Callable[[SessionHandle], Sequence[Message]] = lambda session: ()
    """The messages that a session begins with."""
    title: Callable[[SessionHandle, str, Json], str] = lambda session, tool, given: ""
    """The telling argument of a tool's input."""
    prepare: Prepare | None = None
    """Makes of what was typed what is sent: attaches what it mentions.  ``None``: nothing to do."""
    connect: Callable[[SessionHandle, Asking], None] = lambda session, asking: None
    """Gives the session who answers its questions beside permissions."""
    status_line: Callable[[SessionHandle], StatusSource | None] = lambda session: None
    """A command that takes the built-in status line's place."""
    wake: Wake | None = None
    """Returns when there is reason for a turn that nobody asked for, with its prompt; ``None``: there never is."""
    commands: Callable[[], Iterable[Command]] = tuple
    """Slash commands besides the built-in ones, asked anew at each use."""
    late_command: Callable[[str], Command | None] = lambda name: None
    """A slash command that can't be listed yet, by its name."""
    mentions: Callable[[SessionHandle], Sequence[MentionEntry]] = lambda session: ()
    """What can be mentioned besides files."""
    question: TrustQuestion | None = None
    """What has to be asked before ``start``; a yes calls ``trust``."""
    trust: Callable[[], None] = lambda: None
    change: Callable[[Change], Awaitable[SessionHandle]] | None = None
    """One with the options that this makes of the present ones; ``None``: not possible."""
    agents: Callable[[SessionHandle], Sequence[AgentTask]] = lambda session: ()
    """The subagents of the session."""
    jobs: Callable[[SessionHandle], Sequence[Job]] = lambda session: ()
    """Its commands in the background."""
    next_at: Callable[[SessionHandle], datetime | None] = lambda session: None
    """When a turn is due that the session begins by itself."""
    autonomous: Callable[[SessionHandle], bool] = lambda session: False
    """Whether something goes on in the session, or will, without the user: agents in the background, ticks."""
