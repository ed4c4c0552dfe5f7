"""The session's permission gate: rules of settings and command line, the start mode, where answers are stored."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from agentcli.errors import UsageError
from agentcli.memory import MemoryRoom, refuse_link, refuse_secret
from agentcli.paths import user_home
from agentcli.permissions.gate import Gate, GivenRules
from agentcli.permissions.rules import EDIT_TOOLS
from agentcli.permissions.store import RuleStore
from agentcli.ports.permissions import PERMISSION_MODES, Decision, PermissionMode
from agentcli.ports.tools import ToolCall
from agentcli.runtime.world import World


class SessionGate(Gate):
    """The gate of a session with memory: what the agent may note down is looked at before every rule."""

    memory: MemoryRoom | None = None
    missing: Callable[[str], str] | None = None
    """Why the session has no such tool; empty where it has."""

    def check(self, call: ToolCall) -> Decision:
        if self.missing is not None and (why := self.missing(call.name)):
            return Decision("deny", why)
        refused = self._refused(call)
        return Decision("deny", refused, rule="memory") if refused else super().check(call)

    def _refused(self, call: ToolCall) -> str | None:
        """Why a text may not be written to a memory file; ``None`` for every other call."""
        if self.memory is None or call.name not in EDIT_TOOLS:
            return None
        named = call.input.get("file_path") or call.input.get("notebook_path")
        path = self.policy().ground.workspace.resolve(str(named))
        text = str(call.input.get("content") or call.input.get("new_string") or call.input.get("new_source") or "")
        notes = next((d for d in self.memory.writable_directories() if path.is_relative_to(d)), None)
        return (refuse_link(path, notes) if notes else None) or refuse_secret(path, text)


def make_gate(
    world: World, *, private: Iterable[Path] = (), own: Iterable[Path] = (), memory: MemoryRoom | None = None
) -> SessionGate:
    """``private`` are the session's directories, ``own`` those that the agent may write in without asking (its notes
    come with ``memory``).  ``UsageError`` for a mode that is not allowed."""
    options = world.options
    paths = {source.scope: source.path for source in world.files.sources}
    gate = SessionGate(
        world.workspace,
        world.settings,
        home=user_home(world.env),
        environment=world.env,
        given=GivenRules(allow=options.allowed_tools, deny=options.disallowed_tools),
        private=private,
        store=RuleStore(local=paths.get("local"), project=paths.get("project"), user=paths.get("user")),
    )
    gate.memory = memory
    free = (*own, *(memory.writable_directories() if memory else ()))
    gate.own = tuple(dict.fromkeys(name for p in free for name in (p, p.resolve())))
    mode = start_mode(world)
    if mode != gate.mode:
        gate.set_mode(mode)
    return gate


def start_mode(world: World) -> PermissionMode:
    """Command line, then settings, then ``default``.  A mode of settings that is none is a ``UsageError``."""
    named = world.options.permission_mode or world.settings.text("permissions.defaultMode") or "default"
    if named == "manual":
        return "default"
    if named not in PERMISSION_MODES:
        raise UsageError(f"permissions.defaultMode {named!r}: one of {', '.join(PERMISSION_MODES)}")
    return named


def may_bypass(world: World) -> bool:
    """Whether Shift+Tab may reach ``bypassPermissions``."""
    return world.options.allow_bypass or start_mode(world) == "bypassPermissions"


def only_reads_line(command: str) -> bool:
    """Whether every command of a shell line only reads, so that the call may run beside other reading ones."""
    from agentcli.shell import parse
    from agentcli.shell.readonly import only_reads

    line = parse(command)
    return line.understood and not line.redirects and not any(only_reads(c) for c in line.commands)
