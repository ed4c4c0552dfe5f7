"""Which file a program's name stands for: a name is trusted only for what the system has under it."""

from __future__ import annotations

import os
import re
from pathlib import Path

from agentcli.permissions.verdicts import Policy
from agentcli.shell import BUILTINS, SimpleCommand

SYSTEM = tuple(
    Path(p)
    for p in ("/bin", "/usr/bin", "/usr/local/bin", "/sbin", "/usr/sbin", "/usr/local/sbin", "/opt/homebrew/bin")
)
_INTERPRETER = re.compile(r"(?:python|pip)[0-9.]*\Z")


def untrusted_name(command: SimpleCommand, policy: Policy) -> str:
    """Why the name may not be the program that it seems to be; empty when it is.  For the read-only list."""
    name = command.name
    if "/" in name:
        path = Path(os.path.normpath(name))
        if path.parent not in SYSTEM or _in_tree(path, policy):
            return f"{name} is a file of its own, not the system's {command.program}"
        return ""
    if name in BUILTINS:
        return ""
    found = _found(name, policy)
    if found is not None and _in_tree(found, policy):
        return f"{name} is {found} here, which lies in the working tree"
    return ""


def shadowed(command: SimpleCommand, policy: Policy) -> str:
    """Why an allow rule for the name may mean another program: the one that is found lies in the working tree and
    hides one outside of it.  A virtual environment's own interpreter is what its user means."""
    name = command.name
    if not name or "/" in name or name in BUILTINS:
        return ""
    found = _found(name, policy)
    if found is None or not _in_tree(found, policy):
        return ""
    environment = policy.environment.get("VIRTUAL_ENV")
    if environment and found.parent == Path(environment) / "bin" and _INTERPRETER.match(name):
        return ""
    if _found(name, policy, outside=True) is None:
        return ""
    return f"{name} is {found} here, which lies in the working tree and hides another program of that name"


def _found(name: str, policy: Policy, *, outside: bool = False) -> Path | None:
    search = policy.environment.get("PATH", os.defpath)
    for entry in search.split(os.pathsep):
        directory = policy.ground.workspace.cwd / entry
        candidate = Path(os.path.normpath(directory)) / name
        if outside and _in_tree(candidate, policy):
            continue
        if os.path.isfile(candidate) and os.access(candidate, os.X_OK):
            return candidate
    return None


def _in_tree(path: Path, policy: Policy) -> bool:
    if path.parent in SYSTEM:
        # A working directory that holds the whole system says nothing about its programs.
        roots = [r for r in policy.ground.real_roots if not any(s.is_relative_to(r) for s in SYSTEM)]
    else:
        roots = list(policy.ground.real_roots)
    names = (path, path.parent.resolve() / path.name, path.resolve())
    return any(n.is_relative_to(r) for n in names for r in roots)
