"""A running session: the front end's handle on the engine (``ports.frontend.SessionHandle``)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from agentcli.agent.agent import Agent
from agentcli.agent.state import SessionState
from agentcli.agent.subagent_crew import Crew
from agentcli.checkpoints import CheckpointRoom
from agentcli.errors import UserError
from agentcli.events import (
    CacheObserved,
    Compacted,
    Event,
    EventStream,
    Notice,
    TodosChanged,
    TurnFinished,
)
from agentcli.extend.room import Extensions
from agentcli.mcp import McpRoom
from agentcli.memory import MemoryRoom
from agentcli.messages import Json
from agentcli.model.client import AnthropicClient
from agentcli.model.monitor import CacheMonitor, SwitchPrice
from agentcli.model.usage import Ledger
from agentcli.permissions.broker import Broker
from agentcli.permissions.gate import Gate
from agentcli.ports.frontend import SessionStatus, UserInput
from agentcli.ports.model import ModelClient, ModelInfo
from agentcli.ports.permissions import Answer, PermissionMode
from agentcli.ports.tools import Workspace
from agentcli.prompt.source import PromptSource
from agentcli.runtime import anew
from agentcli.runtime.asking import Questions
from agentcli.runtime.directory import SessionDirectory
from agentcli.runtime.ending import end
from agentcli.runtime.extended import Extended
from agentcli.runtime.figures import status_of, usage_by_model
from agentcli.runtime.journal import CurrentJournal
from agentcli.runtime.models import Models
from agentcli.runtime.switching import switch
from agentcli.runtime.toolbox import ContextFactory, Toolbox
from agentcli.runtime.waking import Waking
from agentcli.runtime.warming import Warming, warm
from agentcli.runtime.world import World
from agentcli.sessions import OpenSession, SessionStore

CYCLE: tuple[PermissionMode, ...] = ("default", "acceptEdits", "plan")


@dataclass(slots=True, kw_only=True)
class Session:
    """Everything of one session.  ``build.open_session`` makes it; ``close`` ends it.

    ``monitor`` and ``ledger`` are for ``/cache``, ``/cost`` and the status line, ``prompt`` for ``agentcli prompt``.
    """

    world: World
    events: EventStream
    state: SessionState
    agent: Agent
    gate: Gate
    broker: Broker
    prompt: PromptSource
    client: ModelClient
    models: Models
    monitor: CacheMonitor
    ledger: Ledger
    toolbox: Toolbox
    contexts: ContextFactory
    store: SessionStore
    journal: CurrentJournal
    opened: OpenSession
    directory: SessionDirectory
    checkpoints: CheckpointRoom
    """What files were, for ``/rewind`` and ``/diff``."""
    memory: MemoryRoom | None
    extended: Extended
    """Hooks, skills, commands, agents and styles at work."""
    mcp: McpRoom | None
    """The MCP servers, where any are configured."""
    crew: Crew
    """The subagents."""
    questions: Questions
    """Where a front end that can ask the user puts itself: ``questions.front``."""
    waking: Waking
    """What begins a turn although the user said nothing; for the front end, see ``Waking.next``."""
    allow_bypass: bool
    title: str = ""
    start_notices: list[str] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    """What the API has counted for ``/context``, by content."""
    closed: bool = False
    warming: Warming | None = None
    preparing: asyncio.Task[None] | None = None
    """What the running turn waits for before it begins."""
    last_turn: TurnFinished | None = None
    """How the newest turn ended, and what it took."""
    cache_read_share: float | None = None
    """Read tokens by total input of the last request (0 to 1)."""

    # --- what it is -------------------------------------------------------------------------------------------------

    @property
    def id(self) -> str:
        return self.state.session_id

    @property
    def extensions(self) -> Extensions:
        """What ``.claude`` directories bring."""
        return self.extended.extensions

    @property
    def workspace(self) -> Workspace:
        return self.world.workspace

    @property
    def info(self) -> ModelInfo:
        """The catalog's entry for the session's model."""
        return self.models.info(self.state.model)

    def status(self) -> SessionStatus:
        share, mode = self.cache_read_share, self.gate.mode
        return status_of(self.agent, self.info, self.workspace, mode=mode, share=share, title=self.title)

    def model_usage(self) -> dict[str, Mapping[str, Any]]:
        """Per model, under the field names of the documented ``modelUsage``."""
        return usage_by_model(self.ledger, self.models)

    def run_cost(self) -> float | None:
        """US dollars of this process's requests, subagents and compaction too; ``None`` where a price is unknown."""
        total = self.ledger.total
        return None if total.unpriced else total.cost

    def call_input(self, tool_use_id: str) -> Json:
        """The input of a call of this conversation; empty when there is none of that id."""
        for message in reversed(self.state.messages):
            for call in message.tool_uses():
                if call.id == tool_use_id:
                    return call.input
        return {}

    def start(self) -> None:
        """Call once, after subscribing: tells what happened before anybody listened."""
        self.toolbox.shell.prepare()
        if isinstance(self.client, AnthropicClient):
            self.warming = warm(self, self.client)
        if self.mcp is not None:
            self.mcp.start(sent=self.state.tools if self.opened.loaded else ())
            for entry in self.mcp.waiting():
                self.start_notices.append(f"MCP server {entry.name} of this project waits for your approval: /mcp")
        self.extended.begin("resume" if self.opened.loaded else "startup", model=self.state.model)
        for text in self.start_notices:
            self.events.emit(Notice("warning", text, "start"))
        self.start_notices.clear()
        if self.state.todos:
            self.events.emit(TodosChanged(self.state.todos))

    def warn(self, text: str) -> None:
        """A warning of a room, at any time."""
        self.events.emit(Notice("warning", text, "warning"))

    def hear(self, event: Event) -> None:
        """Keeps what the status line needs of the stream."""
        if isinstance(event, TurnFinished):
            self.last_turn = event
        if isinstance(event, CacheObserved):
            total = event.read + event.written + event.uncached
            self.cache_read_share = event.read / total if total else None

    # --- turns ------------------------------------------------------------------------------------------------------

    async def run(self, prompt: UserInput) -> TurnFinished:
        """One turn.  Never raises for what ends a turn (see ``TurnFinished.outcome``)."""
        anew.reload_settings(self)
        prompt = self.waking.opened_with(prompt)
        if isinstance(self.client, AnthropicClient):
            self.client.new_turn()
        preparing = self.preparing = asyncio.create_task(self._prepare(prompt))
        await asyncio.wait({preparing})
        if preparing.cancelled():  # Esc while a hook or a server was waited for: the turn ends as it begins
            asyncio.get_running_loop().call_soon(self.agent.interrupt)
        else:
            preparing.result()
        self.checkpoints.turn_begins(prompt.text)
        try:
            return await self.agent.run_turn(prompt)
        finally:
            self.extended.turn_ended()
            await self.checkpoints.turn_ended()

    async def _prepare(self, prompt: UserInput) -> None:
        """What the first request waits for: SessionStart hooks, and servers that the prompt names."""
        await self.extended.turn_begins()
        if self.mcp is not None:
            await self.mcp.wait_named(prompt.text)

    def steer(self, prompt: UserInput) -> None:
        self.agent.steer(prompt)

    def take_back(self) -> UserInput | None:
        return self.agent.take_back()

    def interrupt(self) -> None:
        """Ends the turn and every subagent; in proactive mode, also what the agent does on its own."""
        self.waking.stop()
        if self.preparing is not None:
            self.preparing.cancel()
        self.agent.interrupt()
        self.crew.interrupt()

    def answer(self, request_id: str, answer: Answer) -> bool:
        return self.broker.answer(request_id, answer)

    async def shell(self, command: str) -> None:
        """``!command``: runs under the user's own authority; what it printed goes with the next message."""
        from agentcli.runtime.usershell import run_for_user

        await run_for_user(
            command,
            self.toolbox.shell,
            self.workspace,
            contexts=self.contexts,
            state=self.state,
            emit=self.events.emit,
        )

    # --- choices ----------------------------------------------------------------------------------------------------

    def set_mode(self, mode: PermissionMode) -> None:
        """``UserError`` for ``bypassPermissions`` where the start did not allow it."""
        if mode == "bypassPermissions" and not self.allow_bypass:
            raise UserError("bypassPermissions has to be allowed at the start: --allow-dangerously-skip-permissions")
        self.gate.set_mode(mode)

    def cycle_mode(self) -> PermissionMode:
        modes = (*CYCLE, "bypassPermissions") if self.allow_bypass else CYCLE
        now = self.gate.mode
        following = modes[(modes.index(now) + 1) % len(modes)] if now in modes else "default"
        self.set_mode(following)
        return following

    async def set_model(
        self, model: str | None = None, *, effort: str | None = None, thinking: str | None = None
    ) -> None:
        if self.agent.busy:
            raise UserError("The model can be switched when the turn is over; Esc ends it.")
        state, models, prompt = self.state, self.models, self.prompt
        self.events.emit(switch(state, models, prompt, model=model, effort=effort, thinking=thinking))
        if self.warming is not None:
            self.warming.ask(state.model)

    def switch_price(self, model: str) -> SwitchPrice:
        """What the next request costs more on that model (alias or id): it has nothing of this conversation cached."""
        return self.monitor.switch_price(self.models.resolve(model), self.state.conversation_id)

    def rename(self, title: str) -> None:
        self.title = title.strip()
        self.journal.append("title", {"title": self.title})

    # --- the conversation -------------------------------------------------------------------------------------------

    async def clear(self) -> None:
        """A new conversation in a new session file; the old one stays resumable."""
        await anew.clear(self)

    async def compact(self, focus: str = "") -> Compacted | None:
        return await self.agent.compact(focus)

    async def ask_aside(self, question: str) -> str:
        """The answer to a side question, of which nothing stays in the conversation.  ``TurnError``."""
        return await self.agent.ask_aside(question)

    def undo_compaction(self) -> int | None:
        """Puts the conversation from before the last compaction back, byte for byte; what was said since leaves it.
        Its tokens; ``None`` when there is none to take back."""
        if self.agent.busy:
            raise UserError("A compaction can be taken back when the turn is over; Esc ends it.")
        return self.agent.undo_compaction()

    def begin_anew(self) -> None:
        """What both ``/clear`` and every compaction do: sections and latches are reset, settings-derived inputs and
        the date are read again."""
        anew.begin_anew(self)

    # --- the end ----------------------------------------------------------------------------------------------------

    async def close(self) -> None:
        """Ends the turn, children and connections; the journal is whole.  Safe to call twice."""
        if self.closed:
            return
        self.closed = True
        await end(self)
