"""Makes what a subagent needs: its conversation, its tools, its view of the permissions, its transcript."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from agentcli.agent.reminders import Reminders
from agentcli.agent.rooms import Rooms
from agentcli.agent.sources import ChangedFilesSource, DateSource, HeadSource, ModeSource, TodoSource
from agentcli.agent.state import SessionState
from agentcli.agent.subagent import Hire, Kit
from agentcli.agent.subagent_crew import Crew, CrewReminders
from agentcli.errors import ToolError, UserError
from agentcli.events import Event
from agentcli.extend.agents import AgentDefinition
from agentcli.model.catalog import check_effort
from agentcli.modes.plan import mode_texts
from agentcli.ports.permissions import Hooks
from agentcli.ports.prompt import Reminder, ReminderSource
from agentcli.ports.tools import Workspace
from agentcli.prompt.context import PromptContext
from agentcli.runtime.agentview import AgentApprover, AgentGate, AgentPrompt, hooks_for
from agentcli.runtime.deferred import ServerView, listed
from agentcli.runtime.extending import preloaded
from agentcli.runtime.parent import Contexts, Parent
from agentcli.runtime.toolbox import Toolbox
from agentcli.sessions import FileJournal, MemoryJournal, recorder
from agentcli.text import one_line
from agentcli.tools.jobs import JobReminders

NOT_FOR_AGENTS = frozenset({"AskUserQuestion", "ExitPlanMode", "Sleep"})
"""Tools of the main conversation: they are about the person in front of it."""
DELEGATION = frozenset({"Agent", "SendMessage", "TaskStop"})
FOLDER = "subagents"


class Spawning:
    """``agent.subagent.Outfitter`` of a session."""

    def __init__(self, parent: Parent) -> None:
        self._parent = parent
        self._folder: Path | None = None

    async def __call__(self, hire: Hire) -> Kit:
        definition = self._definition(hire)
        parent = self._parent
        state = self._state(hire, definition)

        def emit(event: Event) -> None:
            record(event)
            hire.emit(event)

        async def close() -> list[str]:
            ended = await toolbox.end_jobs()
            journal.close()
            return ended

        def wanted(name: str) -> bool:
            return self._wanted(name, definition, may_spawn=hire.may_spawn)

        seldom = () if parent.extensions.skills else ("Skill",)
        named = definition.tools is not None
        servers = ServerView(parent.servers, wanted, in_front=named) if parent.servers is not None else None
        toolbox = parent.means.toolbox(emit, lambda: state.cache, wanted=wanted, seldom=seldom, servers=servers)
        state.tools = toolbox.specs()
        journal = self._journal(hire, state, definition)
        record = recorder(journal)
        gate = AgentGate(parent.gate, self._place, definition.permission_mode, may_bypass=parent.may_bypass)
        prompt = AgentPrompt(self._context(state, toolbox), definition.body, state.cache, parent.memory)
        contexts = self._contexts(state, toolbox, emit, hire.crew)
        rooms = Rooms(
            model=parent.client,
            prompt=prompt,
            tools=toolbox.tools,
            gate=gate,
            approver=AgentApprover(parent.broker, definition.name),
            context=contexts,
            emit=emit,
            clock=parent.world.clock,
            journal=journal,
            hooks=self._hooks(definition, hire.id),
            reminders=Reminders(self._reminders(definition, state, toolbox, gate, prompt, hire.crew)),
            workspace=self._place(),
            seen=toolbox.seen,
            model_info=parent.models.info,
            reset=lambda: self._begin_anew(prompt, state, toolbox),
            late_tools=toolbox.deferred.late_tools,
            resolve=toolbox.resolve,
            broken_off=parent.models.broken_off(parent.ledger(), "subagent"),
            outstanding=hire.crew.outstanding,
        )
        state.pending.extend(await self._skills(definition))
        return Kit(
            state=state,
            rooms=rooms,
            limits=replace(parent.limits, max_turns=definition.max_turns, max_budget_usd=None),
            name=definition.name,
            close=close,
            spill=contexts().spill,
            transcript=str(journal.path) if isinstance(journal, FileJournal) else "",
        )

    # --- what it is -------------------------------------------------------------------------------------------------

    def _definition(self, hire: Hire) -> AgentDefinition:
        try:
            found = self._parent.extensions.agent(hire.order.agent)
        except UserError as error:
            raise ToolError(f"{error}") from error
        if found.isolation == "worktree":
            raise ToolError(
                f"The agent {found.name} wants a work tree of its own (isolation: worktree), which this version can't "
                "give. Use another agent, or make the work tree with git and name it in the prompt."
            )
        return found

    def _model(self, hire: Hire, definition: AgentDefinition) -> str:
        """Environment, then the call, then the definition, then the parent's."""
        parent = self._parent
        own = parent.state.model
        # A server with models of its own need not have those that built-in agents prefer.
        foreign = definition.scope == "built-in" and not parent.models.info(own).known
        kind = None if foreign else definition.model
        forced = parent.world.env.get("CLAUDE_CODE_SUBAGENT_MODEL", "").strip()
        named = next((n for n in (forced, hire.order.model, kind) if n and n != "inherit"), None)
        if named is None:
            return own
        try:
            return parent.models.resolve(named)
        except UserError as error:
            raise ToolError(f"model {named!r}: {error}") from error

    def _state(self, hire: Hire, definition: AgentDefinition) -> SessionState:
        parent = self._parent
        model = self._model(hire, definition)
        info = parent.models.info(model)
        effort = hire.order.effort or definition.effort or parent.state.effort
        return SessionState(
            session_id=parent.state.session_id,
            model=model,
            start_date=parent.world.clock.now().date().isoformat(),
            effort=check_effort(effort, info) if effort in info.efforts and effort else None,
            thinking=parent.state.thinking if model == parent.state.model else "default",
            conversation_id=f"{parent.state.session_id}/{hire.id}",
            query_source="subagent",
            interactive=False,
        )

    def _wanted(self, name: str, definition: AgentDefinition, *, may_spawn: bool) -> bool:
        if name.startswith("mcp__"):
            tools = definition.tools
            return not listed(name, definition.disallowed_tools) and (tools is None or listed(name, tools))
        chosen = self._parent.world.options.tools
        if name in NOT_FOR_AGENTS or (name in DELEGATION and not may_spawn):
            return False
        return (chosen is None or name in chosen) and definition.allows(name)

    def _place(self) -> Workspace:
        """The session's start directory: an agent's shell begins there with every call."""
        workspace = self._parent.world.workspace
        return Workspace(workspace.start, workspace.start, workspace.extra_roots)

    # --- its rooms --------------------------------------------------------------------------------------------------

    def _context(self, state: SessionState, toolbox: Toolbox) -> Callable[[], PromptContext]:
        parent = self._parent

        def context() -> PromptContext:
            layout = parent.state.cache.choices.get("layout", parent.prompt.context.layout)
            return replace(
                parent.prompt.context,
                model=parent.prompt.model_of(state.model),
                start_date=state.start_date,
                tools=frozenset(toolbox.tools),
                layout=layout,
                interactive=False,
            )

        return context

    def _contexts(self, state: SessionState, toolbox: Toolbox, emit: Callable[[Event], None], crew: Crew) -> Contexts:
        return Contexts(self._parent, self._place, toolbox, state, emit, crew)

    def _hooks(self, definition: AgentDefinition, id: str) -> Hooks:
        return hooks_for(self._parent.hooks(), definition, id)

    def _reminders(
        self,
        definition: AgentDefinition,
        state: SessionState,
        toolbox: Toolbox,
        gate: AgentGate,
        prompt: AgentPrompt,
        crew: Crew,
    ) -> Sequence[ReminderSource]:
        """Those that siblings share come first."""
        sources: list[ReminderSource] = [HeadSource(prompt.report)]
        if not definition.read_only:
            sources.append(HeadSource(prompt.memory_text))
            sources += [prompt.memory] if prompt.memory is not None else []
        texts = mode_texts(exit_tool=False, deferred=False)
        return [
            *sources,
            DateSource(self._parent.world.clock, lambda: state.start_date, state.cache),
            ChangedFilesSource(toolbox.seen),
            ModeSource(gate, texts, state.cache),
            TodoSource(state),
            JobReminders(toolbox.jobs),
            CrewReminders(crew),
        ]

    def _begin_anew(self, prompt: AgentPrompt, state: SessionState, toolbox: Toolbox) -> None:
        state.start_date = self._parent.world.clock.now().date().isoformat()
        prompt.begin_anew()

    async def _skills(self, definition: AgentDefinition) -> list[Reminder]:
        """The skills that the agent begins with."""
        try:
            found = await preloaded(self._parent.extensions, definition)
        except UserError as error:
            self._parent.warn(f"agent {definition.name}: {error}")
            return []
        return [Reminder(f"skill:{skill.name}", skill.text) for skill in found]

    def _journal(self, hire: Hire, state: SessionState, definition: AgentDefinition) -> FileJournal | MemoryJournal:
        parent = self._parent
        facts = {
            "session_id": state.session_id,
            "agent_id": hire.id,
            "agent": definition.name,
            "description": one_line(hire.order.description),
            "model": state.model,
            "start_date": state.start_date,
            "cwd": str(parent.world.workspace.start),
        }
        journal: FileJournal | MemoryJournal
        if parent.directory.stored:
            path = parent.directory() / FOLDER / f"{hire.id.replace('_', '-')}.jsonl"
            journal = FileJournal(path, clock=parent.world.clock, notice=parent.warn)
        else:
            journal = MemoryJournal()
        journal.append("start", facts)
        return journal
