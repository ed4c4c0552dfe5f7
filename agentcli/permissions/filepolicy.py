"""Reading and changing files: what the path rules, the mode and the place say."""

from __future__ import annotations

import os

from agentcli.permissions.pathpatterns import matches
from agentcli.permissions.places import HARMLESS_DEVICES, Place, protected
from agentcli.permissions.rules import EDIT_TOOLS, READ_TOOLS, Rule
from agentcli.permissions.verdicts import Policy, Verdict, allow, by_rule, deny
from agentcli.ports.permissions import Behavior, PermissionUpdate


def guard(where: Place, policy: Policy, behavior: Behavior, *tools: str) -> Rule | None:
    """The first path rule of this behaviour about one of the tools that covers the file."""
    for rule in policy.having(behavior, *tools):
        if rule.kind == "path" and matches(rule, where, policy.ground):
            return rule
    return None


def may_read(where: Place, policy: Policy, *, tool: str = "Read") -> Verdict:
    """Whether a file (or a directory and what is in it) may be read."""
    subject = str(where.lexical)
    for behavior in ("deny", "ask"):
        if rule := guard(where, policy, behavior, "Read"):
            return by_rule(rule, subject=subject, path=subject)
    if subject in HARMLESS_DEVICES:
        return allow("a device without content of its own", subject=subject)
    if policy.ground.inside(where):
        return allow("it lies in a working directory", subject=subject)
    if rule := guard(where, policy, "allow", "Read"):
        return by_rule(rule, subject=subject)
    for name in dict.fromkeys((tool, "Read")):
        if rule := _bare(policy, "allow", name):
            return by_rule(rule, subject=subject)
    reason = "it lies outside of the working directories"
    if where.real != where.lexical:
        reason += f" (it is {where.real})"
    return Verdict("ask", reason, subject=subject, path=subject, suggestions=_directory(where, "Read"))


def may_edit(where: Place, policy: Policy, *, tool: str = "Edit") -> Verdict:
    """Whether a file may be written, made or removed."""
    subject = str(where.lexical)
    if rule := guard(where, policy, "deny", "Edit") or guard(where, policy, "deny", "Read"):
        return by_rule(rule, subject=subject, path=subject)
    if rule := guard(where, policy, "ask", "Edit"):
        return by_rule(rule, subject=subject, path=subject)
    if free := _free(where, policy):
        return allow(free, subject=subject)
    if policy.mode == "plan":
        return _planned(where, policy)
    why = protected(where)
    allowing = guard(where, policy, "allow", "Edit")
    if allowing and (not why or _names_protected(allowing, why)):
        return by_rule(allowing, subject=subject)
    if not why:
        for name in dict.fromkeys((tool, "Edit")):
            if rule := _bare(policy, "allow", name):
                return by_rule(rule, subject=subject)
    if why:
        return Verdict("ask", why, "protected", subject=subject, path=subject)
    inside = policy.ground.inside(where)
    if inside and policy.mode == "acceptEdits":
        return allow("the mode acceptEdits allows edits in the working directories", subject=subject)
    reason = "no rule allows the edit" if inside else "it lies outside of the working directories"
    if where.real != where.lexical and not inside:
        reason += f" (it is {where.real})"
    mode = PermissionUpdate("setMode", mode="acceptEdits")
    suggestions = (mode,) if inside else _directory(where, "Edit")
    return Verdict("ask", reason, subject=subject, path="" if inside else subject, suggestions=suggestions)


def _free(where: Place, policy: Policy) -> str:
    """Why the file may be written without any rule; empty where it may not."""
    if str(where.lexical) in HARMLESS_DEVICES:
        return "a device without content of its own"
    if policy.mode != "plan" and policy.ground.owned(where):
        return "it lies in a directory of the agent's own"
    return ""


def _planned(where: Place, policy: Policy) -> Verdict:
    subject = str(where.lexical)
    if any(p.resolve() == where.real for p in policy.plan_files):
        return allow("it is the plan", subject=subject)
    return deny("plan mode changes no files; leave it first", subject=subject, path=subject)


def _bare(policy: Policy, behavior: Behavior, tool: str) -> Rule | None:
    return next((r for r in policy.having(behavior, tool) if r.kind == "bare"), None)


def _names_protected(rule: Rule, why: str) -> bool:
    """A rule allows a protected file only if it names what is protected."""
    return why.partition(" ")[0] in rule.pattern.lower()


def _directory(where: Place, tool: str) -> tuple[PermissionUpdate, ...]:
    """For this session: everything in the directory of the file."""
    folder = where.real if os.path.isdir(where.real) else where.real.parent
    if len(folder.parts) <= 2 or tool not in READ_TOOLS | EDIT_TOOLS:
        return ()
    return (PermissionUpdate("addRules", (f"{tool}(/{folder}/**)",)),)
