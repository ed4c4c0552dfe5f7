"""Builds a session: reads the world, opens the session file, makes the rooms and brings them together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from agentcli import __version__
from agentcli.agent.agent import INTERRUPTION, Agent
from agentcli.agent.reminders import Reminders
from agentcli.agent.rooms import Limits, Rooms
from agentcli.agent.sources import ChangedFilesSource, DateSource, ModeSource, TodoSource
from agentcli.agent.state import SessionState
from agentcli.conversation import ConversationCache
from agentcli.env import number, truthy
from agentcli.events import EventStream
from agentcli.model.catalog import DEFAULT_MODEL, check_effort, model_info, resolve_model
from agentcli.model.client import AnthropicClient
from agentcli.model.monitor import CacheMonitor
from agentcli.model.scripted import ScriptedClient
from agentcli.modes.agent import MainThreadAgent
from agentcli.modes.plan import mode_reminder
from agentcli.permissions.broker import Broker
from agentcli.ports.model import ModelClient, ModelInfo, ThinkingChoice
from agentcli.ports.prompt import Reminder
from agentcli.ports.sessions import Clock, PrefixRecord
from agentcli.prompt.source import PromptSource
from agentcli.runtime.client import make_client
from agentcli.runtime.directory import SessionDirectory
from agentcli.runtime.guard import make_gate, may_bypass, only_reads_line
from agentcli.runtime.identity import open_file
from agentcli.runtime.journal import CurrentJournal
from agentcli.runtime.options import SessionOptions
from agentcli.runtime.prompting import main_agent, make_prompt_source, prompt_context
from agentcli.runtime.resumed import changed_front, resumed_effort, resumed_tools
from agentcli.runtime.session import Session
from agentcli.runtime.toolbox import ContextFactory, Toolbox, make_toolbox
from agentcli.runtime.world import World, read_world, scratch_enabled
from agentcli.sessions import Loaded, OpenSession, SessionStore, recorder, restored_cache
from agentcli.tools.jobs import JobReminders


async def open_session(
    options: SessionOptions, *, client: ModelClient | None = None, clock: Clock | None = None
) -> Session:
    """A session that is ready for its first prompt.  ``UserError`` when it can't be had; nothing is left open then.

    ``client`` takes the place of the Messages API (the demonstration and tests), ``clock`` that of the real one.
    """
    world = read_world(options, clock=clock)
    monitor = CacheMonitor(clock=world.clock)
    agent = main_agent(world)
    asked = client or await make_client(world, monitor)
    events = EventStream()
    early: list[str] = []
    warn = _Warnings(early)
    store = SessionStore(world.home if options.persist else None, options.cwd, clock=world.clock, notice=warn)
    start_date = world.clock.now().date().isoformat()
    model = _model(world, agent)
    opened, note = open_file(store, options, {"version": __version__, "model": model, "start_date": start_date})
    loaded = opened.loaded
    try:
        builder = _Builder(world, events, monitor, asked, store, opened, agent, warn)
        session = builder.build(_resumed_model(world, loaded) or model, start_date)
        changed = await changed_front(session, loaded) if loaded else ""
    except BaseException:
        opened.close("failed start")
        raise
    told = (*world.settings.errors, *world.settings.warnings, note, *(loaded.notes if loaded else ()), changed)
    session.start_notices += [text for text in (*early, *told) if text]
    warn.session = session
    return session


@dataclass(slots=True)
class _Warnings:
    """Warnings of rooms: kept until there is a session, then emitted."""

    early: list[str]
    session: Session | None = None

    def __call__(self, text: str) -> None:
        if self.session is None:
            self.early.append(text)
        else:
            self.session.warn(text)


@dataclass(slots=True)
class _Builder:
    """The parts that the steps of building share."""

    world: World
    events: EventStream
    monitor: CacheMonitor
    client: ModelClient
    store: SessionStore
    opened: OpenSession
    main_agent: MainThreadAgent | None
    warn: Callable[[str], None]

    def build(self, model: str, start_date: str) -> Session:
        record = self.opened.loaded.prefix if self.opened.loaded else None
        directory = SessionDirectory(self.opened.directory)
        gate = make_gate(self.world, directory=directory)
        broker = Broker(self.events.emit, nobody=not self._answerable())
        toolbox = make_toolbox(
            self.world, self.events.emit, directory=directory, read_only=only_reads_line, wanted=self._wanted
        )
        state = self._state(model, record.start_date if record else start_date, toolbox, record)
        scratch = directory() / "scratch" if scratch_enabled(self.world) else None
        contexts = ContextFactory(self.world, toolbox, state, self.events.emit, directory, scratch)
        prompt = self._prompt(state, record, scratch)
        journal = CurrentJournal(self.opened.journal)
        reminders = Reminders(
            [
                prompt,
                DateSource(self.world.clock, lambda: state.start_date, state.cache),
                ChangedFilesSource(toolbox.seen),
                ModeSource(gate, mode_reminder, state.cache),
                TodoSource(state),
                JobReminders(toolbox.jobs),
            ]
        )

        def reset() -> None:
            made.begin_anew()

        rooms = Rooms(
            model=self.client,
            prompt=prompt,
            tools=toolbox.tools,
            gate=gate,
            approver=broker,
            context=contexts,
            emit=self.events.emit,
            clock=self.world.clock,
            journal=journal,
            reminders=reminders,
            workspace=self.world.workspace,
            seen=toolbox.seen,
            model_info=self._info,
            reset=reset,
        )
        agent = Agent(state, rooms, _limits(self.world))
        made = Session(
            world=self.world,
            events=self.events,
            state=state,
            agent=agent,
            gate=gate,
            broker=broker,
            prompt=prompt,
            client=self.client,
            monitor=self.monitor,
            ledger=self.client.ledger if isinstance(self.client, ScriptedClient) else self.monitor.ledger,
            toolbox=toolbox,
            contexts=contexts,
            store=self.store,
            journal=journal,
            opened=self.opened,
            directory=directory,
            allow_bypass=may_bypass(self.world),
            title=self.world.options.name or (self.opened.loaded.title if self.opened.loaded else ""),
        )
        self.events.subscribe(recorder(journal), first=True)
        self.events.subscribe(made.hear)
        return made

    def _answerable(self) -> bool:
        return self.world.options.interactive or self.world.options.answers_permissions

    def _info(self, model: str) -> ModelInfo:
        return self.client.info(model) if isinstance(self.client, AnthropicClient) else model_info(model)

    def _wanted(self, name: str) -> bool:
        chosen = self.world.options.tools
        return (chosen is None or name in chosen) and (self.main_agent is None or self.main_agent.allows(name))

    def _state(self, model: str, start_date: str, toolbox: Toolbox, record: PrefixRecord | None) -> SessionState:
        options, loaded = self.world.options, self.opened.loaded
        info, specs = model_info(model), toolbox.specs()
        kept = resumed_effort(loaded, model) if loaded and loaded.model else self.world.settings.text("effortLevel")
        effort = options.effort or kept
        state = SessionState(
            session_id=self.opened.id,
            model=model,
            start_date=start_date,
            tools=resumed_tools(record, specs, chosen=options.tools is not None) if record else specs,
            effort=check_effort(effort, info) if effort else None,
            thinking=_thinking(options, loaded),
            query_source=options.query_source,
            interactive=options.interactive,
            cache=restored_cache(loaded) if loaded else ConversationCache(),
        )
        if loaded:
            state.restore(
                loaded.messages,
                usage=loaded.usage,
                cost=loaded.cost,
                turn=loaded.turns,
                context_tokens=loaded.context_tokens,
                measured=loaded.measured,
            )
            state.set_todos(loaded.todos)
            if loaded.interrupted:
                state.pending.append(Reminder("interrupted", INTERRUPTION))
        if record and record.model != model:
            state.intent = "model switch"
        return state

    def _prompt(self, state: SessionState, record: PrefixRecord | None, scratch: Path | None) -> PromptSource:
        context = prompt_context(
            self.world,
            model=state.model,
            start_date=state.start_date,
            tools=frozenset(t.name for t in state.tools),
            scratch=scratch,
        )
        client = self.client
        source = make_prompt_source(
            self.world,
            context,
            cache=state.cache,
            agent=self.main_agent,
            resumed=record,
            first_party=lambda: isinstance(client, AnthropicClient) and client.connection.first_party,
            refused=lambda: isinstance(client, AnthropicClient) and "scope" in client.refused,
            warn=self.warn,
        )
        if record and record.model != state.model:
            source.model_switched()
        return source


def _resumed_model(world: World, loaded: Loaded | None) -> str | None:
    """The conversation's own model, unless the command line names another."""
    return loaded.model if loaded and not world.options.model else None


def _model(world: World, agent: MainThreadAgent | None) -> str:
    """Command line, then the agent's, the environment's, the settings', then the default."""
    named = (
        world.options.model
        or (agent.model if agent else None)
        or world.env.get("ANTHROPIC_MODEL")
        or world.settings.text("model")
        or DEFAULT_MODEL
    )
    return resolve_model(named, env=world.env)


def _thinking(options: SessionOptions, loaded: Loaded | None) -> ThinkingChoice:
    named = {"adaptive": "on", "disabled": "off"}.get(options.thinking or "")
    return cast("ThinkingChoice", named or (loaded.thinking if loaded else "default"))


def _limits(world: World) -> Limits:
    percent = number("CLAUDE_AUTOCOMPACT_PCT_OVERRIDE", 0, world.env)
    return Limits(
        max_turns=world.options.max_turns,
        max_budget_usd=world.options.max_budget_usd,
        auto_compact=world.settings.flag("autoCompactEnabled", True) and not truthy("DISABLE_AUTO_COMPACT", world.env),
        compact_percent=percent or None,
        stop_hook_cap=number("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", 8, world.env),
        parallel_calls=number("CLAUDE_CODE_MAX_TOOL_USE_CONCURRENCY", 10, world.env) or 10,
    )
