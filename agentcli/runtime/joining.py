"""The rooms of an assembly, joined to a session that runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, get_args

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
from agentcli.agent.subagent_crew import CrewReminders
from agentcli.events import ModeChanged
from agentcli.model.monitor import CacheMonitor
from agentcli.model.scripted import ScriptedClient
from agentcli.model.usage import Ledger
from agentcli.modes.plan import EXIT_TOOL, mode_texts
from agentcli.ports.permissions import Destination
from agentcli.ports.prompt import ReminderSource
from agentcli.runtime.beginning import limits
from agentcli.runtime.guard import may_bypass
from agentcli.runtime.looping import SessionTurns, focus_source, make_ticker
from agentcli.runtime.prompting import (
    directories_source,
)
from agentcli.runtime.session import Session
from agentcli.runtime.turnmodel import TurnModel
from agentcli.runtime.verbose import RequestLines, verbose
from agentcli.sessions import SessionStore, recorder
from agentcli.tools.jobs import JobReminders

if TYPE_CHECKING:
    from agentcli.runtime.assembly import Assembly

_ANSWERED = frozenset(get_args(Destination))
"""Origins of rules that an answer of this session brought."""


def make_session(rooms: Assembly, store: SessionStore, monitor: CacheMonitor) -> Session:
    """The session.  The journal's listener is the first one: nothing is shown before it is kept."""

    ledger = rooms.ledger = rooms.client.ledger if isinstance(rooms.client, ScriptedClient) else monitor.ledger

    def reset() -> None:
        made.begin_anew()

    rooms.agent = Agent(rooms.state, _engine_rooms(rooms, reset, ledger), limits(rooms.world))
    made = Session(
        world=rooms.world,
        events=rooms.events,
        state=rooms.state,
        agent=rooms.agent,
        gate=rooms.gate,
        broker=rooms.broker,
        prompt=rooms.prompt,
        client=rooms.client,
        models=rooms.models,
        monitor=monitor,
        ledger=ledger,
        toolbox=rooms.toolbox,
        contexts=rooms.contexts,
        store=store,
        journal=rooms.journal,
        opened=rooms.opened,
        directory=rooms.directory,
        checkpoints=rooms.checkpoints,
        memory=rooms.memory,
        extended=rooms.extended,
        mcp=rooms.servers,
        crew=rooms.crew,
        questions=rooms.questions,
        waking=rooms.waking,
        allow_bypass=may_bypass(rooms.world),
        title=rooms.world.options.name or (rooms.opened.loaded.title if rooms.opened.loaded else ""),
    )
    _resume(rooms)
    _connect(rooms, made)
    return made


def _resume(rooms: Assembly) -> None:
    """Whoever tells news knows what a resumed conversation was told before."""
    if rooms.memory is not None and rooms.opened.loaded is not None:
        rooms.memory.resume(rooms.state.cache.sections, rooms.state.messages)
    if rooms.opened.loaded is not None:
        here = "Skill" in rooms.toolbox.tools
        rooms.extended.resume(rooms.state.cache.sections, rooms.state.messages, skill_tool=here)


def _connect(rooms: Assembly, made: Session) -> None:
    """What hears of the session, and what acts on it."""
    rooms.extended.model = TurnModel(rooms.state, rooms.models, rooms.prompt, rooms.events.emit, made.switch_price)
    rooms.waking.ticker = make_ticker(rooms.world, SessionTurns(made, rooms.agent, rooms.ledger))
    if rooms.waking.ticker is not None:
        rooms.agent.limits.exhausted = rooms.waking.ticker.exhausted
    rooms.gate.on_mode = lambda mode: rooms.events.emit(ModeChanged(mode))
    rooms.events.subscribe(recorder(rooms.journal), first=True)
    rooms.events.subscribe(made.hear)
    rooms.events.subscribe(rooms.extended.around.hear)
    if verbose(rooms.world):
        rooms.events.subscribe(RequestLines(rooms.events.emit).hear)


def _engine_rooms(rooms: Assembly, reset: Callable[[], None], ledger: Ledger) -> Rooms:
    options = rooms.world.options
    return Rooms(
        model=rooms.client,
        prompt=rooms.prompt,
        tools=rooms.toolbox.tools,
        gate=rooms.gate,
        approver=rooms.broker,
        context=rooms.contexts,
        emit=rooms.events.emit,
        clock=rooms.world.clock,
        journal=rooms.journal,
        hooks=rooms.hooks,
        reminders=Reminders(_reminders(rooms)),
        workspace=rooms.world.workspace,
        seen=rooms.toolbox.seen,
        model_info=rooms.models.info,
        reset=reset,
        late_tools=rooms.toolbox.deferred.late_tools,
        resolve=rooms.toolbox.resolve,
        outstanding=rooms.crew.untold if options.interactive or options.wakes else rooms.crew.outstanding,
        broken_off=rooms.models.broken_off(ledger, rooms.state.query_source),
        checkpoints=rooms.checkpoints,
    )


def _reminders(rooms: Assembly) -> list[ReminderSource]:
    """In the order in which they stand in a message."""
    state = rooms.state
    sources: list[ReminderSource] = [rooms.prompt]
    sources += [rooms.memory] if rooms.memory is not None else []
    sources += [rooms.notes] if rooms.notes is not None else []
    return [
        *sources,
        *([rooms.servers] if rooms.servers is not None else []),
        rooms.extensions,
        rooms.extended.around,
        NewsSource("hook", rooms.extended.room.news),
        DateSource(rooms.world.clock, lambda: state.start_date, state.cache),
        ChangedFilesSource(rooms.toolbox.seen),
        ModeSource(rooms.gate, _mode_texts(rooms), state.cache),
        directories_source(rooms.world, rooms.prompt, state.cache),
        TodoSource(state),
        GrantedSource(lambda: _granted(rooms)),
        JobReminders(rooms.toolbox.jobs),
        CrewReminders(rooms.crew),
        *([focus_source(lambda: rooms.waking.focus)] if rooms.proactive else []),
    ]


def _mode_texts(rooms: Assembly) -> Callable[[str, str], str | None]:
    here = EXIT_TOOL in rooms.toolbox.tools
    return mode_texts(exit_tool=here, deferred=here and EXIT_TOOL not in rooms.toolbox.front)


def _granted(rooms: Assembly) -> list[str]:
    """What the user has allowed while the session ran."""
    return [r.text for r in rooms.gate.rules if r.behavior == "allow" and r.origin in _ANSWERED]
