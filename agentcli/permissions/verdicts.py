"""What is said about one part of a call, and how the parts and the mode make one decision."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, get_args

from agentcli.permissions.confinement import Confinement
from agentcli.permissions.places import Ground
from agentcli.permissions.rules import Rule
from agentcli.ports.permissions import Behavior, Decision, PermissionMode, PermissionUpdate

Weight = Literal["default", "protected", "unclear", "doubtful", "destructive", "critical", "rule", "unsafe"]
"""Why something is asked about, weakest first.  ``default``: nothing allows it; ``protected``: a file that is not
changed silently; ``unclear``: it can't be judged; ``doubtful``: a deny rule for files may hold; ``destructive``;
``critical``: a removal of everything; ``rule``: an ask rule (or a rule that may hold); ``unsafe``: rules could not be
read."""
_ORDER: tuple[Weight, ...] = get_args(Weight)
_WAIVED: frozenset[Weight] = frozenset({"default", "protected", "unclear"})
"""What bypassPermissions does not ask about."""
MOST_SUGGESTIONS = 5


@dataclass(frozen=True, slots=True)
class Policy:
    """Everything that a decision depends on, apart from the files on disk.

    ``unsafe``: why deny or ask rules may be missing.  ``plan_files``: what may be written in plan mode.
    ``confinement``: how the sandbox confines shell commands, ``None`` where there is none.
    """

    mode: PermissionMode
    rules: tuple[Rule, ...]
    ground: Ground
    environment: Mapping[str, str] = field(default_factory=dict)
    unsafe: tuple[str, ...] = ()
    plan_files: tuple[Path, ...] = ()
    confinement: Confinement | None = None

    def having(self, behavior: Behavior, *tools: str) -> tuple[Rule, ...]:
        """The rules of one behaviour about one of the tools, in the order of the files."""
        return tuple(r for r in self.rules if r.behavior == behavior and r.tool in tools)


@dataclass(frozen=True, slots=True)
class Verdict:
    behavior: Behavior
    reason: str
    weight: Weight = "default"
    rule: str = ""
    suggestions: tuple[PermissionUpdate, ...] = ()
    path: str = ""
    subject: str = ""
    """The command or file that this is about."""

    @property
    def line(self) -> str:
        return f"{self.behavior}: {self.subject}: {self.reason}" if self.subject else f"{self.behavior}: {self.reason}"


def allow(reason: str, *, rule: str = "", subject: str = "") -> Verdict:
    return Verdict("allow", reason, rule=rule, subject=subject)


def deny(reason: str, *, rule: str = "", subject: str = "", path: str = "") -> Verdict:
    return Verdict("deny", reason, rule=rule, subject=subject, path=path)


def by_rule(rule: Rule, *, subject: str = "", path: str = "") -> Verdict:
    """What a rule says, whatever the mode."""
    words = {"deny": "denied by the rule", "ask": "the rule asks:", "allow": "allowed by the rule"}
    reason = f"{words[rule.behavior]} {rule.text} ({rule.origin})"
    return Verdict(rule.behavior, reason, "rule", rule.label, subject=subject, path=path)


def settle(verdicts: Iterable[Verdict], policy: Policy, *, details: bool = False) -> Decision:
    """One decision of many verdicts: a deny wins, then the weightiest question, under the session's mode."""
    found = [_under_mode(v, policy) for v in verdicts]
    lines = tuple(v.line for v in found) if details else ()
    denied = next((v for v in found if v.behavior == "deny"), None)
    if denied is not None:
        return Decision("deny", _named(denied), denied.rule, blocked_path=denied.path, details=lines)
    asking = [v for v in found if v.behavior == "ask"]
    if not asking:
        first = found[0] if found else allow("nothing to judge")
        return Decision("allow", first.reason, next((v.rule for v in found if v.rule), ""), details=lines)
    top = max(asking, key=lambda v: _ORDER.index(v.weight))
    return Decision(
        "ask",
        _named(top),
        top.rule,
        suggestions=_suggestions(asking),
        blocked_path=top.path,
        details=lines,
    )


def _named(verdict: Verdict) -> str:
    subject = verdict.subject.replace("\n", " ")
    if not subject or subject in verdict.reason:
        return verdict.reason
    return f"{subject if len(subject) <= 80 else subject[:79] + '…'}: {verdict.reason}"


def _under_mode(verdict: Verdict, policy: Policy) -> Verdict:
    if policy.unsafe and (verdict.behavior == "allow" or verdict.weight in _WAIVED) and verdict.behavior != "deny":
        reason = f"deny and ask rules may be missing: {policy.unsafe[0]}"
        verdict = Verdict("ask", reason, "unsafe", subject=verdict.subject)
    if verdict.behavior != "ask":
        return verdict
    if policy.mode == "bypassPermissions" and verdict.weight in _WAIVED:
        return replace(verdict, behavior="allow", reason="allowed by the mode bypassPermissions", suggestions=())
    if policy.mode == "dontAsk":
        reason = f"{verdict.reason} (the mode dontAsk refuses what is not allowed beforehand)"
        return replace(verdict, behavior="deny", reason=reason, suggestions=())
    return verdict


def _suggestions(asking: list[Verdict]) -> tuple[PermissionUpdate, ...]:
    """The suggestions of all parts, rules of one kind joined; none when they would be too many."""
    joined: dict[tuple[str, str, str], PermissionUpdate] = {}
    for verdict in asking:
        for update in verdict.suggestions:
            key = (update.type, update.behavior, update.destination)
            old = joined.get(key)
            if old is None:
                joined[key] = update
            else:
                joined[key] = replace(
                    old,
                    rules=tuple(dict.fromkeys(old.rules + update.rules)),
                    directories=tuple(dict.fromkeys(old.directories + update.directories)),
                )
    return tuple(u for u in joined.values() if len(u.rules) <= MOST_SUGGESTIONS)
