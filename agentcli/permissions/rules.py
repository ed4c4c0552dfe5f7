"""Permission rules: ``Tool`` or ``Tool(specifier)``, parsed; what is wrong with a bad one."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from agentcli.hosts import ascii_host
from agentcli.ports.permissions import Behavior
from agentcli.ports.toolnames import LIMIT, SHORT, SHORT_SERVER, server_part, server_parts, tool_name
from agentcli.text import did_you_mean

SHELL_TOOLS = frozenset({"Bash", "PowerShell", "Monitor"})
READ_TOOLS = frozenset({"Read", "Grep", "Glob", "LS", "LSP"})
EDIT_TOOLS = frozenset({"Edit", "Write", "MultiEdit", "NotebookEdit"})
TOOLS = (
    SHELL_TOOLS
    | READ_TOOLS
    | EDIT_TOOLS
    | frozenset({"BashOutput", "KillShell", "TodoWrite", "WebFetch", "WebSearch", "Agent", "Task", "Skill", "Cd"})
    | frozenset({"AskUserQuestion", "ExitPlanMode", "EnterPlanMode", "SlashCommand", "ToolSearch", "Sleep"})
    | frozenset({"SendMessage", "TaskStop", "ListMcpResources", "ReadMcpResource", "McpCall"})
)
FIELDS: dict[str, frozenset[str]] = {
    "Bash": frozenset({"timeout", "description", "run_in_background", "dangerouslyDisableSandbox"}),
    "Read": frozenset({"offset", "limit", "pages"}),
    "Edit": frozenset({"replace_all"}),
    "Write": frozenset(),
    "WebFetch": frozenset({"prompt"}),
    "Agent": frozenset({"model", "description", "run_in_background"}),
}
"""Inputs that ``Tool(field:value)`` may name for tools that have a grammar of their own."""
Kind = Literal["bare", "shell", "path", "domain", "mcp", "name", "field", "glob"]


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule.  ``tool`` is the tool's name (a glob for ``glob``, ``mcp__server`` or a glob below it for ``mcp``);
    ``pattern`` the specifier; ``base`` the directory that ``/x`` of a path rule means; ``origin`` where it comes from.
    """

    behavior: Behavior
    kind: Kind
    tool: str
    pattern: str
    text: str
    origin: str = "session"
    base: Path | None = None

    @property
    def label(self) -> str:
        """The rule as decisions name it."""
        return f"{self.behavior} {self.text} ({self.origin})"


_FORM = re.compile(r"(?P<tool>[^()]+?)(?:\((?P<specifier>.*)\))?\Z", re.DOTALL)
_FIELD = re.compile(r"(?P<field>[A-Za-z_][A-Za-z0-9_]*):(?P<value>.*)\Z", re.DOTALL)
_NOT_A_NAME = re.compile(r"[^A-Za-z0-9_*-]")


def parse_rule(text: str, behavior: Behavior, origin: str = "session", base: Path | None = None) -> Rule | str:
    """The rule, or what is wrong with the text (one sentence, without the text)."""
    form = _FORM.match(text.strip())
    if form is None:
        return "a rule is Tool or Tool(specifier)" if text.strip() else "it is empty"
    tool, specifier = form["tool"].strip(), form["specifier"]
    if specifier is not None and specifier.strip() in {"", "*"}:
        if not specifier.strip():
            return "nothing between the parentheses; write the name alone for every use"
        specifier = None
    if tool.startswith("mcp__"):
        return _mcp(tool, specifier, behavior, text, origin, base)
    if "*" in tool:
        if behavior == "allow":
            return "a pattern of tool names can only deny or ask"
        if specifier is not None:
            return "a pattern of tool names takes no specifier"
        return Rule(behavior, "glob", tool, "", text, origin, base)
    if tool not in TOOLS:
        return f"there is no tool {tool}{did_you_mean(tool, TOOLS)}"
    if specifier is None:
        return Rule(behavior, "bare", _canonical(tool), "", text, origin, base)
    return _specified(tool, specifier.strip(), behavior, text, origin, base)


def _canonical(tool: str) -> str:
    return "Agent" if tool == "Task" else tool


def _mcp(tool: str, specifier: str | None, behavior: Behavior, text: str, origin: str, base: Path | None) -> Rule | str:
    server = _NOT_A_NAME.sub("_", tool).removeprefix("mcp__").partition("__")[0]
    name = _exposed(tool, behavior)
    if behavior == "allow" and ("*" in server or not server):
        return "an allow rule must name the server: mcp__server, mcp__server__* or mcp__server__tool"
    if specifier is None:
        return Rule(behavior, "mcp", name, "", text, origin, base)
    field = _FIELD.match(specifier)
    if field is None:
        return "an MCP tool takes (field:value) or nothing"
    if behavior == "allow":
        return "(field:value) can only deny or ask"
    return Rule(behavior, "field", name, specifier, text, origin, base)


def _exposed(tool: str, behavior: Behavior) -> str:
    """A rule's name as the tools are called: what can't stand in a name is replaced, what is too long carries a hash.
    To deny or ask, a name that is too long means everything that begins like it."""
    if "*" in tool:
        return _NOT_A_NAME.sub("_", tool)
    server, apart, own = tool.removeprefix("mcp__").partition("__")
    part = server_parts([server])[server]
    shown = part if behavior == "allow" or part == server_part(server) else f"{part[:SHORT_SERVER]}_*"
    if not apart:
        return f"mcp__{shown}"
    own_name = _NOT_A_NAME.sub("_", own)
    plain = f"mcp__{part}__{own_name}"
    if len(plain) <= LIMIT:
        return f"mcp__{shown}__{own_name}"
    if behavior == "allow":
        return tool_name(server, own, part=part)
    return f"mcp__{shown}__{own_name[: SHORT - len(plain) + len(own_name)]}_*"


def _specified(tool: str, specifier: str, behavior: Behavior, text: str, origin: str, base: Path | None) -> Rule | str:
    canonical = _canonical(tool)
    field = _FIELD.match(specifier)
    known = FIELDS.get("Bash" if tool in SHELL_TOOLS else canonical)
    if field and ((known is not None and field["field"] in known) or (known is None and tool not in _GRAMMAR)):
        if behavior == "allow":
            return "(field:value) can only deny or ask"
        return Rule(behavior, "field", canonical, specifier, text, origin, base)
    if tool in SHELL_TOOLS:
        return Rule(behavior, "shell", tool, specifier, text, origin, base)
    if tool in {"Read", "Edit", "Cd"}:
        return Rule(behavior, "path", tool, specifier, text, origin, base)
    if tool in READ_TOOLS | EDIT_TOOLS:
        return f"paths are ruled by {'Read' if tool in READ_TOOLS else 'Edit'}(path); {tool}(path) is never looked at"
    if tool == "WebFetch":
        if not specifier.startswith("domain:") or not specifier.removeprefix("domain:").strip():
            return "WebFetch takes (domain:host)"
        domain = specifier.removeprefix("domain:").strip().lower()
        return Rule(behavior, "domain", tool, ascii_host(domain) or domain, text, origin, base)
    if canonical in {"Agent", "Skill", "SlashCommand"}:
        return Rule(behavior, "name", canonical, specifier, text, origin, base)
    return f"{tool} takes no specifier; write {tool} alone"


_GRAMMAR = (
    SHELL_TOOLS
    | READ_TOOLS
    | EDIT_TOOLS
    | frozenset({"WebFetch", "WebSearch", "Agent", "Task", "Skill", "Cd", "SlashCommand"})
)


def parse_rules(
    texts: list[tuple[str, Behavior, str, Path | None]],
) -> tuple[tuple[Rule, ...], tuple[str, ...]]:
    """Every good rule of (text, behavior, origin, base), and one warning for every bad one."""
    rules: list[Rule] = []
    warnings: list[str] = []
    for text, behavior, origin, base in texts:
        found = parse_rule(text, behavior, origin, base)
        if isinstance(found, str):
            warnings.append(f"{origin}: the {behavior} rule {text!r} is ignored: {found}")
        else:
            rules.append(found)
    return tuple(rules), tuple(warnings)
