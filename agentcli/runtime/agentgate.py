"""The session's permissions as they hold for a subagent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from agentcli.permissions.gate import Gate
from agentcli.permissions.policy import decide
from agentcli.permissions.rules import Rule
from agentcli.permissions.verdicts import Policy
from agentcli.ports.permissions import Decision, PermissionMode, PermissionUpdate
from agentcli.ports.tools import ToolCall
from agentcli.runtime.site import Site

OVERRIDING: frozenset[PermissionMode] = frozenset({"bypassPermissions", "acceptEdits", "plan"})
"""Modes of the session that count for every agent, whatever its definition says."""
PATHS = ("file_path", "notebook_path", "path")


def rules_in(tree: Path, home: Path, rules: tuple[Rule, ...]) -> tuple[Rule, ...]:
    """In a worktree, what rules say of the session's checkout holds for the same files there.  What they guard stays
    guarded in both."""
    there = []
    for rule in rules:
        base = rule.base.resolve() if rule.base is not None and rule.kind == "path" else None
        moved = base is not None and base.is_relative_to(home)
        if base is not None and moved:
            there.append(replace(rule, base=tree / base.relative_to(home)))
        if not moved or rule.behavior != "allow":
            there.append(rule)
    return tuple(there)


@dataclass(slots=True, kw_only=True)
class AgentGate:
    """The session's policy, for an agent that works in a place of its own and may have a mode of its own.

    ``own`` are directories that this agent alone may read and write without asking; tools of ``lent`` it has for their
    sake only.
    """

    gate: Gate
    site: Site
    wanted: PermissionMode | None
    may_bypass: bool
    own: Sequence[Path] = ()
    lent: frozenset[str] = field(default_factory=frozenset)

    @property
    def mode(self) -> PermissionMode:
        session, wanted = self.gate.mode, self.wanted
        forbidden = wanted == "bypassPermissions" and not (self.may_bypass and self.gate.bypass_allowed)
        return session if wanted is None or forbidden or session in OVERRIDING else wanted

    def set_mode(self, mode: PermissionMode) -> None:
        self.gate.set_mode(mode)

    def check(self, call: ToolCall) -> Decision:
        place = self.site.place()
        named = {k: str(place.resolve(v)) for k in PATHS if isinstance(v := call.input.get(k), str)}
        if call.name in self.lent and not self._owned(named):
            return Decision("deny", f"{call.name} is there for the notes in {self.own[0]} only")
        session = self.gate.check(replace(call, input={**call.input, **named}))
        if session.behavior == "deny" and (session.rule == "memory" or (self.site.tree and session.rule)):
            return session
        own = decide(call, self._policy())
        guarded = session.behavior == "ask" and session.rule and self.site.tree is not None
        return session if guarded and own.behavior == "allow" else own

    def apply(self, updates: tuple[PermissionUpdate, ...]) -> None:
        self.gate.apply(updates)

    def _owned(self, named: dict[str, str]) -> bool:
        paths = [Path(text).resolve() for text in named.values()]
        return bool(paths) and all(any(p.is_relative_to(d) for d in self.own) for p in paths)

    def _policy(self) -> Policy:
        policy = self.gate.policy()
        ground = replace(policy.ground, workspace=self.site.place(), own=(*policy.ground.own, *self.own))
        return replace(policy, mode=self.mode, ground=ground, rules=self._rules(policy.rules))

    def _rules(self, rules: tuple[Rule, ...]) -> tuple[Rule, ...]:
        tree = self.site.tree
        return rules if tree is None else rules_in(tree.path, tree.home, rules)
