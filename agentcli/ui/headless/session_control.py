"""Requests about files, the title and what ``.claude`` directories bring, in the shapes that clients take."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agentcli.commands.rewind import tell
from agentcli.commands.skills import slash_commands
from agentcli.errors import UsageError, UserError
from agentcli.extend.output_styles import DEFAULT
from agentcli.messages import Json
from agentcli.ports.checkpoints import FileStep, Rewound
from agentcli.runtime.session import Session


async def rewind_files(session: Session, body: Json) -> Mapping[str, Any]:
    """Files as they were before the turn of a user message; with ``dry_run`` only what would change.  ``UserError``
    where the message is unknown, a turn is running, or no file could be restored."""
    name = body.get("user_message_id")
    if not isinstance(name, str) or not name:
        raise UsageError("rewind_files needs the user_message_id of a prompt")
    dry = body.get("dry_run") is True
    if session.agent.busy and not dry:
        raise UserError("rewind_files: a turn is running; interrupt it first")
    point = next((p for p in session.checkpoints.points() if p.message_id == name), None)
    if point is None:
        raise UserError(f"rewind_files: there is no checkpoint of a user message {name!r} in this session")
    plan = await session.checkpoints.plan(point.position)
    if dry:
        return _changed(plan.doing)
    done = await session.checkpoints.restore(plan) if plan.doing else Rewound()
    if plan.steps and not done.done:
        raise UserError(f"rewind_files: no file could be restored: {_why(plan.refused, done)}")
    tell(session, done)
    return _changed(done.done)


def _why(refused: tuple[FileStep, ...], done: Rewound) -> str:
    kept = [f"{step.path} (changed by somebody else, or not kept)" for step in refused]
    return ", ".join([*kept, *(f"{path} ({why})" for path, why in done.failed)])


def _changed(steps: tuple[FileStep, ...]) -> dict[str, Any]:
    return {
        "canRewind": True,
        "filesChanged": [str(step.path) for step in steps],
        "insertions": sum(step.added or 0 for step in steps),
        "deletions": sum(step.removed or 0 for step in steps),
    }


async def seed_read_state(session: Session, body: Json) -> Mapping[str, Any]:
    """The client says that the model has seen a file as it was at ``mtime`` (milliseconds).  One that has changed
    since counts as unread, as it would anyway.  ``UserError`` where it can't be read."""
    named, mtime = body.get("path"), body.get("mtime")
    if not isinstance(named, str) or not named or isinstance(mtime, bool) or not isinstance(mtime, int | float):
        raise UsageError("seed_read_state needs a path and its mtime in milliseconds")
    path = session.workspace.cwd / Path(named).expanduser()
    try:
        if not path.is_file():
            raise UserError(f"seed_read_state: {path} is no file")
        if path.stat().st_mtime_ns // 1_000_000 == int(mtime):
            session.toolbox.seen.note(path, await asyncio.to_thread(path.read_bytes), whole=True)
    except OSError as error:
        raise UserError(f"seed_read_state: {path} can't be read: {error.strerror or error}") from error
    return {}


async def rename_session(session: Session, body: Json) -> Mapping[str, Any]:
    title, of = body.get("title"), body.get("session_id")
    if not isinstance(title, str) or not title.strip():
        raise UsageError("rename_session needs a title")
    if of is not None and of != session.id:
        raise UserError(f"rename_session: this is the session {session.id}, not {of}")
    session.rename(title)
    return {}


async def reload_skills(session: Session, body: Json) -> Mapping[str, Any]:
    session.extensions.refresh()
    found = slash_commands(session.extensions)
    return {"skills": [{"name": c.name, "description": c.description, "argumentHint": c.argument_hint} for c in found]}


async def reload_output_styles(session: Session, body: Json) -> Mapping[str, Any]:
    session.extensions.refresh()
    return {"available_output_styles": [DEFAULT, *session.extensions.styles]}
