"""``agentcli permissions test 'Bash(cmd)'``: the decision, the rule, and the commands as they were read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from agentcli.errors import UsageError
from agentcli.permissions.policy import decide
from agentcli.permissions.rules import EDIT_TOOLS, READ_TOOLS, SHELL_TOOLS, TOOLS
from agentcli.permissions.verdicts import Policy
from agentcli.ports.tools import ToolCall
from agentcli.shell import CommandLine, SimpleCommand, parse

_FORM = re.compile(r"(?P<tool>[A-Za-z_][A-Za-z0-9_.-]*)\((?P<argument>.*)\)\s*\Z", re.DOTALL)


def call_of(text: str) -> ToolCall:
    """The call that a text means: ``Bash(git push)``, ``Read(~/x)``, ``WebFetch(https://…)``, ``mcp__a__b``; anything
    else is a shell command.  ``UsageError`` for an empty text or a tool whose argument has no field."""
    if not text.strip():
        raise UsageError("nothing to test; write a call, as in 'Bash(git push)'")
    form = _FORM.match(text.strip())
    tool = form["tool"] if form else text.strip()
    if tool not in TOOLS and not tool.startswith("mcp__"):
        return ToolCall("test", "Bash", {"command": text})
    return ToolCall("test", tool, _input(tool, form["argument"] if form else ""))


def _input(tool: str, argument: str) -> dict[str, Any]:
    if not argument:
        return {}
    if tool in SHELL_TOOLS:
        return {"command": argument}
    if tool in EDIT_TOOLS | {"Read", "LSP"}:
        return {"file_path": argument}
    if tool in READ_TOOLS:
        return {"path": argument}
    fields = {
        "WebFetch": "url",
        "WebSearch": "query",
        "Agent": "subagent_type",
        "Task": "subagent_type",
        "Skill": "skill",
    }
    if tool not in fields:
        raise UsageError(f"{tool} has no argument that could be tested; write the name alone")
    return {fields[tool]: argument}


def explain(text: str, policy: Policy) -> str:
    """Plain text for a terminal.  ``UsageError`` for a text that is no call."""
    call = call_of(text)
    decision = decide(call, policy)
    lines = [f"{decision.behavior} (mode {policy.mode}): {decision.reason}"]
    if decision.rule:
        lines.append(f"rule: {decision.rule}")
    command = call.input.get("command")
    if call.name in SHELL_TOOLS and isinstance(command, str):
        lines += _parsed(parse(command))
    if len(decision.details) > 1:
        lines += ["parts:", *(f"  {d}" for d in decision.details)]
    for update in decision.suggestions:
        what = ", ".join(update.rules) or update.mode or ", ".join(update.directories)
        lines.append(f"don't ask again would save: {what} ({update.destination})")
    return "\n".join(lines)


def _parsed(line: CommandLine) -> Iterator[str]:
    if not line.understood:
        yield f"not understood: {line.reason}"
    yield "commands:"
    for index, command in enumerate(line.commands, 1):
        yield f"  {index}. {command.text or command.source}{_notes(command, line)}"
    for redirect in line.redirects:
        if redirect.target is not None and redirect.kind in {"read", "write"}:
            yield f"  {'writes' if redirect.kind == 'write' else 'reads'} {redirect.target.text}"


def _notes(command: SimpleCommand, line: CommandLine) -> str:
    notes = []
    if command.parent is not None:
        notes.append(f"run by {line.commands[command.parent].program}")
    elif command.via != "line":
        notes.append(f"in a {command.via}")
    if command.directories is None:
        notes.append("anywhere")
    elif command.directories != ("",):
        notes.append("in " + " or ".join(d or "." for d in command.directories))
    if command.assignments:
        notes.append("with " + ", ".join(a.name for a in command.assignments))
    return f"   ({'; '.join(notes)})" if notes else ""
