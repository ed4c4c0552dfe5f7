"""The policy of a running session: its mode, its rules, and what answers change about them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from agentcli.errors import UsageError
from agentcli.permissions.confinement import Confinement
from agentcli.permissions.filepolicy import may_read
from agentcli.permissions.places import Ground, place
from agentcli.permissions.policy import decide, denied_wholly
from agentcli.permissions.rules import Rule, parse_rule, parse_rules
from agentcli.permissions.servernames import resolved
from agentcli.permissions.store import RuleStore
from agentcli.permissions.verdicts import Policy, settle
from agentcli.ports.permissions import Behavior, Decision, PermissionMode, PermissionUpdate
from agentcli.ports.tools import ToolCall, Workspace
from agentcli.settings.merged import Settings


@dataclass(frozen=True, slots=True)
class GivenRules:
    """Rules of the command line (``--allowedTools``, ``--disallowedTools``)."""

    allow: tuple[str, ...] = ()
    ask: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()


class Gate:
    """The ``PermissionGate`` of a session.

    ``settings`` bring rules and say whether some could not be read; ``given`` are rules of the
    command line.  ``store`` writes what answers bring; without one every change lasts for the session.  ``private``
    are directories of the session that may be read without asking, ``own`` (settable) those that may be written too, by
    every name they have.  ``confinement`` (settable) says how a sandbox confines shell commands, ``servers``
    (settable) how the MCP servers are called.  ``warnings`` names every rule that is of no use; ``on_mode``, if set,
    hears of every change of the mode.
    """

    def __init__(
        self,
        workspace: Workspace,
        settings: Settings,
        *,
        mode: PermissionMode = "default",
        home: Path | None = None,
        environment: Mapping[str, str] | None = None,
        given: GivenRules | None = None,
        private: Iterable[Path] = (),
        store: RuleStore | None = None,
    ) -> None:
        self._workspace = workspace
        self._home = home
        self._environment = dict(os.environ if environment is None else environment)
        self._private = tuple(private)
        self.own: tuple[Path, ...] = ()
        self._store = store
        self.on_mode: Callable[[PermissionMode], None] | None = None
        self._mode: PermissionMode = mode
        self._bypass_allowed = True
        self.plan_files: tuple[Path, ...] = ()
        self.confinement: Confinement | None = None
        self.servers: tuple[str, ...] = ()
        self._session: list[Rule] = []
        self._line, self._line_warnings = _line_rules(workspace, given or GivenRules())
        self._rules: tuple[Rule, ...] = ()
        self._unsafe: tuple[str, ...] = ()
        self._trusted = False
        self._warnings: tuple[str, ...] = ()
        self.use(settings)

    @property
    def mode(self) -> PermissionMode:
        return self._mode

    def set_mode(self, mode: PermissionMode) -> None:
        """``UsageError`` where the settings forbid bypassing permissions."""
        if mode == "bypassPermissions" and not self._bypass_allowed:
            raise UsageError("the settings disable bypassPermissions (permissions.disableBypassPermissionsMode)")
        changed = mode != self._mode
        self._mode = mode
        if changed and self.on_mode is not None:
            self.on_mode(mode)

    @property
    def bypass_allowed(self) -> bool:
        return self._bypass_allowed

    @property
    def rules(self) -> tuple[Rule, ...]:
        """Every rule in force, with its origin: the session's first."""
        return (*self._session, *self._line, *self._rules)

    @property
    def warnings(self) -> tuple[str, ...]:
        return (*self._line_warnings, *self._warnings)

    def use(self, settings: Settings) -> None:
        """Takes the rules of (new) settings.  Rules of the session and of the command line stay."""
        texts: list[tuple[str, Behavior, str, Path | None]] = [
            (r.text, r.kind, r.source.label, r.source.base) for r in settings.rules()
        ]
        self._rules, self._warnings = parse_rules(texts)
        self._unsafe = settings.unsafe
        self._trusted = settings.trusted
        self._bypass_allowed = not settings.bypass_disabled
        if self._mode == "bypassPermissions" and not self._bypass_allowed:
            self.set_mode("default")

    def policy(self) -> Policy:
        """Everything that a decision depends on, as it is now."""
        ground = Ground(self._workspace, self._home, self._private, self.own, self._trusted)
        bounds = self.confinement
        rules = resolved(self.rules, self.servers)
        return Policy(self._mode, rules, ground, self._environment, self._unsafe, self.plan_files, bounds)

    def check(self, call: ToolCall) -> Decision:
        return decide(call, self.policy())

    def may_read(self, path: Path) -> Decision:
        """Whether a file may be read: for tools that meet files on their way (searches)."""
        policy = self.policy()
        return settle([may_read(place(path), policy)], policy)

    def hidden_tools(self, names: Iterable[str]) -> frozenset[str]:
        """Tools that a deny rule removes as a whole."""
        rules = resolved(self.rules, self.servers)
        return frozenset(n for n in names if denied_wholly(n, rules))

    def apply(self, updates: tuple[PermissionUpdate, ...]) -> None:
        """Takes over what an answer brought, then stores it.  ``UserError`` if a rule is none (nothing is taken over)
        or a file can't be written (the changes hold for the session all the same)."""
        parsed = [(u, self._parsed(u)) for u in updates]
        for update, rules in parsed:
            self._take(update, rules)
        for update in updates:
            if update.destination != "session" and self._store is not None:
                self._store.save(update)

    def _parsed(self, update: PermissionUpdate) -> list[Rule]:
        if update.type not in {"addRules", "replaceRules", "removeRules"}:
            return []
        found = [parse_rule(t, update.behavior, update.destination, self._workspace.start) for t in update.rules]
        for text, rule in zip(update.rules, found, strict=True):
            if isinstance(rule, str) and update.type != "removeRules":
                raise UsageError(f"the rule {text!r} can't be used: {rule}")
        return [r for r in found if not isinstance(r, str)]

    def _take(self, update: PermissionUpdate, rules: list[Rule]) -> None:
        match update.type:
            case "addRules":
                known = {(r.behavior, r.text) for r in self._session}
                self._session += [r for r in rules if (r.behavior, r.text) not in known]
            case "replaceRules":
                kept = [r for r in self._session if r.behavior != update.behavior or r.origin != update.destination]
                self._session = kept + rules
            case "removeRules":
                gone = set(update.rules)
                self._session = [r for r in self._session if r.behavior != update.behavior or r.text not in gone]
                self._rules = tuple(
                    r
                    for r in self._rules
                    if r.behavior != update.behavior or r.text not in gone or not _of(r, update.destination)
                )
            case "setMode":
                if update.mode is not None:
                    self.set_mode(update.mode)
            case "addDirectories":
                known_roots = set(self._workspace.extra_roots)
                paths = [self._workspace.resolve(d).resolve() for d in update.directories]
                self._workspace.extra_roots += [p for p in paths if p not in known_roots]
            case "removeDirectories":
                away = {self._workspace.resolve(d).resolve() for d in update.directories}
                self._workspace.extra_roots[:] = [r for r in self._workspace.extra_roots if r.resolve() not in away]


def _of(rule: Rule, destination: str) -> bool:
    words = {"userSettings": "user settings", "projectSettings": "project settings", "localSettings": "local settings"}
    return rule.origin.startswith(words.get(destination, "\0"))


def _line_rules(workspace: Workspace, given: GivenRules) -> tuple[tuple[Rule, ...], tuple[str, ...]]:
    lists: tuple[tuple[Behavior, tuple[str, ...]], ...] = (
        ("deny", given.deny),
        ("ask", given.ask),
        ("allow", given.allow),
    )
    return parse_rules([(t, behavior, "command line", workspace.start) for behavior, texts in lists for t in texts])
