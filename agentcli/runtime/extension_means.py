"""With what the session's hooks and skills run, and what they may."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from agentcli.agent.state import SessionState
from agentcli.errors import ToolError
from agentcli.extend.expand import Surroundings
from agentcli.extend.hooks import HookMeans, HookRoom, read_hooks
from agentcli.extend.hooks.running import AskModel
from agentcli.extend.places import project_root
from agentcli.extend.room import Extensions
from agentcli.permissions.gate import Gate
from agentcli.permissions.policy import decide
from agentcli.permissions.rules import Rule, parse_rule
from agentcli.ports.display import CommandDisplay
from agentcli.ports.permissions import Behavior, PermissionUpdate
from agentcli.ports.skills import InvokedSkill, LineOutcome
from agentcli.ports.tools import ToolCall
from agentcli.processes import ProcessManager
from agentcli.runtime.world import World
from agentcli.settings.merged import Settings
from agentcli.tools.bash_run import Foreground, check_command, perform
from agentcli.tools.bash_shell import Shell

LINE_SECONDS = 120.0
"""How long a command inside a skill's text may take."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Connections:
    """What the extensions need of the other rooms.  ``environment`` is what children get beside the session's own;
    ``transcript`` names the session's file; ``warn`` takes warnings for the user."""

    world: World
    gate: Gate
    state: SessionState
    processes: ProcessManager
    shell: Shell
    environment: Callable[[], Mapping[str, str]]
    spill: Callable[[str, str], Path]
    transcript: Callable[[], str]
    warn: Callable[[str], None]
    ask_model: AskModel | None = None
    env_file: Callable[[], Path] | None = None
    """The file whose exports later shell commands get."""


def connect(extensions: Extensions, to: Connections) -> HookRoom:
    """Lets skills run commands and read files under the permission rules, grants what they bring, and makes the hooks,
    which are ``extensions.hooks`` from then on."""
    world, workspace = to.world, to.world.workspace
    root = project_root(workspace.start)

    def surroundings() -> Surroundings:
        return Surroundings(
            cwd=workspace.cwd,
            project=root,
            session_id=to.state.session_id,
            effort=to.state.effort or "",
            run=SkillLines(to),
            may_read=lambda path: (
                to.gate.check(ToolCall("skill", "Read", {"file_path": str(path)})).behavior == "allow"
            ),
        )

    extensions.surroundings = surroundings
    config = read_hooks(world.settings)
    for warning in (*extensions.warnings, *config.warnings):
        to.warn(warning)
    means = HookMeans(
        processes=to.processes,
        environment=lambda: {**world.env, **to.environment()},
        cwd=lambda: workspace.cwd,
        project=root,
        spill=to.spill,
        common=lambda: common_fields(to),
        notify=to.warn,
        ask_model=to.ask_model,
        env_file=to.env_file,
        matches_rule=lambda rule, tool, given: about(rule, ToolCall("hook", tool, given), to.gate),
    )
    room = HookRoom(config, means)
    extensions.hooks = room
    return room


def renew(extensions: Extensions, settings: Settings) -> None:
    """The settings were read again, or the project was trusted meanwhile."""
    extensions.use(settings, trusted=settings.trusted)
    if isinstance(extensions.hooks, HookRoom):
        extensions.hooks.use(read_hooks(settings))


def common_fields(to: Connections) -> dict[str, Any]:
    """What every hook is told, whatever happened."""
    state = to.state
    effort = {"effort": {"level": state.effort}} if state.effort else {}
    return {
        "session_id": state.session_id,
        "transcript_path": to.transcript(),
        "cwd": str(to.world.workspace.cwd),
        "permission_mode": to.gate.mode,
        **effort,
    }


def about(rule: str, call: ToolCall, gate: Gate) -> bool:
    """Whether a permission rule is about a call.  A rule that can't be read is about every call: a hook that guards
    something must rather run once too often."""
    parsed = parse_rule(rule, "deny", "hook", gate.policy().ground.workspace.start)
    if isinstance(parsed, str):
        return True
    decision = decide(call, replace(gate.policy(), mode="bypassPermissions", rules=(parsed,), unsafe=()))
    return decision.behavior == "deny" or (decision.behavior == "ask" and bool(decision.rule))


@dataclass(frozen=True, slots=True)
class SkillLines:
    """``ports.skills.RunLine``: runs a line of a skill if the rules and those of the skill itself allow it."""

    to: Connections

    async def __call__(self, command: str, allowed: tuple[str, ...]) -> LineOutcome:
        policy = self.to.gate.policy()
        own = usable(allowed, self.to.world.workspace.start)
        # It runs outside of any sandbox, so that none stands in for a rule.
        policy = replace(policy, rules=(*policy.rules, *own), confinement=None)
        decision = decide(ToolCall("skill", "Bash", {"command": command}), policy)
        if decision.behavior != "allow":
            return LineOutcome(refused=decision.reason)
        how = Foreground(
            self.to.shell.environment(self.to.environment()),
            lambda text: None,
            self.to.spill,
            timeout=LINE_SECONDS,
            follow=False,
        )
        try:
            result = await perform(self.to.shell, check_command(command), self.to.world.workspace, how)
        except ToolError as error:
            return LineOutcome(str(error), exit_code=1)
        shown = result.for_user
        if not isinstance(shown, CommandDisplay):
            return LineOutcome(exit_code=int(result.is_error))
        return LineOutcome(shown.output, exit_code=(shown.exit_code or 1) if result.is_error else 0)


def usable(rules: tuple[str, ...], base: Path, behavior: Behavior = "allow") -> tuple[Rule, ...]:
    """The rules that can be read."""
    parsed = (parse_rule(text, behavior, "skill", base) for text in rules)
    return tuple(rule for rule in parsed if not isinstance(rule, str))


@dataclass(slots=True)
class SkillGrants:
    """The rules of invoked skills: in force until the user's next message.

    ``give`` is for ``Extensions.on_invoke``; call ``turn_begins`` with each prompt and ``turn_ended`` after it.
    """

    gate: Gate
    base: Path
    _waiting: list[PermissionUpdate] = field(default_factory=list)
    _active: list[PermissionUpdate] = field(default_factory=list)
    _running: bool = False

    def give(self, skill: InvokedSkill) -> None:
        known = {(rule.behavior, rule.text) for rule in self.gate.rules}
        brought: dict[Behavior, tuple[str, ...]] = {"allow": skill.allowed_tools, "deny": skill.disallowed_tools}
        given = []
        for behavior, texts in brought.items():
            new = (r.text for r in usable(texts, self.base, behavior) if (behavior, r.text) not in known)
            given.append(PermissionUpdate("addRules", tuple(new), behavior))
        for update in (u for u in given if u.rules):
            self.gate.apply((update,))
            (self._active if self._running else self._waiting).append(update)

    def turn_begins(self) -> None:
        """Takes back what the turn before was granted."""
        for update in self._active:
            self.gate.apply((replace(update, type="removeRules"),))
        self._active, self._waiting, self._running = self._waiting, [], True

    def turn_ended(self) -> None:
        self._running = False
