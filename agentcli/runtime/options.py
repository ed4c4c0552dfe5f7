"""How a session is to be started.  The command line, the public Python interface and tests all fill this one value."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from agentcli.modes.loop import LoopPlan
from agentcli.ports.model import QuerySource
from agentcli.ports.permissions import PermissionMode

SettingSource = Literal["user", "project", "local"]
ALL_SOURCES: tuple[SettingSource, ...] = ("user", "project", "local")


@dataclass(frozen=True, slots=True)
class Resume:
    """Which session to go on with.  ``newest``: the newest of this directory that nobody owns; else ``query`` is an
    id, the unique beginning of one, or a title; an empty query asks in a picker.  ``fork`` leaves the old file alone
    and goes on in a copy."""

    newest: bool = False
    query: str = ""
    fork: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionOptions:
    """``None`` and empty values mean "not given": settings and defaults decide then."""

    cwd: Path = field(default_factory=Path.cwd)
    interactive: bool = True
    query_source: QuerySource = "repl"
    model: str | None = None
    fallback_model: str | None = None
    effort: str | None = None
    thinking: str | None = None
    betas: tuple[str, ...] = ()
    """Beta headers of the user's own."""
    system_prompt: str = ""
    append_system_prompt: str = ""
    override_system_prompt: str = ""
    agent: str = ""
    agents: str = ""
    """Agents of this session as JSON; they win over those of files."""
    permission_mode: PermissionMode | None = None
    allow_bypass: bool = False
    answers_permissions: bool = False
    """Permission questions can be answered although there is no terminal: over a protocol."""
    allowed_tools: tuple[str, ...] = ()
    disallowed_tools: tuple[str, ...] = ()
    tools: tuple[str, ...] | None = None
    """Names of the built-in tools that exist at all; ``None`` is all of them, an empty tuple none."""
    max_turns: int | None = None
    max_budget_usd: float | None = None
    settings: str = ""
    """A JSON file or JSON text."""
    setting_sources: tuple[SettingSource, ...] = ALL_SOURCES
    add_dirs: tuple[Path, ...] = ()
    mcp_config: tuple[str, ...] = ()
    """Files or JSON texts that name MCP servers."""
    strict_mcp_config: bool = False
    """Only the servers of ``mcp_config``."""
    resume: Resume | None = None
    session_id: str = ""
    name: str = ""
    persist: bool = True
    trust: bool = False
    sandbox: bool | None = None
    """Whether shell commands are confined; ``None`` leaves it to the settings."""
    bare: bool = False
    verbose: bool | None = None
    """A line for each request."""
    strict_permissions: bool = False
    loop: LoopPlan | None = None
    """One prompt again and again, under an override prompt of its own."""
    proactive: bool = False
    """The agent works on its own; needs the feature PROACTIVE or KAIROS."""
    wakes: bool = False
    """A background agent holds up no turn: its report begins one of its own, which the front end runs
    (``Waking.next``).  Interactive sessions always do so."""
    environment: dict[str, str] = field(default_factory=dict)
    """Added to the process's own environment for this session."""
