"""The rooms of one session, made in the order in which they need each other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, get_args

from agentcli.agent.agent import Agent
from agentcli.agent.reminders import Reminders
from agentcli.agent.rooms import Rooms
from agentcli.agent.sources import (
    ChangedFilesSource,
    DateSource,
    GrantedSource,
    ModeSource,
    NewsSource,
    TodoSource,
)
from agentcli.agent.subagent_crew import Crew, CrewReminders
from agentcli.conversation import ConversationCache
from agentcli.events import EventStream, ModeChanged
from agentcli.model.monitor import CacheMonitor
from agentcli.model.scripted import ScriptedClient
from agentcli.model.usage import Ledger
from agentcli.modes.agent import MainThreadAgent
from agentcli.modes.plan import EXIT_TOOL, mode_texts
from agentcli.modes.select import coordinator_tools, proactive_active
from agentcli.permissions.broker import Broker
from agentcli.ports.client_servers import ClientServers
from agentcli.ports.model import ModelClient
from agentcli.ports.permissions import Destination, Hooks, NoHooks
from agentcli.ports.prompt import Reminder, ReminderSource
from agentcli.prompt.source import PromptSource
from agentcli.runtime.asking import Questions
from agentcli.runtime.beginning import first_state, limits
from agentcli.runtime.checkpointing import make_checkpoints
from agentcli.runtime.confining import make_sandbox
from agentcli.runtime.crews import main_crew
from agentcli.runtime.directory import SessionDirectory
from agentcli.runtime.extended import Extended
from agentcli.runtime.extending import make_extensions
from agentcli.runtime.extension_means import Connections
from agentcli.runtime.guard import make_gate, may_bypass, only_reads_line
from agentcli.runtime.journal import CurrentJournal
from agentcli.runtime.looping import SessionTurns, focus_source, make_ticker
from agentcli.runtime.models import Models
from agentcli.runtime.parent import Parent
from agentcli.runtime.prompting import (
    directories_source,
    make_prompt_source,
    output_style,
    prompt_context,
    prompt_levels,
    prompt_sources,
)
from agentcli.runtime.remembering import make_memory
from agentcli.runtime.searching import search_available
from agentcli.runtime.servers import make_servers
from agentcli.runtime.session import Session
from agentcli.runtime.side_question import small_model
from agentcli.runtime.sides import make_sides
from agentcli.runtime.toolbox import ContextFactory, make_means
from agentcli.runtime.turnmodel import TurnModel
from agentcli.runtime.verbose import RequestLines, verbose
from agentcli.runtime.waking import Waking
from agentcli.runtime.world import World, scratch_enabled
from agentcli.sessions import OpenSession, SessionStore, recorder, restored_cache
from agentcli.tools.jobs import JobReminders

SLEEP = "Sleep"
_ANSWERED = frozenset(get_args(Destination))
"""Origins of rules that an answer of this session brought."""


class Assembly:
    """``session`` brings the rooms together."""

    def __init__(
        self,
        world: World,
        client: ModelClient,
        opened: OpenSession,
        *,
        model: str,
        main_agent: MainThreadAgent | None,
        warn: Callable[[str], None],
        hooks: Hooks | None = None,
        clients: ClientServers | None = None,
    ) -> None:
        self.world = world
        self.client = client
        self.opened = opened
        self.main_agent = main_agent
        self.warn = warn
        self.events = EventStream()
        self.models = Models(world, client)
        self.directory = SessionDirectory(opened.directory)
        self.memory = make_memory(world, warn)
        self.scratch = self.directory() / "scratch" if scratch_enabled(world) else None
        own = (self.scratch,) if self.scratch else ()
        self.gate = make_gate(world, private=(self.directory(),), own=own, memory=self.memory)
        answerable = world.options.interactive or world.options.answers_permissions
        self.broker = Broker(self.events.emit, nobody=not answerable)
        self.extensions = make_extensions(world, agents=world.options.agents)
        records = self.directory() / "shell" / "cwd"
        self.sandbox = make_sandbox(world, self.gate, directory=self.directory, own=(*own, records), warn=warn)
        self.means = make_means(
            world,
            directory=self.directory,
            read_only=only_reads_line,
            references=self.models.takes_references,
            sandbox=self.sandbox,
        )
        self.cache = restored_cache(opened.loaded) if opened.loaded else ConversationCache()
        self.questions = Questions(clients)
        self.servers = make_servers(
            world,
            self.models,
            self.means.processes,
            emit=self.events.emit,
            cache=self.cache,
            directory=self.directory,
            model=lambda: self.state.model,
            front=self.questions,
        )
        self.toolbox = self.means.toolbox(
            self.events.emit,
            lambda: self.cache,
            servers=self.servers,
            wanted=self._wanted,
            only=coordinator_tools(world.features, world.env),
            seldom=() if self.extensions.skills or self.extensions.commands else ("Skill",),
        )
        self.checkpoints = make_checkpoints(world, self.directory, self.means.processes, self.events.emit)
        self.state = first_state(
            world,
            self.models,
            opened,
            model=model,
            cache=self.cache,
            specs=self.toolbox.specs(),
            known=self.toolbox.known(),
        )
        self.toolbox.deferred.restore(self.state.tools)
        self.sides = make_sides(world, client, self.models, self.state, ledger=lambda: self.ledger)
        self.contexts = ContextFactory(
            world, self.toolbox, self.state, self.events.emit, self.directory, self.scratch, self._services
        )
        self.extended = self._extended(hooks or NoHooks())
        self.hooks = self.extended.hooks
        self.prompt = self._prompt(self.scratch)
        self.crew = self._crew()
        self.waking = Waking(lambda: self.agent, self.crew, self.events, world.clock)
        if main_agent is not None and opened.loaded is None:
            self.waking.opening = main_agent.initial_prompt
        self.journal = CurrentJournal(opened.journal)

    def session(self, store: SessionStore, monitor: CacheMonitor) -> Session:
        """The session.  The journal's listener is the first one: nothing is shown before it is kept."""

        ledger = self.ledger = self.client.ledger if isinstance(self.client, ScriptedClient) else monitor.ledger

        def reset() -> None:
            made.begin_anew()

        self.agent = Agent(self.state, self._rooms(reset, ledger), limits(self.world))
        made = Session(
            world=self.world,
            events=self.events,
            state=self.state,
            agent=self.agent,
            gate=self.gate,
            broker=self.broker,
            prompt=self.prompt,
            client=self.client,
            models=self.models,
            monitor=monitor,
            ledger=ledger,
            toolbox=self.toolbox,
            contexts=self.contexts,
            store=store,
            journal=self.journal,
            opened=self.opened,
            directory=self.directory,
            checkpoints=self.checkpoints,
            memory=self.memory,
            extended=self.extended,
            mcp=self.servers,
            crew=self.crew,
            questions=self.questions,
            waking=self.waking,
            allow_bypass=may_bypass(self.world),
            title=self.world.options.name or (self.opened.loaded.title if self.opened.loaded else ""),
        )
        if self.memory is not None and self.opened.loaded is not None:
            self.memory.resume(self.state.cache.sections, self.state.messages)
        if self.opened.loaded is not None:
            here = "Skill" in self.toolbox.tools
            self.extended.resume(self.state.cache.sections, self.state.messages, skill_tool=here)
        self.extended.model = TurnModel(self.state, self.models, self.prompt, self.events.emit, made.switch_price)
        self.waking.ticker = make_ticker(self.world, SessionTurns(made, self.agent, ledger))
        if self.waking.ticker is not None:
            self.agent.limits.exhausted = self.waking.ticker.exhausted
        self.gate.on_mode = lambda mode: self.events.emit(ModeChanged(mode))
        self.events.subscribe(recorder(self.journal), first=True)
        self.events.subscribe(made.hear)
        self.events.subscribe(self.extended.around.hear)
        if verbose(self.world):
            self.events.subscribe(RequestLines(self.events.emit).hear)
        return made

    def _rooms(self, reset: Callable[[], None], ledger: Ledger) -> Rooms:
        options = self.world.options
        return Rooms(
            model=self.client,
            prompt=self.prompt,
            tools=self.toolbox.tools,
            gate=self.gate,
            approver=self.broker,
            context=self.contexts,
            emit=self.events.emit,
            clock=self.world.clock,
            journal=self.journal,
            hooks=self.hooks,
            reminders=Reminders(self._reminders()),
            workspace=self.world.workspace,
            seen=self.toolbox.seen,
            model_info=self.models.info,
            reset=reset,
            late_tools=self.toolbox.deferred.late_tools,
            resolve=self.toolbox.resolve,
            outstanding=self.crew.untold if options.interactive or options.wakes else self.crew.outstanding,
            broken_off=self.models.broken_off(ledger, self.state.query_source),
            checkpoints=self.checkpoints,
        )

    def _reminders(self) -> list[ReminderSource]:
        """In the order in which they stand in a message."""
        state = self.state
        sources: list[ReminderSource] = [self.prompt]
        sources += [self.memory] if self.memory is not None else []
        return [
            *sources,
            *([self.servers] if self.servers is not None else []),
            self.extensions,
            self.extended.around,
            NewsSource("hook", self.extended.room.news),
            DateSource(self.world.clock, lambda: state.start_date, state.cache),
            ChangedFilesSource(self.toolbox.seen),
            ModeSource(self.gate, self._mode_texts(), state.cache),
            directories_source(self.world, self.prompt, state.cache),
            TodoSource(state),
            GrantedSource(self._granted),
            JobReminders(self.toolbox.jobs),
            CrewReminders(self.crew),
            *([focus_source(lambda: self.waking.focus)] if self.proactive else []),
        ]

    def _mode_texts(self) -> Callable[[str, str], str | None]:
        here = EXIT_TOOL in self.toolbox.tools
        return mode_texts(exit_tool=here, deferred=here and EXIT_TOOL not in self.toolbox.front)

    def _services(self, tool_use_id: str) -> Mapping[str, Any]:
        """What tools may use beside todos and jobs."""
        rest = {"rest": self.waking} if self.proactive else {}
        return {
            **rest,
            "spawner": self.crew.for_call(tool_use_id),
            "questioner": self.questions,
            "modes": self.gate,
            "skills": self.extensions,
            **self.sides.services(self.state, tool_use_id),
        }

    def _extended(self, given: Hooks) -> Extended:
        """The extensions at work: hooks and skills with what they run."""
        state = self.state
        means = Connections(
            world=self.world,
            gate=self.gate,
            state=state,
            processes=self.toolbox.processes,
            shell=self.toolbox.shell,
            environment=self.contexts.environment,
            spill=self.contexts.spill,
            transcript=lambda: str(self.opened.path or ""),
            warn=self.warn,
            ask_model=small_model(self.sides.line(state)),
            env_file=self.contexts.env_file,
        )
        return Extended(
            self.extensions,
            means,
            given=given,
            emit=self.events.emit,
            tell=lambda key, text: state.pending.append(Reminder(key, text)),
            window=lambda: self.models.info(state.model).window,
        )

    def _crew(self) -> Crew:
        """The main agent's subagents."""
        parent = Parent(
            world=self.world,
            models=self.models,
            client=self.client,
            means=self.means,
            state=self.state,
            prompt=self.prompt,
            memory=self.memory,
            gate=self.gate,
            broker=self.broker,
            hooks=lambda: self.hooks,
            ledger=lambda: self.ledger,
            sides=self.sides,
            directory=self.directory,
            limits=limits(self.world),
            may_bypass=may_bypass(self.world),
            extensions=self.extensions,
            warn=self.warn,
            servers=self.servers,
            checkpoints=self.checkpoints,
        )
        crew = main_crew(parent, self.events.emit)
        crew.kinds = self.main_agent.kinds if self.main_agent is not None else None
        return crew

    def _granted(self) -> list[str]:
        """What the user has allowed while the session ran."""
        return [r.text for r in self.gate.rules if r.behavior == "allow" and r.origin in _ANSWERED]

    def _prompt(self, scratch: Path | None) -> PromptSource:
        state = self.state
        record = self.opened.loaded.prefix if self.opened.loaded else None
        context = prompt_context(
            self.world,
            self.models,
            model=state.model,
            start_date=state.start_date,
            tools=frozenset(self.toolbox.tools),
            scratch=scratch,
            style=output_style(self.extensions, self.warn),
        )
        source = make_prompt_source(
            self.world,
            self.models,
            context,
            cache=state.cache,
            sources=prompt_sources(self.world, self.memory, self.extensions, self.servers),
            levels=prompt_levels(self.world, self.main_agent, record),
            warn=self.warn,
        )
        if record and record.model != state.model:
            source.model_switched()
        return source

    @property
    def proactive(self) -> bool:
        return proactive_active(self.world.features, active=self.world.options.proactive)

    def _wanted(self, name: str) -> bool:
        if (name == SLEEP and not self.proactive) or not search_available(name, self.models):
            return False
        chosen = self.world.options.tools
        return (chosen is None or name in chosen) and (self.main_agent is None or self.main_agent.allows(name))
