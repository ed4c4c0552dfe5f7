"""What a slash command is."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from agentcli.i18n import Texts
from agentcli.ports.frontend import Dialogs, UserInput

if TYPE_CHECKING:
    from agentcli.runtime.options import SessionOptions
    from agentcli.runtime.session import Session


@dataclass(frozen=True, slots=True)
class CommandContext:
    """``commands`` are all that the user can call, ``texts`` the interface's language."""

    session: Session
    dialogs: Dialogs
    commands: tuple[Command, ...] = ()
    texts: Texts = field(default_factory=Texts)


@dataclass(frozen=True, slots=True)
class CommandResult:
    """``text`` is Markdown for the user (never sent to the model), ``prompt`` a user message that a turn is run with,
    ``exit`` ends the session, ``copy`` is put on the clipboard, ``resume`` is the id of a session to go on with in
    place of this one, ``change`` makes of this one's options those of a session that takes its place, ``theme`` is the
    name of the colours to change to, ``draft`` is put into the input line."""

    text: str = ""
    prompt: UserInput | None = None
    exit: bool = False
    copy: str = ""
    resume: str = ""
    theme: str = ""
    draft: UserInput | None = None
    change: Callable[[SessionOptions], SessionOptions] | None = None


@dataclass(frozen=True, slots=True)
class Command:
    """``run(context, arguments)``; ``arguments`` is the rest of the line, stripped.  ``while_running``: may be used
    while the agent works.  Errors that the user can mend are raised as ``errors.UserError``."""

    name: str
    description: str
    run: Callable[[CommandContext, str], Awaitable[CommandResult]]
    aliases: tuple[str, ...] = ()
    argument_hint: str = ""
    while_running: bool = False
