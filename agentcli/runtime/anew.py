"""Where a session begins anew: an empty conversation, a compacted one, settings that changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentcli.errors import UserError
from agentcli.events import ConversationCleared, Notice, TodosChanged
from agentcli.prompt.section import clear_system_prompt_sections
from agentcli.runtime.beginning import follow_settings
from agentcli.runtime.checkpointing import folder_of
from agentcli.runtime.prompting import output_style, prompt_context

if TYPE_CHECKING:
    from agentcli.runtime.session import Session


async def clear(session: Session) -> None:
    """A new conversation in a new session file; the old one stays resumable."""
    if session.agent.busy:
        raise UserError("A turn is running; Esc ends it.")
    session.opened.close("clear")
    state = session.state
    today = session.world.clock.now().date().isoformat()
    session.opened = session.store.create({"model": state.model, "start_date": today})
    session.journal.target = session.opened.journal
    if session.gate.mode != "default":
        session.journal.append("mode", {"mode": session.gate.mode})
    await session.checkpoints.begin_anew(folder_of(session.opened, session.directory))
    session.monitor.forget(state.conversation_id)
    state.session_id = session.opened.id
    state.replace((), intent="")
    state.earlier.clear()
    state.pending.clear()
    state.set_todos(())
    session.toolbox.deferred.begin_anew()
    state.tools = session.toolbox.specs()
    session.title = ""
    session.cache_read_share = None
    session.toolbox.seen.forget()
    begin_anew(session)
    await session.extended.cleared(model=state.model)
    session.events.emit(ConversationCleared(session.id))
    session.events.emit(TodosChanged(()))


def begin_anew(session: Session) -> None:
    """What both ``/clear`` and every compaction do: sections and latches are reset, settings-derived inputs and
    the date are read again."""
    session.state.start_date = session.world.clock.now().date().isoformat()
    session.agent.limits.clear_results = session.world.settings.flag("toolResultClearing")  # as the new prompt says
    clear_system_prompt_sections(session.state.cache)
    if session.memory is not None:
        session.memory.begin_anew()
    session.prompt.context = prompt_context(
        session.world,
        session.models,
        model=session.state.model,
        start_date=session.state.start_date,
        tools=frozenset(session.toolbox.tools),
        scratch=session.contexts.scratch,
        style=output_style(session.extensions, session.warn),
    )


def reload_settings(session: Session) -> None:
    """Picks up changed settings files between turns; a file that broke keeps its last good state and is named."""
    if not session.world.files.stale():
        return
    news = session.world.files.reload()
    for problem in news.problems:
        session.events.emit(Notice("warning", problem, "settings"))
    session.gate.use(news.settings)
    follow_settings(session.agent.limits, session.world)
    session.extended.reloaded(news.settings)
