"""Events of tool calls, and of the questions whether they may run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from agentcli.messages import Json, Message
from agentcli.ports.display import Display


@dataclass(frozen=True, slots=True)
class ToolStarted:
    """A tool call begins to run (it has passed hooks and permissions).  After ``AssistantMessage``."""

    tool_use_id: str
    name: str
    input: Json
    title: str
    """The call's telling argument, one line."""


@dataclass(frozen=True, slots=True)
class ToolOutput:
    """Live output of a running tool.  Between ``ToolStarted`` and ``ToolFinished``."""

    tool_use_id: str
    text: str


@dataclass(frozen=True, slots=True)
class ToolFinished:
    """A tool call has its result.  Exactly once per call of an ``AssistantMessage``, whatever happened."""

    tool_use_id: str
    name: str
    title: str
    display: Display
    is_error: bool
    duration: float
    denied: bool = False
    interrupted: bool = False
    structured: Json | None = None
    """The result as data, where the tool has more to say than text."""


@dataclass(frozen=True, slots=True)
class ToolResultsAppended:
    """The results of one answer's calls became part of the conversation, in the order of the calls."""

    message: Message


@dataclass(frozen=True, slots=True)
class PermissionAsked:
    """A call waits for an answer.  Between ``AssistantMessage`` and the call's ``ToolStarted`` or ``ToolFinished``."""

    request_id: str
    tool_use_id: str
    name: str
    input: Json
    title: str
    reason: str
    preview: Display | None = None
    suggestions: tuple[Json, ...] = ()
    agent: str = ""
    """Name of the subagent that asks; empty for the main agent."""
    task: str = ""
    """What that subagent was told to do, in a few words."""
    blocked_path: str = ""
    """The file that the question is about, where it is about one."""


@dataclass(frozen=True, slots=True)
class PermissionResolved:
    """The question has its answer (from whom, see ``by``).  Exactly once per ``PermissionAsked``."""

    request_id: str
    allowed: bool
    by: Literal["user", "hook", "mode", "cancelled", "nobody"] = "user"
