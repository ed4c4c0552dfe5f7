"""What one subagent works with, made for it: its conversation, tools, permissions, prompt, transcript."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from agentcli.agent.reminders import Reminders
from agentcli.agent.rooms import Rooms
from agentcli.agent.sources import ChangedFilesSource, DateSource, DirectoriesSource, HeadSource, ModeSource, TodoSource
from agentcli.agent.subagent import MAX_REPORT, Hire, Kit
from agentcli.agent.subagent_crew import CrewReminders
from agentcli.env import number
from agentcli.errors import UserError
from agentcli.events import Event, Notice
from agentcli.extend.agents import AgentDefinition
from agentcli.memory import AgentNotes
from agentcli.model.monitor import SwitchPrice
from agentcli.modes.plan import mode_texts
from agentcli.ports.prompt import Reminder, ReminderSource
from agentcli.prompt.context import PromptContext
from agentcli.prompt.environment import Environment, other_directories
from agentcli.runtime.agent_servers import MISSING, named_servers, own_servers, server_rules
from agentcli.runtime.agentgate import AgentGate
from agentcli.runtime.agentstate import state_of
from agentcli.runtime.agentview import AgentApprover, AgentPrompt, hooks_for
from agentcli.runtime.deferred import BothServers, ServerTools, ServerView, listed
from agentcli.runtime.extending import preloaded
from agentcli.runtime.parent import Contexts, Parent
from agentcli.runtime.searching import search_available
from agentcli.runtime.site import Site
from agentcli.runtime.turnmodel import TurnModel
from agentcli.runtime.worktree import Worktrees
from agentcli.sessions import FileJournal, MemoryJournal, recorder
from agentcli.text import one_line, plural
from agentcli.tools.jobs import JobReminders

NOT_FOR_AGENTS = frozenset({"AskUserQuestion", "ExitPlanMode", "Sleep"})
"""Tools of the main conversation: they are about the person in front of it."""
DELEGATION = frozenset({"Agent", "SendMessage", "TaskStop"})
NOTE_TOOLS = ("Read", "Write", "Edit")
"""What an agent with notes of its own has at least, for them alone where its definition leaves them out."""
FOLDER = "subagents"
STALL_MS = 600_000


class Outfit:
    """Of one agent.  Made in the order in which the parts need each other; ``kit`` hands them over."""

    def __init__(
        self, parent: Parent, hire: Hire, definition: AgentDefinition, site: Site, worktrees: Worktrees
    ) -> None:
        self._parent = parent
        self._hire = hire
        self._definition = definition
        self._site = site
        self._worktrees = worktrees
        self._state = state_of(parent, hire, definition)
        self._notes = _notes(parent, definition)
        self._lent = frozenset(n for n in NOTE_TOOLS if not definition.allows(n)) if self._notes else frozenset()
        self._journal = self._opened_journal()
        self._record = recorder(self._journal)
        self._approver = AgentApprover(parent.broker, definition.name, hire.order.description)
        self._servers = own_servers(parent, hire, definition, site, self._state, self._approver)
        self._toolbox = parent.means.toolbox(
            self._emit,
            lambda: self._state.cache,
            wanted=self._wanted,
            seldom=() if parent.extensions.skills else ("Skill",),
            servers=self._server_tools(),
        )
        self._state.tools = self._toolbox.specs()
        self._gate = AgentGate(
            gate=parent.gate,
            site=site,
            wanted=definition.permission_mode,
            may_bypass=parent.may_bypass,
            own=self._notes.names if self._notes else (),
            lent=self._lent,
        )
        tree = site.tree.path if site.tree else None
        self._prompt = AgentPrompt(self._context, definition.body, self._state.cache, parent.memory, tree=tree)
        self._model = TurnModel(self._state, parent.models, self._prompt, self._emit, self._switch_price)
        self._contexts = Contexts(parent, site.place, self._toolbox, self._state, self._emit, hire.crew, self._model)

    async def kit(self) -> Kit:
        """Everything, with the skills that the agent begins with."""
        self._state.pending.extend(await self._skills())
        self._state.pending.extend(await self._unknown_servers())
        return Kit(
            state=self._state,
            rooms=self._rooms(),
            limits=replace(self._parent.limits, max_turns=self._definition.max_turns, max_budget_usd=None),
            name=self._definition.name,
            color=self._definition.color.lower(),
            ready=self._ready,
            close=self._close,
            spill=self._contexts().spill,
            longest=number("TASK_MAX_OUTPUT_LENGTH", MAX_REPORT, self._parent.world.env) or MAX_REPORT,
            stall=number("CLAUDE_ASYNC_AGENT_STALL_TIMEOUT_MS", STALL_MS, self._parent.world.env) / 1000,
            transcript=str(self._journal.path) if isinstance(self._journal, FileJournal) else "",
        )

    def _rooms(self) -> Rooms:
        parent, toolbox = self._parent, self._toolbox
        return Rooms(
            model=parent.client,
            prompt=self._prompt,
            tools=toolbox.tools,
            gate=self._gate,
            approver=self._approver,
            context=self._contexts,
            emit=self._emit,
            clock=parent.world.clock,
            journal=self._journal,
            hooks=hooks_for(parent.hooks(), self._definition, self._hire.id, self._site),
            reminders=Reminders(self._reminders()),
            workspace=self._site.place(),
            seen=toolbox.seen,
            model_info=parent.models.info,
            reset=self._begin_anew,
            late_tools=toolbox.deferred.late_tools,
            resolve=toolbox.resolve,
            broken_off=parent.models.broken_off(parent.ledger(), "subagent"),
            outstanding=self._hire.crew.outstanding,
            checkpoints=parent.checkpoints if self._site.tree is None else None,  # a tree of its own goes with it
        )

    # --- its life ---------------------------------------------------------------------------------------------------

    def _emit(self, event: Event) -> None:
        self._record(event)
        self._hire.emit(event)

    async def _ready(self) -> None:
        """Before each task: what went with the end of the last one is there again."""
        self._model.turn_begins()
        if self._site.own and self._site.tree is not None:
            await self._worktrees.again(self._site.tree)
        if self._servers is not None:
            told = await self._servers.begin()
            self._state.pending.extend(Reminder("mcp-missing", text) for text in told)

    async def _close(self) -> list[str]:
        """After each task: what the agent left is ended, and told."""
        self._model.turn_ended()
        ended = await self._toolbox.end_jobs()
        if self._servers is not None:
            await self._servers.end()
        left = await self._parent.means.processes.end_left(self._hire.id)
        ended += [f"what {plural(left, 'command')} left running"] if left else []
        told = [f"Ended with the agent: {', '.join(ended)}."] if ended else []
        tree = self._site.tree if self._site.own else None
        if tree is not None and (kept := await self._worktrees.leave(tree)):
            self._hire.emit(Notice("info", f"{self._definition.name}: {kept}", "worktree"))
            told.append(kept)
        self._journal.close()
        return told

    def _switch_price(self, model: str) -> SwitchPrice:
        return SwitchPrice(self._state.context_tokens, None)

    def _directories(self) -> tuple[str, ...]:
        return other_directories(self._site.start, self._site.extra)

    def _begin_anew(self) -> None:
        self._state.start_date = self._parent.world.clock.now().date().isoformat()
        self._prompt.begin_anew()

    # --- its parts --------------------------------------------------------------------------------------------------

    def _wanted(self, name: str) -> bool:
        definition = self._definition
        if name.startswith("mcp__"):
            tools = definition.tools
            named = tools is None or listed(name, (*tools, *server_rules(definition)))
            return named and not listed(name, definition.disallowed_tools)
        chosen = self._parent.world.options.tools
        if name in NOT_FOR_AGENTS or (name in DELEGATION and not self._hire.may_spawn):
            return False
        if not search_available(name, self._parent.models):
            return False
        allowed = definition.allows(name) or (name in self._lent and name not in definition.disallowed_tools)
        return (chosen is None or name in chosen) and allowed

    def _server_tools(self) -> ServerTools | None:
        """The session's servers as the definition has them, behind those of its own."""
        shared, named = self._parent.servers, self._definition.tools is not None
        view = ServerView(shared, self._wanted, in_front=named) if shared is not None else None
        if self._servers is None:
            return view
        own = ServerView(self._servers.room, self._wanted, in_front=True)
        return own if view is None else BothServers(own, view)

    def _environment(self, session: Environment) -> Environment:
        """The session's surroundings, with the directories that it has got meanwhile."""
        site = self._site
        if site.tree:
            return site.environment(self._parent.world)
        return replace(session, additional=self._directories())

    def _context(self) -> PromptContext:
        parent = self._parent
        session = parent.prompt.context
        return replace(
            session,
            environment=self._environment(session.environment),
            model=parent.prompt.model_of(self._state.model),
            start_date=self._state.start_date,
            tools=frozenset(self._toolbox.tools),
            layout=parent.state.cache.choices.get("layout", session.layout),
            interactive=False,
        )

    def _reminders(self) -> Sequence[ReminderSource]:
        """Those that siblings share come first."""
        state, prompt, toolbox = self._state, self._prompt, self._toolbox
        texts = mode_texts(exit_tool=False, deferred=False)
        return [
            HeadSource(prompt.report),
            *self._instructions(),
            DateSource(self._parent.world.clock, lambda: state.start_date, state.cache),
            ChangedFilesSource(toolbox.seen),
            DirectoriesSource(self._directories, lambda: prompt.additional, state.cache),
            ModeSource(self._gate, texts, state.cache),
            TodoSource(state),
            JobReminders(toolbox.jobs),
            CrewReminders(self._hire.crew),
            *([self._servers.room] if self._servers else []),
        ]

    def _instructions(self) -> list[ReminderSource]:
        """What the project's files, the place and its own notes say."""
        prompt, tree = self._prompt, self._site.tree
        sources: list[ReminderSource] = []
        if not self._definition.read_only:
            sources.append(HeadSource(prompt.memory_text))
            sources += [prompt.memory] if prompt.memory is not None else []
        if tree is not None:
            sources.append(HeadSource(_saying(tree.words)))
        return [*sources, *([self._notes] if self._notes else [])]

    async def _skills(self) -> list[Reminder]:
        """The skills that the agent begins with."""
        try:
            found = await preloaded(self._parent.extensions, self._definition)
        except UserError as error:
            self._parent.warn(f"agent {self._definition.name}: {error}")
            return []
        return [Reminder(f"skill:{skill.name}", skill.text) for skill in found]

    async def _unknown_servers(self) -> list[Reminder]:
        unknown = await named_servers(self._parent, self._definition)
        for name in unknown:
            self._parent.warn(f"agent {self._definition.name}: there is no MCP server {name!r} in this session")
        return [Reminder("mcp-missing", MISSING.format(server=name)) for name in unknown]

    def _opened_journal(self) -> FileJournal | MemoryJournal:
        parent, hire = self._parent, self._hire
        facts = {
            "session_id": self._state.session_id,
            "agent_id": hire.id,
            "agent": self._definition.name,
            "description": one_line(hire.order.description),
            "model": self._state.model,
            "start_date": self._state.start_date,
            "cwd": str(self._site.start),
        }
        journal: FileJournal | MemoryJournal
        if parent.directory.stored:
            path = parent.directory() / FOLDER / f"{hire.id.replace('_', '-')}.jsonl"
            journal = FileJournal(path, clock=parent.world.clock, notice=parent.warn)
        else:
            journal = MemoryJournal()
        journal.append("start", facts)
        return journal


def _saying(text: str) -> Callable[[], Awaitable[str]]:
    async def said() -> str:
        return text

    return said


def _notes(parent: Parent, definition: AgentDefinition) -> AgentNotes | None:
    if definition.memory is None or parent.memory is None:
        return None
    return parent.memory.notes_of(definition.name, definition.memory)
