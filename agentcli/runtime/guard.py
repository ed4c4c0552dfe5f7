"""The session's permission gate: rules of settings and command line, the start mode, where answers are stored."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from agentcli.errors import UsageError
from agentcli.paths import user_home
from agentcli.permissions.gate import Gate, GivenRules
from agentcli.permissions.store import RuleStore
from agentcli.ports.permissions import PERMISSION_MODES, PermissionMode
from agentcli.runtime.world import World


def make_gate(world: World, *, private: Iterable[Path] = ()) -> Gate:
    """``private`` are the session's own directories.  ``UsageError`` for a mode that is not allowed."""
    options = world.options
    paths = {source.scope: source.path for source in world.files.sources}
    gate = Gate(
        world.workspace,
        world.settings,
        home=user_home(world.env),
        environment=world.env,
        given=GivenRules(allow=options.allowed_tools, deny=options.disallowed_tools),
        private=private,
        store=RuleStore(local=paths.get("local"), project=paths.get("project"), user=paths.get("user")),
    )
    mode = start_mode(world)
    if mode != gate.mode:
        gate.set_mode(mode)
    return gate


def start_mode(world: World) -> PermissionMode:
    """Command line, then settings, then ``default``.  A mode of settings that is none is a ``UsageError``."""
    named = world.options.permission_mode or world.settings.text("permissions.defaultMode") or "default"
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
