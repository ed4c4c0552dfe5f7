"""What a resumed session goes on with, and what had to change since: the same bytes, unless the user or another
version of the program wants others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from agentcli import __version__
from agentcli.conversation import PromptPart, SystemPrompt
from agentcli.messages import Json, user
from agentcli.model.catalog import check_effort, model_info
from agentcli.model.client import AnthropicClient
from agentcli.model.fingerprint import compare
from agentcli.ports.model import Effort, ModelRequest, ThinkingChoice, ToolSpec
from agentcli.ports.permissions import PERMISSION_MODES, PermissionMode
from agentcli.ports.prompt import StepContext
from agentcli.ports.sessions import PrefixRecord
from agentcli.sessions import Loaded

if TYPE_CHECKING:
    from agentcli.runtime.session import Session


def resumed_tools(
    record: PrefixRecord, present: Sequence[ToolSpec], known: Sequence[ToolSpec], *, chosen: bool
) -> tuple[ToolSpec, ...]:
    """The tool array as it was sent.

    Our own tools (``known``; ``present`` are those that a new session has in front) come as they are now, since it is
    this version that runs them; tools of servers stay as they were, whether the server is there or not.  ``chosen``:
    the command line names the tools, so theirs is the array.
    """
    here = {spec.name: spec for spec in known}
    recorded = [_spec(raw) for raw in record.tools]
    foreign = {spec.name: spec for spec in recorded if spec.mcp or spec.raw is not None}
    if chosen:
        return (*present, *foreign.values())
    every = here | foreign
    return tuple(replace(every[s.name], deferred=s.deferred) for s in recorded if s.name in every)


def resumed_effort(loaded: Loaded, model: str) -> Effort | None:
    """The conversation's effort, where the model still has it."""
    info = model_info(model)
    return check_effort(loaded.effort, info) if loaded.effort in info.efforts and loaded.effort else None


def resume_mode(session: Session, loaded: Loaded | None) -> str:
    """Puts the session into the permission mode that it was left in, and has the mode remembered.  A line for the user
    where that is not the mode they would have expected; empty otherwise.

    The command line has the last word.  A mode that allows more than the one of the settings comes back only in a
    project that is trusted, and ``bypassPermissions`` never: whoever wants it says so again.
    """
    gate, options = session.gate, session.world.options
    start, kept = gate.mode, _mode(loaded)
    line = ""
    if kept is not None and kept != start and options.permission_mode is None:
        line = _mode_line(kept, start, session)
        if kept != "bypassPermissions" and (_looseness(kept) <= _looseness(start) or session.world.settings.trusted):
            gate.set_mode(kept)
    if gate.mode != (kept or "default"):
        session.journal.append("mode", {"mode": gate.mode})
    return line


def _mode_line(kept: PermissionMode, start: PermissionMode, session: Session) -> str:
    if kept == "bypassPermissions":
        again = "--dangerously-skip-permissions brings it back"
        return f"The session was left in bypassPermissions; it goes on in {start} mode ({again})."
    if _looseness(kept) > _looseness(start) and not session.world.settings.trusted:
        return f"The session was left in {kept} mode; it goes on in {start} mode, since the project is not trusted."
    if session.world.options.interactive:  # the status line shows it
        return ""
    return f"The session goes on in {kept} mode, as it was left (--permission-mode chooses another)."


def _mode(loaded: Loaded | None) -> PermissionMode | None:
    return next((m for m in PERMISSION_MODES if loaded is not None and m == loaded.mode), None)


def _looseness(mode: PermissionMode) -> int:
    """How much a mode lets run without a question."""
    order: tuple[PermissionMode, ...] = ("plan", "dontAsk", "default", "acceptEdits", "bypassPermissions")
    return order.index(mode)


async def changed_front(session: Session, loaded: Loaded) -> str:
    """One line for the user where the resumed conversation can't be sent as it was; empty where it can."""
    record, client, state = loaded.prefix, session.client, session.state
    if record is None or not state.messages or not isinstance(client, AnthropicClient):
        return ""
    now = ModelRequest(
        system=await session.prompt.effective(StepContext(state.model, state.interactive)),
        tools=state.tools,
        messages=(user("."),),
        model=state.model,
        conversation=state.cache,
        conversation_id=state.conversation_id,
        effort=state.effort,
        thinking=state.thinking,
        query_source=state.query_source,
    )
    before = _recorded(record, now)
    _remember(session, client, loaded, before)
    change = compare(client.preview(before).fingerprint, client.preview(now).fingerprint)
    if change is None:
        return ""
    by = f" by version {__version__} (it was {loaded.version})" if loaded.version not in ("", __version__) else ""
    return f"The conversation is read uncached once, since it is resumed{by} with another beginning: {change.cause}."


def _recorded(record: PrefixRecord, now: ModelRequest) -> ModelRequest:
    """A request with the front that was sent last."""
    return replace(
        now,
        system=_system(record.system),
        tools=tuple(_spec(raw) for raw in record.tools),
        model=record.model,
        effort=_effort(record),
        thinking=_thinking(record),
    )


def _remember(session: Session, client: AnthropicClient, loaded: Loaded, front: ModelRequest) -> None:
    """Lets the cache monitor judge the next request against the last one before, as if there had been no end."""
    if loaded.last_usage is None or not loaded.answered_at or not loaded.messages[: loaded.asked]:
        return
    sent = replace(front, messages=loaded.messages[: loaded.asked])
    try:
        at = datetime.fromisoformat(loaded.answered_at)
    except ValueError:  # a damaged line
        return
    session.monitor.restore(front.conversation_id, client.preview(sent).fingerprint, loaded.last_usage, at)


def _system(raw: Json) -> SystemPrompt:
    return SystemPrompt(
        tuple(
            PromptPart(p["name"], p["kind"], p["text"], p.get("policy", "static"), p.get("reason", ""))
            for p in raw["parts"]
        ),
        raw["level"],
        append=raw["append"],
        layout=raw["layout"],
        global_scope=raw["global_scope"],
    )


def _spec(raw: Json) -> ToolSpec:
    return ToolSpec(
        name=raw["name"],
        description=raw["description"],
        input_schema=raw["input_schema"],
        deferred=bool(raw.get("deferred")),
        mcp=bool(raw.get("mcp")),
        raw=raw.get("raw"),
    )


def _effort(record: PrefixRecord) -> Effort | None:
    info = model_info(record.model)
    return check_effort(record.effort, info) if record.effort in info.efforts and record.effort else None


def _thinking(record: PrefixRecord) -> ThinkingChoice:
    match record.thinking:
        case "on" | "off":
            return record.thinking
        case _:
            return "default"
