"""The setting ``statusLine``: a command of the user's that says what the status line shows.

It gets the session as JSON on standard input, under the names that the field's documentation of the setting gives.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from agentcli import __version__
from agentcli.errors import SetupError
from agentcli.events import AssistantMessage, ConversationCleared, Event, ToolFinished, TurnFinished
from agentcli.extend.output_styles import DEFAULT
from agentcli.messages import Usage
from agentcli.ports.display import DiffDisplay
from agentcli.processes import Limits
from agentcli.processes.environment import without_keys
from agentcli.runtime.branch import origin, work_tree

if TYPE_CHECKING:
    from agentcli.runtime.session import Session

SECONDS = 5.0
"""A command that takes longer is ended, and the line is blank."""
LARGE = 200_000
_LIMITS = Limits(memory=64 * 1024, file=64 * 1024, kill=16 * 1024 * 1024)


@dataclass(slots=True)
class StatusLine:
    """The command and what it is told beside the session's own state.  ``refresh`` are seconds after which it runs
    again by itself (``None``: never), ``padding`` blanks in front of each line."""

    session: Session
    command: str
    padding: int = 0
    refresh: float | None = None
    style: str = DEFAULT
    """The output style that the session began with."""
    vim_mode: str = ""
    """The mode of the input line (NORMAL, INSERT, VISUAL …); empty where it is not edited like vi."""
    _usage: Usage | None = None
    _durations: list[float] = field(default_factory=lambda: [0.0, 0.0])
    _lines: list[int] = field(default_factory=lambda: [0, 0])

    def hear(self, event: Event) -> None:
        """A listener of the session's events."""
        match event:
            case AssistantMessage(usage=usage):
                self._usage = usage
            case TurnFinished(duration=whole, api_duration=api):
                self._durations[0] += whole
                self._durations[1] += api
            case ToolFinished(display=DiffDisplay(before=before, after=after)):
                old, new = Counter((before or "").splitlines()), Counter(after.splitlines())
                self._lines[0] += (new - old).total()
                self._lines[1] += (old - new).total()
            case ConversationCleared():
                self._usage = None
            case _:
                pass

    async def run(self, columns: int, rows: int) -> str:
        """What the command printed; empty where it failed, printed nothing or took too long."""
        session = self.session
        env = {**without_keys(session.world.env), "COLUMNS": str(columns), "LINES": str(rows)}
        try:
            done = await session.toolbox.processes.run(
                ["/bin/sh", "-c", self.command],
                session.workspace.start,
                env=env,
                stdin=json.dumps(self.told()).encode(),
                stderr="discard",
                timeout=SECONDS,
                limits=_LIMITS,
            )
        except (OSError, SetupError):  # no shell, or the session is being closed
            return ""
        return "" if done.exit_code or done.timed_out else done.output.text.rstrip("\n")

    def told(self) -> dict[str, Any]:
        """What the command gets."""
        session, status = self.session, self.session.status()
        whole, api = self._durations
        added, removed = self._lines
        told: dict[str, Any] = {
            "session_id": session.id,
            "transcript_path": str(session.opened.path or ""),
            "cwd": status.cwd,
            "version": __version__,
            "model": {"id": status.model, "display_name": status.model_name},
            "workspace": self._workspace(status.cwd),
            "output_style": {"name": self.style},
            "cost": {
                "total_cost_usd": status.cost,
                "total_duration_ms": round(whole * 1000),
                "total_api_duration_ms": round(api * 1000),
                "total_lines_added": added,
                "total_lines_removed": removed,
            },
            "context_window": self._window(status.context_used, status.window),
            "exceeds_200k_tokens": status.context_used > LARGE,
            "thinking": {"enabled": session.state.thinking != "off"},
            "fast_mode": False,
            "permission_mode": status.mode,
            "cache_read_share": status.cache_read_share,
        }
        optional: dict[str, Any] = {
            "session_name": status.title,
            "effort": {"level": status.effort} if status.effort else None,
            "vim": {"mode": self.vim_mode} if self.vim_mode else None,
            "agent": {"name": session.world.options.agent} if session.world.options.agent else None,
        }
        return told | {key: value for key, value in optional.items() if value}

    def _workspace(self, cwd: str) -> dict[str, Any]:
        workspace = self.session.workspace
        tree, source = work_tree(workspace.start), origin(workspace.start)
        return {
            "current_dir": cwd,
            "project_dir": str(workspace.start),
            "added_dirs": [str(root) for root in workspace.extra_roots],
            **({"git_worktree": tree} if tree else {}),
            **({"repo": {"host": source.host, "owner": source.owner, "name": source.name}} if source else {}),
        }

    def _window(self, used: int, size: int) -> dict[str, Any]:
        usage = self._usage
        percent = round(100 * used / size) if size and usage else None
        return {
            "total_input_tokens": usage.total_input if usage else None,
            "total_output_tokens": usage.output if usage else None,
            "context_window_size": size,
            "used_percentage": percent,
            "remaining_percentage": None if percent is None else max(0, 100 - percent),
            "current_usage": usage
            and {
                "input_tokens": usage.input,
                "output_tokens": usage.output,
                "cache_creation_input_tokens": usage.cache_write,
                "cache_read_input_tokens": usage.cache_read,
            },
        }


def status_line(session: Session) -> StatusLine | None:
    """The session's status line command; ``None`` where none is set, it is not one, or hooks are switched off.  The
    settings hold back one of a project that is not trusted."""
    settings = session.world.settings
    value = settings.get("statusLine")
    if not isinstance(value, dict) or settings.flag("disableAllHooks") or os.name != "posix":
        return None
    command, padding, refresh = value.get("command"), value.get("padding"), value.get("refreshInterval")
    if value.get("type") != "command" or not isinstance(command, str) or not command.strip():
        return None
    return StatusLine(
        session,
        command,
        style=session.extensions.style_name(),
        padding=min(max(padding, 0), 8) if isinstance(padding, int) else 0,
        refresh=max(float(refresh), 1.0) if isinstance(refresh, int | float) and refresh > 0 else None,
    )
