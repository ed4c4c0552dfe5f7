"""How the terminal comes by sessions of our own engine.  What is heavy is loaded when it is first needed."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, cast

from agentcli.messages import Json, Message
from agentcli.ports.frontend import SessionHandle, UserInput
from agentcli.ports.model import ModelClient
from agentcli.runtime.options import Resume, SessionOptions
from agentcli.ui.terminal.statuscommand import StatusSource
from agentcli.ui.terminal.way import Asking, Way

if TYPE_CHECKING:
    from agentcli.commands.base import Command
    from agentcli.runtime.session import Session
    from agentcli.runtime.trusting import TrustQuestion


def engine_way(options: SessionOptions, client: ModelClient | None, question: TrustQuestion | None) -> Way:
    chosen = options
    present: list[Session] = []

    def extra() -> Iterable[Command]:
        from agentcli.commands.skills import slash_commands

        return slash_commands(present[-1].extensions) if present else ()

    async def start() -> SessionHandle:
        # Loaded beside the loop, so that what is typed meanwhile shows at once.
        await asyncio.to_thread(import_module, "agentcli.runtime.build")
        from agentcli.runtime.build import open_session

        return await open_session(chosen, client=client)

    async def restart(session_id: str) -> SessionHandle:
        from agentcli.runtime.build import open_session

        return await open_session(replace(chosen, resume=Resume(query=session_id), session_id=""), client=client)

    def trust() -> None:
        nonlocal chosen
        chosen = replace(options, trust=True)

    def past(session: SessionHandle) -> tuple[Message, ...]:
        return tuple(cast("Session", session).state.messages)

    def title(session: SessionHandle, tool: str, given: Json) -> str:
        known = cast("Session", session).toolbox.tools.get(tool)
        return known.title(given) if known else ""

    async def prepare(session: SessionHandle, prompt: UserInput) -> UserInput:
        from agentcli.runtime.mentions import expand_mentions

        return await expand_mentions(prompt, cast("Session", session))

    def connect(handle: SessionHandle, asking: Asking) -> None:
        session = cast("Session", handle)
        present[:] = [session]
        session.questions.front = asking.questioner
        if session.memory is not None:
            session.memory.ask = asking.outside

    def status_line(session: SessionHandle) -> StatusSource | None:
        from agentcli.runtime.statusline import status_line

        return status_line(cast("Session", session))

    return Way(
        start, restart, past, title, prepare, connect, status_line, commands=extra, question=question, trust=trust
    )
