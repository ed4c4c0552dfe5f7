"""How the terminal comes by sessions of our own engine.  What is heavy is loaded when it is first needed."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, cast

from agentcli.commands.base import Command
from agentcli.messages import Json
from agentcli.ports.frontend import SessionHandle, UserInput
from agentcli.ports.model import ModelClient
from agentcli.runtime.options import Resume, SessionOptions
from agentcli.ui.terminal.input.complete import MentionEntry
from agentcli.ui.terminal.statuscommand import StatusSource
from agentcli.ui.terminal.way import Asking, Change, Way

if TYPE_CHECKING:
    from agentcli.runtime.session import Session
    from agentcli.runtime.trusting import TrustQuestion


def engine_way(options: SessionOptions, client: ModelClient | None, question: TrustQuestion | None) -> Way:
    """``client`` takes the place of the Messages API; ``question`` is asked before the first session begins."""
    engine = Engine(options, client)
    return Way(
        start=engine.start,
        restart=engine.restart,
        past=lambda session: tuple(_ours(session).state.messages),
        title=_title,
        prepare=_prepare,
        connect=_connect,
        status_line=_status_line,
        wake=lambda session: _ours(session).waking.next(),
        commands=engine.commands,
        late_command=engine.late_command,
        question=question,
        trust=engine.trust,
        change=engine.change,
        mentions=_mentions,
        agents=lambda session: _ours(session).crew.list(),
        next_at=lambda session: _ours(session).waking.next_at(),
        jobs=lambda session: _ours(session).toolbox.jobs.list(),
        autonomous=lambda session: _ours(session).waking.alive,
    )


class Engine:
    """Opens sessions and knows the present one."""

    def __init__(self, options: SessionOptions, client: ModelClient | None) -> None:
        self._options = options
        self._client = client
        self._session: Session | None = None

    async def start(self) -> SessionHandle:
        # Loaded beside the loop, so that what is typed meanwhile shows at once.
        await asyncio.to_thread(import_module, "agentcli.runtime.build")
        return await self._open(self._options)

    async def restart(self, session_id: str) -> SessionHandle:
        return await self._open(replace(self._options, resume=Resume(query=session_id), session_id=""))

    async def change(self, change: Change) -> SessionHandle:
        present = self._session
        # The same conversation goes on, so its mode does too.
        options = self._options if present is None else replace(self._options, permission_mode=present.gate.mode)
        return await self._open(change(options))

    async def _open(self, options: SessionOptions) -> SessionHandle:
        from agentcli.runtime.build import open_session

        self._session = await open_session(options, client=self._client)
        return self._session

    def trust(self) -> None:
        self._options = replace(self._options, trust=True)

    def commands(self) -> Iterable[Command]:
        """Skills, custom commands and MCP servers' prompts of the present session."""
        from agentcli.commands.mcp import prompt_commands
        from agentcli.commands.skills import slash_commands

        if self._session is None:
            return ()
        return (*slash_commands(self._session.extensions), *prompt_commands(self._session.mcp))

    def late_command(self, name: str) -> Command | None:
        """A prompt of an MCP server that is not connected yet."""
        from agentcli.commands.mcp import late_prompt

        return late_prompt(self._session.mcp, name) if self._session is not None else None


def _ours(session: SessionHandle) -> Session:
    return cast("Session", session)


def _title(session: SessionHandle, tool: str, given: Json) -> str:
    known = _ours(session).toolbox.tools.get(tool)
    return known.title(given) if known else ""


async def _prepare(session: SessionHandle, prompt: UserInput) -> UserInput:
    from agentcli.runtime.mentions import expand_mentions

    return await expand_mentions(prompt, _ours(session))


def _connect(session: SessionHandle, asking: Asking) -> None:
    ours = _ours(session)
    ours.questions.front = asking.questioner
    ours.questions.elicitor = asking.elicitor
    asking.watch_focus(ours.waking.focused if ours.waking.ticker is not None else None)
    if ours.memory is not None:
        ours.memory.ask = asking.outside


def _mentions(session: SessionHandle) -> Sequence[MentionEntry]:
    room = _ours(session).mcp
    return [MentionEntry(m.text, m.description, m.template) for m in room.mentions()] if room is not None else []


def _status_line(session: SessionHandle) -> StatusSource | None:
    from agentcli.runtime.statusline import status_line

    return status_line(_ours(session))
