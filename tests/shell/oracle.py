"""A second opinion on command lines: the commands that shfmt finds."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from agentcli.shell import CommandLine

SHFMT = shutil.which("shfmt", path=str(Path(sys.executable).parent)) or shutil.which("shfmt")
Words = tuple[str | None, ...]
"""The words of one command; ``None`` for one that is only known when it runs."""


def oracle(text: str) -> list[Words] | None:
    """Every simple command of the line, or ``None`` if shfmt does not parse it."""
    assert SHFMT is not None
    done = subprocess.run([SHFMT, "-ln=bash", "--to-json"], input=text, capture_output=True, text=True)
    if done.returncode != 0:
        return None
    found: list[Words] = []
    _walk(json.loads(done.stdout), found)
    return found


def ours(line: CommandLine) -> list[Words]:
    """The same of our reading: what stands in the line itself, wrappers not taken apart."""
    found: list[Words] = []
    for command in line.commands:
        by_keyword = command.parent is not None and line.commands[command.parent].name in {"time", "coproc"}
        if command.parent is not None and not (by_keyword and line.commands[command.parent].parent is None):
            continue
        if command.name in {"time", "coproc"} or not command.words:
            continue
        found.append(tuple(w.literal for w in command.words))
    return found


def _walk(node: Any, found: list[Words]) -> None:
    if isinstance(node, list):
        for item in node:
            _walk(item, found)
    if not isinstance(node, dict):
        return
    kind = node.get("Type")
    if kind == "CallExpr" and node.get("Args"):
        found.append(tuple(_value(a["Parts"]) for a in node["Args"]))
    elif kind == "DeclClause":
        found.append((node["Variant"]["Value"], *(_declared(a) for a in node.get("Args") or [])))
    elif kind == "LetClause":
        found.append(("let", *(None for _ in node.get("Exprs") or [])))
    for value in node.values():
        _walk(value, found)


def _declared(assign: dict[str, Any]) -> str | None:
    if assign.get("Naked") and "Name" not in assign:
        return _value(assign["Value"]["Parts"])
    return None


def _value(parts: list[dict[str, Any]]) -> str | None:
    found = []
    for part in parts:
        kind = part["Type"]
        if kind == "Lit":
            value = part["Value"]
            if re.search(r"(?<!\\)(?:\\\\)*[*?\[]", value):
                return None
            found.append(re.sub(r"\\(.)", lambda m: "" if m[1] == "\n" else m[1], value, flags=re.DOTALL))
        elif kind == "SglQuoted" and not part.get("Dollar"):
            found.append(part.get("Value", ""))
        elif kind == "DblQuoted" and all(p["Type"] == "Lit" for p in part.get("Parts") or []):
            text = "".join(p["Value"] for p in part.get("Parts") or [])
            found.append(re.sub(r'\\([$`"\\\n])', lambda m: "" if m[1] == "\n" else m[1], text))
        else:
            return None
    return "".join(found)
