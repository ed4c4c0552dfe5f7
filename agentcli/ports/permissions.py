"""Between the engine, the permission room and whoever can answer a question."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Protocol

from agentcli.messages import Json
from agentcli.ports.display import Display
from agentcli.ports.tools import ToolCall

PermissionMode = Literal["default", "acceptEdits", "plan", "dontAsk", "bypassPermissions"]
PERMISSION_MODES: tuple[PermissionMode, ...] = ("default", "acceptEdits", "plan", "dontAsk", "bypassPermissions")
Behavior = Literal["allow", "ask", "deny"]
Destination = Literal["session", "localSettings", "projectSettings", "userSettings"]


@dataclass(frozen=True, slots=True)
class PermissionUpdate:
    """A change of rules, mode or directories that an answer may bring (field names of the stream-json protocol)."""

    type: Literal["addRules", "replaceRules", "removeRules", "setMode", "addDirectories", "removeDirectories"]
    rules: tuple[str, ...] = ()
    behavior: Behavior = "allow"
    mode: PermissionMode | None = None
    directories: tuple[str, ...] = ()
    destination: Destination = "session"


@dataclass(frozen=True, slots=True)
class Decision:
    """What the policy says, and why.  ``rule`` is the rule that decided, with its origin; ``suggestions`` what
    "don't ask again" would save."""

    behavior: Behavior
    reason: str
    rule: str = ""
    suggestions: tuple[PermissionUpdate, ...] = ()
    blocked_path: str = ""
    details: tuple[str, ...] = ()
    """One line per simple command of a shell line: the command, what was decided for it, and why."""


class PermissionGate(Protocol):
    """The policy with the session's mode and rules.  Pure but for reading the file system to resolve paths."""

    @property
    def mode(self) -> PermissionMode: ...

    def set_mode(self, mode: PermissionMode) -> None: ...

    def check(self, call: ToolCall) -> Decision: ...

    def apply(self, updates: tuple[PermissionUpdate, ...]) -> None:
        """Takes over what an answer brought, and stores what its destination says.  ``UserError`` if a settings file
        can't be written; the rules hold for the session all the same."""


@dataclass(frozen=True, slots=True)
class ApprovalRequest:
    call: ToolCall
    title: str
    decision: Decision
    preview: Display | None = None
    agent: str = ""
    task: str = ""
    """Of the subagent that asks: its name, and what it does in a few words."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a permission question.  ``by`` says who gave it."""

    allowed: bool
    message: str = ""
    updated_input: Json | None = None
    updates: tuple[PermissionUpdate, ...] = ()
    interrupt: bool = False
    by: Literal["user", "hook", "mode", "cancelled", "nobody"] = "user"


class Approver(Protocol):
    """Asks whoever can answer.  Each question is answered exactly once; cancelling withdraws it."""

    async def ask(self, request: ApprovalRequest) -> Answer: ...


@dataclass(frozen=True, slots=True)
class HookEvent:
    """An event of ``extend/hooks``: its name and the fields of its standard input (without the common ones)."""

    name: str
    matcher: str = ""
    fields: Json | None = None


@dataclass(frozen=True, slots=True)
class HookVerdict:
    """The joined answer of all hooks that ran."""

    behavior: Behavior | None = None
    reason: str = ""
    updated_input: Json | None = None
    context: tuple[str, ...] = ()
    """``additionalContext``: goes to the model as a reminder."""
    messages: tuple[str, ...] = ()
    """For the user."""
    stop: bool = False
    stop_reason: str = ""
    extra: dict[str, Any] | None = None
    updates: tuple[PermissionUpdate, ...] = ()
    """What a PermissionRequest hook that allows a call changes about the permissions, beside this call."""
    interrupt: bool = False
    """A PermissionRequest hook that denies a call also ends the turn."""


class Hooks(Protocol):
    async def fire(self, event: HookEvent) -> HookVerdict: ...


class NoHooks:
    """Where no hooks are configured, or none may run."""

    async def fire(self, event: HookEvent) -> HookVerdict:
        return HookVerdict()
