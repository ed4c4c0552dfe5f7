"""The session's sandbox: whether there is one, what it lets through, and which commands it takes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from agentcli.errors import SetupError
from agentcli.messages import Json
from agentcli.paths import user_home
from agentcli.permissions.confined import MOST, denied_files
from agentcli.permissions.confinement import Confinement, read_confinement
from agentcli.permissions.gate import Gate
from agentcli.ports.sandbox import Wrap
from agentcli.ports.tools import Workspace
from agentcli.runtime.agentgate import rules_in
from agentcli.runtime.world import World
from agentcli.sandbox.confines import Guarded
from agentcli.sandbox.mechanism import Mechanism, Missing, find_mechanism
from agentcli.sandbox.room import Sandbox, read_wishes
from agentcli.settings.git import git_root


@dataclass(frozen=True, slots=True)
class ConfinedCommands:
    """``ports.sandbox.CommandSandbox``: the rules about which commands, and the mechanism."""

    confinement: Confinement
    sandbox: Sandbox

    @property
    def may_leave(self) -> bool:
        return self.confinement.may_leave

    @property
    def network(self) -> bool:
        return self.sandbox.network

    @property
    def ends_all(self) -> bool:
        return self.sandbox.ends_all

    @property
    def environment(self) -> dict[str, str]:
        return self.sandbox.environment

    def covers(self, values: Json) -> bool:
        return self.confinement.covers(values)

    def wrap(self, workspace: Workspace) -> Wrap:
        return self.sandbox.wrap(workspace)

    def close(self) -> None:
        self.sandbox.close()


def sandbox_settings(world: World) -> dict[str, Any] | None:
    """The setting ``sandbox`` of a session that wants one (``sandbox.enabled``, ``--sandbox``)."""
    settings = world.settings.get("sandbox")
    settings = settings if isinstance(settings, dict) else {}
    wanted = world.options.sandbox if world.options.sandbox is not None else settings.get("enabled") is True
    return settings if wanted else None


def confinement_here(world: World) -> Confinement | None:
    """How a session would confine its commands, if this machine can."""
    settings = sandbox_settings(world)
    if settings is None or isinstance(_mechanism(world, settings), Missing):
        return None
    return read_confinement(settings)


def _mechanism(world: World, settings: dict[str, Any]) -> Mechanism | Missing:
    wish = settings.get("bwrapPath")
    return find_mechanism(world.env, wish=wish if isinstance(wish, str) else "")


def make_sandbox(
    world: World, gate: Gate, *, directory: Callable[[], Path], own: Iterable[Path], warn: Callable[[str], None]
) -> ConfinedCommands | None:
    """The sandbox that the settings ask for, told to the gate as well.  Where the machine has none, a warning, or with
    ``sandbox.failIfUnavailable`` a ``SetupError``."""
    settings = sandbox_settings(world)
    if settings is None:
        return None
    found = _mechanism(world, settings)
    if isinstance(found, Missing):
        text = f"There is no sandbox: {found.reason}. To get one: {found.todo}."
        if settings.get("failIfUnavailable") is True:
            raise SetupError(f"{text} (sandbox.failIfUnavailable forbids to go on without)")
        warn(f"{text} Commands run without it and are asked about as always.")
        return None
    home = user_home(world.env)
    wishes, warnings = read_wishes(settings, base=world.workspace.start, home=home)
    for warning in warnings:
        warn(warning)
    sandbox = Sandbox(
        found,
        wishes,
        lambda workspace: _guarded(gate, workspace, warn),
        temporary=directory() / "tmp",
        own=own,
        home=home,
        env=world.env,
    )
    confinement = gate.confinement = read_confinement(settings)
    _guarded(gate, world.workspace, warn)
    return ConfinedCommands(confinement, sandbox)


def _guarded(gate: Gate, workspace: Workspace, warn: Callable[[str], None]) -> Guarded:
    """What deny rules mean now.  Where not all of it can be found, the sandbox stands in for no question any more."""
    policy = gate.policy()
    home, tree = git_root(policy.ground.workspace.start), git_root(workspace.start)
    rules = rules_in(tree, home, policy.rules) if tree and home and tree != home else policy.rules
    policy = replace(policy, ground=replace(policy.ground, workspace=workspace), rules=rules)
    (unreadable, read_all), (unwritable, edit_all) = denied_files(policy, "Read"), denied_files(policy, "Edit")
    bounds = gate.confinement
    if bounds is not None and bounds.unasked and not (read_all and edit_all):
        gate.confinement = replace(bounds, unasked=False)
        warn(
            f"The working directories hold more than {MOST:,} files, too many to find all that deny rules mean: "
            "confined commands are asked about as always."
        )
    return Guarded(unreadable, unwritable)
