"""MCP rules where servers share the visible part of their names (``a b`` and ``a.b`` are both ``mcp__a_b``)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from agentcli.permissions.rules import Rule
from agentcli.ports.toolnames import server_part, server_parts, tool_name


def resolved(rules: tuple[Rule, ...], servers: Sequence[str]) -> tuple[Rule, ...]:
    """The rules as they hold among these servers.  An allow rule with a server's own name means this server alone; to
    deny or to ask, a rule means every server that it may have been written for."""
    shared = {server_part(s) for s in servers if server_part(s) != s}
    if not shared:
        return rules
    parts = server_parts(list(servers))
    return tuple(found for rule in rules for found in _meant(rule, shared, parts))


def _meant(rule: Rule, shared: set[str], parts: dict[str, str]) -> Iterator[Rule]:
    server, apart, own = rule.text.strip().partition("(")[0].removeprefix("mcp__").partition("__")
    part = server_part(server)
    if not rule.tool.startswith("mcp__") or "*" in rule.text.partition("(")[0] or part not in shared:
        yield rule
        return
    if rule.behavior == "allow":
        if server in parts:
            yield _of(rule, server, parts[server], apart, own)
        elif server == part:  # written as its tools are called
            yield rule
        return
    yield rule
    for name, visible in parts.items():
        if server_part(name) == part and visible != part:
            yield _of(rule, name, visible, apart, own)


def _of(rule: Rule, server: str, part: str, apart: str, own: str) -> Rule:
    return replace(rule, tool=tool_name(server, own, part=part) if apart else f"mcp__{part}")
