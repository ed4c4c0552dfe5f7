"""What a session begins with: its state, new or resumed, and its limits."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import cast

from agentcli.agent.agent import INTERRUPTION
from agentcli.agent.rooms import Limits
from agentcli.agent.state import SessionState
from agentcli.conversation import ConversationCache
from agentcli.env import number, truthy
from agentcli.model.catalog import check_effort
from agentcli.modes.select import coordinator_active, proactive_active
from agentcli.ports.model import Effort, ThinkingChoice, ToolSpec
from agentcli.ports.prompt import Reminder
from agentcli.ports.sessions import PrefixRecord
from agentcli.runtime.models import Models
from agentcli.runtime.options import SessionOptions
from agentcli.runtime.resumed import resumed_effort, resumed_tools
from agentcli.runtime.world import World
from agentcli.sessions import Loaded, OpenSession


def first_state(
    world: World,
    models: Models,
    opened: OpenSession,
    *,
    model: str,
    cache: ConversationCache,
    specs: Sequence[ToolSpec],
    known: Sequence[ToolSpec] = (),
) -> SessionState:
    """The state of a new session, or of a resumed one as its file tells it.  ``specs`` are the tools in front,
    ``known`` all of ours."""
    options, loaded = world.options, opened.loaded
    record = loaded.prefix if loaded else None
    state = SessionState(
        session_id=opened.id,
        model=model,
        start_date=record.start_date if record else world.clock.now().date().isoformat(),
        tools=_tools(record, specs, known or specs, chosen=_own_tools(world)),
        effort=_effort(world, models, loaded, model),
        thinking=_thinking(options, loaded),
        query_source=options.query_source,
        interactive=options.interactive,
        cache=cache,
    )
    if loaded:
        _restore(state, loaded)
    if record and record.model != model:
        state.intent = "model switch"
    return state


def _own_tools(world: World) -> bool:
    """Whether the command line or a mode says which tools there are, whatever a resumed conversation had."""
    proactive = proactive_active(world.features, active=world.options.proactive)
    return world.options.tools is not None or proactive or coordinator_active(world.features, world.env)


def _tools(
    record: PrefixRecord | None, specs: Sequence[ToolSpec], known: Sequence[ToolSpec], *, chosen: bool
) -> tuple[ToolSpec, ...]:
    return resumed_tools(record, specs, known, chosen=chosen) if record else tuple(specs)


def _restore(state: SessionState, loaded: Loaded) -> None:
    state.restore(
        loaded.messages,
        usage=loaded.usage,
        cost=loaded.cost,
        turn=loaded.turns,
        context_tokens=loaded.context_tokens,
        measured=loaded.measured,
    )
    state.set_todos(loaded.todos)
    state.earlier = list(loaded.earlier)
    state.answered_at = _moment(loaded.answered_at)
    if loaded.interrupted:
        state.pending.append(Reminder("interrupted", INTERRUPTION))


def _moment(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def resumed_model(world: World, loaded: Loaded | None) -> str | None:
    """The conversation's own model, unless the command line names another."""
    return loaded.model if loaded and not world.options.model else None


def limits(world: World) -> Limits:
    found = Limits(
        max_turns=world.options.max_turns,
        max_budget_usd=world.options.max_budget_usd,
        compact_percent=number("CLAUDE_AUTOCOMPACT_PCT_OVERRIDE", 0, world.env) or None,
        clear_results=world.settings.flag("toolResultClearing"),
        stop_hook_cap=number("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", 8, world.env),
        parallel_calls=number("CLAUDE_CODE_MAX_TOOL_USE_CONCURRENCY", 10, world.env) or 10,
    )
    follow_settings(found, world)
    return found


def follow_settings(limits: Limits, world: World) -> None:
    """What the settings say of the automatic compaction, as they stand now: it never runs against them."""
    enabled = world.settings.flag("autoCompactEnabled", True)
    limits.auto_compact = enabled and not truthy("DISABLE_AUTO_COMPACT", world.env)
    window = world.settings.get("autoCompactWindow")
    limits.compact_window = window if isinstance(window, int) and window > 0 else None


def _effort(world: World, models: Models, loaded: Loaded | None, model: str) -> Effort | None:
    kept = resumed_effort(loaded, model) if loaded and loaded.model else world.settings.text("effortLevel")
    effort = world.options.effort or kept
    return check_effort(effort, models.info(model)) if effort else None


def _thinking(options: SessionOptions, loaded: Loaded | None) -> ThinkingChoice:
    named = {"adaptive": "on", "disabled": "off"}.get(options.thinking or "")
    return cast("ThinkingChoice", named or (loaded.thinking if loaded else "default"))
