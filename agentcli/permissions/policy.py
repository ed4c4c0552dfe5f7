"""The policy: a pure function of a call, the rules, the mode and the file system.

Rules are looked at in the order deny, ask, allow; the first list that matches decides, and a deny from any file beats
an allow from any other.  What no rule decides is decided by the mode and by what the call would do.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any

from agentcli.hosts import host_of, is_local
from agentcli.permissions.confined import at_ease, unasked, without_wide_asks
from agentcli.permissions.filepolicy import may_edit, may_read
from agentcli.permissions.rules import EDIT_TOOLS, READ_TOOLS, SHELL_TOOLS, Rule
from agentcli.permissions.shellpolicy import judge_line
from agentcli.permissions.verdicts import Policy, Verdict, by_rule, deny, settle
from agentcli.ports.permissions import Decision, PermissionUpdate
from agentcli.ports.tools import ToolCall

HARMLESS = frozenset(
    {
        "TodoWrite",
        "BashOutput",
        "KillShell",
        "Agent",
        "ToolSearch",
        "AskUserQuestion",
        "Sleep",
        "SendMessage",
        "TaskStop",
    }
    | {"EnterPlanMode", "ExitPlanMode", "ListMcpResources"}
)
"""Tools that change nothing outside of the session, or that ask by themselves."""
DEFAULT_AGENT = "general-purpose"
"""The kind of an agent for which no kind is named."""
NAMES_NOTHING = Verdict("allow", "no file has a NUL character in its name")
"""Nobody needs to be asked: the tool refuses it in words for the model."""


def decide(call: ToolCall, policy: Policy) -> Decision:
    """Whether the call may run.  Never raises, whatever the input."""
    name = "Agent" if call.name == "Task" else call.name
    early = _by_name(name, call, policy)
    if early is not None and early.behavior == "deny":
        return settle([early], policy)
    if name in HARMLESS:
        return settle([early], policy) if early else Decision("allow", "it changes nothing outside of the session")
    if name in SHELL_TOOLS:
        return _shell(name, call, policy, early)
    verdicts = list(_judge(name, call, policy))
    if early is not None:
        verdicts.append(early)
    return settle(verdicts, policy)


def _by_name(name: str, call: ToolCall, policy: Policy) -> Verdict | None:
    """Deny and ask rules about the tool as a whole, about its name, or about one of its inputs."""
    asked: Verdict | None = None
    for rule in policy.rules:
        if rule.behavior == "allow" or not _names(rule, name, call.input):
            continue
        verdict = by_rule(rule, subject=name)
        if rule.behavior == "deny":
            return verdict
        asked = asked or verdict
    return asked


def _names(rule: Rule, name: str, values: Mapping[str, Any]) -> bool:
    match rule.kind:
        case "bare":
            return rule.tool == name or (rule.tool == "Edit" and name in EDIT_TOOLS)
        case "glob":
            return fnmatchcase(name, _literal_brackets(rule.tool))
        case "mcp":
            return _mcp(rule.tool, name)
        case "field":
            covers = rule.tool == name or (rule.tool.startswith("mcp__") and _mcp(rule.tool, name))
            return covers and _field(rule.pattern, values)
        case "name":
            return rule.tool == name and _named(rule, values)
        case "shell" | "path" | "domain":
            return False


def _mcp(rule: str, name: str) -> bool:
    """``mcp__server`` covers all of the server, and only of this one."""
    if "*" in rule:
        return fnmatchcase(name, _literal_brackets(rule))
    server = rule.removeprefix("mcp__")
    return name == rule or ("__" not in server and name.startswith(rule + "__"))


def _literal_brackets(pattern: str) -> str:
    return re.sub(r"([?\[])", r"[\1]", pattern)


def _field(pattern: str, values: Mapping[str, Any]) -> bool:
    field, _, wanted = pattern.partition(":")
    value = values.get(field)
    if value is None or isinstance(value, list | dict):
        return False
    text = value if isinstance(value, str) else json.dumps(value)
    return fnmatchcase(text, _literal_brackets(wanted))


def _named(rule: Rule, values: Mapping[str, Any]) -> bool:
    """Agents by type, skills by name (``name *``: with arguments too)."""
    keys = {"Agent": ("subagent_type", "agent"), "Skill": ("skill", "name", "command"), "SlashCommand": ("command",)}
    value = next((v for k in keys[rule.tool] if isinstance(v := values.get(k), str)), "").removeprefix("/")
    wanted = rule.pattern.removeprefix("/")
    if rule.tool == "Agent":
        return (value or DEFAULT_AGENT).lower() == wanted.lower()
    if wanted.endswith((" *", ":*")):
        return value == wanted[:-2] or value.startswith(wanted[:-2] + " ")
    return value == wanted


def _shell(name: str, call: ToolCall, policy: Policy, early: Verdict | None) -> Decision:
    command = call.input.get("command")
    if not isinstance(command, str) or not command.strip():
        return Decision("ask", "there is no command")
    confined = unasked(call.input, policy)
    if confined:
        policy = without_wide_asks(policy)
        early = _by_name(name, call, policy)
    _, verdicts = judge_line(command, policy, name)
    if confined:
        verdicts = [at_ease(v) for v in verdicts]
    if early is not None:
        verdicts.append(early)
    decision = settle(verdicts, policy, details=True)
    if decision.behavior == "ask" and policy.confinement is not None and not policy.confinement.covers(call.input):
        return replace(decision, reason=f"outside of the sandbox: {decision.reason}")
    return decision


def _judge(name: str, call: ToolCall, policy: Policy) -> Iterator[Verdict]:
    if name in READ_TOOLS:
        yield from _reads(name, call.input, policy)
    elif name in EDIT_TOOLS:
        path = _path(call.input, "file_path", "notebook_path", "path")
        if path is None:
            yield Verdict("ask", "there is no path")
        elif "\0" in path:
            yield NAMES_NOTHING
        else:
            yield may_edit(policy.ground.resolve(path), policy, tool=name)
    elif name == "WebFetch":
        yield _fetch(call.input, policy)
    else:
        yield _other(name, call, policy)


def _path(values: Mapping[str, Any], *keys: str) -> str | None:
    return next((v for k in keys if isinstance(v := values.get(k), str) and v), None)


def _reads(name: str, values: Mapping[str, Any], policy: Policy) -> Iterator[Verdict]:
    path = _path(values, "file_path", "path")
    if path is None and name in {"Read", "LSP"}:
        yield Verdict("ask", "there is no path")
        return
    pattern = values.get("pattern") if name == "Glob" else None
    if "\0" in f"{path}{pattern}":
        yield NAMES_NOTHING
        return
    yield may_read(policy.ground.resolve(path or "."), policy, tool=name)
    if isinstance(pattern, str) and (pattern.startswith(("/", "~")) or ".." in pattern.split("/")):
        head = re.split(r"[*?\[{]", pattern, maxsplit=1)[0].rpartition("/")[0] or "/"
        base = policy.ground.resolve(path or ".").lexical
        yield may_read(policy.ground.resolve(str(base / head) if not head.startswith("~") else head), policy, tool=name)


def _fetch(values: Mapping[str, Any], policy: Policy) -> Verdict:
    url = values.get("url")
    host = host_of(url) if isinstance(url, str) else ""
    for rule in (*policy.having("deny", "WebFetch"), *policy.having("ask", "WebFetch")):
        if rule.kind == "domain" and host and domain_matches(rule.pattern, host):
            return by_rule(rule, subject=str(url))
    inner = bool(host) and is_local(host)
    for rule in policy.having("allow", "WebFetch"):
        wide = rule.kind == "bare" or rule.pattern == "*"
        if wide and inner:  # whoever allows the web has not allowed what listens behind the firewall
            continue
        if rule.kind == "bare" or (host and domain_matches(rule.pattern, host)):
            return by_rule(rule, subject=str(url))
    if not host:
        return Verdict("ask", "the address has no host", subject=str(url))
    update = PermissionUpdate("addRules", (f"WebFetch(domain:{host})",), destination="localSettings")
    reason = f"{host} is this machine or its network, and no rule names it" if inner else f"no rule allows {host}"
    return Verdict("ask", reason, subject=str(url), suggestions=(update,))


def domain_matches(pattern: str, host: str) -> bool:
    """``domain:`` patterns: ``*`` alone is every host, ``*.host`` its subdomains; elsewhere ``*`` stays inside one
    label."""
    if pattern == "*":
        return True
    if pattern.startswith("*."):
        return host.endswith(pattern[1:]) and len(host) > len(pattern) - 1 and "*" not in pattern[1:]
    expression = "".join("[^.]*" if c == "*" else re.escape(c) for c in pattern)
    return re.fullmatch(expression, host) is not None


def _other(name: str, call: ToolCall, policy: Policy) -> Verdict:
    """MCP tools, skills, searches, and tools that we don't know."""
    for rule in policy.rules:
        if rule.behavior == "allow" and _names(rule, name, call.input):
            return by_rule(rule, subject=name)
    if name.startswith("mcp__"):
        plain = re.sub(r"[^A-Za-z0-9_-]", "_", name)
        return Verdict("ask", "no rule allows this MCP tool", subject=name, suggestions=_add(plain))
    if name == "Skill":
        skill = next((v for k in ("skill", "name", "command") if isinstance(v := call.input.get(k), str) and v), "")
        return Verdict("ask", "no rule allows this skill", suggestions=_add(f"Skill({skill})") if skill else ())
    if name == "WebSearch":
        return Verdict("ask", "no rule allows searching the web", suggestions=_add("WebSearch"))
    if policy.mode == "plan":
        return deny(f"plan mode only reads, and nothing is known about {name}")
    return Verdict("ask", f"no rule allows the tool {name}")


def _add(rule: str) -> tuple[PermissionUpdate, ...]:
    return (PermissionUpdate("addRules", (rule,), destination="localSettings"),)


def denied_wholly(name: str, rules: tuple[Rule, ...]) -> bool:
    """Whether a deny rule takes the tool away altogether, so that the model need not be told of it."""
    whole = (r for r in rules if r.behavior == "deny" and r.kind in {"bare", "glob", "mcp"})
    return any(_names(r, "Agent" if name == "Task" else name, {}) for r in whole)
