"""The rooms of one session, made in the order in which they need each other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from agentcli.agent.agent import Agent
from agentcli.agent.subagent_crew import Crew
from agentcli.conversation import ConversationCache
from agentcli.events import EventStream
from agentcli.model.usage import Ledger
from agentcli.modes.agent import MainThreadAgent
from agentcli.modes.select import coordinator_tools, proactive_active
from agentcli.permissions.broker import Broker
from agentcli.ports.client_servers import ClientServers
from agentcli.ports.model import ModelClient
from agentcli.ports.permissions import Hooks, NoHooks
from agentcli.ports.prompt import Reminder
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
from agentcli.runtime.mainagent import agent_notes, bound, with_servers
from agentcli.runtime.models import Models
from agentcli.runtime.parent import Parent
from agentcli.runtime.prompting import (
    make_prompt_source,
    output_style,
    prompt_context,
    prompt_levels,
    prompt_sources,
)
from agentcli.runtime.remembering import make_memory
from agentcli.runtime.searching import search_available
from agentcli.runtime.servers import make_servers, make_wiring
from agentcli.runtime.side_question import small_model
from agentcli.runtime.sides import make_sides
from agentcli.runtime.toolbox import ContextFactory, make_means
from agentcli.runtime.waking import Waking
from agentcli.runtime.world import World, scratch_enabled
from agentcli.sessions import OpenSession, restored_cache

SLEEP = "Sleep"


class Assembly:
    """What ``joining.make_session`` brings together."""

    agent: Agent
    """Set with the session."""
    ledger: Ledger

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
        self.questions = Questions(clients)
        self.journal = CurrentJournal(opened.journal)
        self._make_ground()
        self._make_tools()
        self._make_conversation(model)
        self.extended = self._extended(hooks or NoHooks())
        if main_agent is not None:
            self.extended.room.keep(main_agent.definition)
        self.hooks = self.extended.hooks
        self.prompt = self._prompt(self.scratch)
        self.crew = self._crew()
        self.waking = Waking(lambda: self.agent, self.crew, self.events, world.clock)
        if main_agent is not None and opened.loaded is None:
            self.waking.opening = main_agent.initial_prompt

    def _make_ground(self) -> None:
        """What may be done, and what is there: memory, permissions, extensions, sandbox."""
        world, warn = self.world, self.warn
        self.memory = make_memory(world, warn)
        self.scratch = self.directory() / "scratch" if scratch_enabled(world) else None
        own = (self.scratch,) if self.scratch else ()
        self.gate = make_gate(world, private=(self.directory(),), own=own, memory=self.memory)
        bound(self.gate, self.main_agent)
        self.notes = agent_notes(self.main_agent, self.memory, self.gate)
        answerable = world.options.interactive or world.options.answers_permissions
        self.broker = Broker(self.events.emit, nobody=not answerable)
        self.extensions = make_extensions(world, agents=world.options.agents)
        records = self.directory() / "shell" / "cwd"
        self.sandbox = make_sandbox(world, self.gate, directory=self.directory, own=(*own, records), warn=warn)

    def _make_tools(self) -> None:
        """Processes, servers and tools of the conversation that begins or goes on."""
        world, opened = self.world, self.opened
        self.means = make_means(
            world,
            directory=self.directory,
            read_only=only_reads_line,
            references=self.models.takes_references,
            sandbox=self.sandbox,
        )
        self.cache = restored_cache(opened.loaded) if opened.loaded else ConversationCache()
        wiring = make_wiring(
            world,
            self.models,
            emit=self.events.emit,
            cache=self.cache,
            directory=self.directory,
            model=lambda: self.state.model,
        )
        more = with_servers(self.main_agent, self.warn)
        self.servers = make_servers(world, self.means.processes, wiring, front=self.questions, more=more)
        self.gate.servers = tuple(self.servers.manager.names) if self.servers else ()
        self.toolbox = self.means.toolbox(
            self.events.emit,
            lambda: self.cache,
            servers=self.servers,
            wanted=self._wanted,
            only=coordinator_tools(world.features, world.env),
            seldom=() if self.extensions.skills or self.extensions.commands else ("Skill",),
        )
        self.checkpoints = make_checkpoints(world, self.directory, self.means.processes, self.events.emit)

    def _make_conversation(self, model: str) -> None:
        """Its state, and what calls are made with."""
        world = self.world
        self.state = first_state(
            world,
            self.models,
            self.opened,
            model=model,
            cache=self.cache,
            specs=self.toolbox.specs(),
            known=self.toolbox.known(),
        )
        self.toolbox.deferred.restore(self.state.tools)
        self.sides = make_sides(world, self.client, self.models, self.state, ledger=lambda: self.ledger)
        self.contexts = ContextFactory(
            world, self.toolbox, self.state, self.events.emit, self.directory, self.scratch, self._services
        )

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
