"""Which instructions hold for one file, and why: the proof behind ``agentcli memory why``."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from agentcli.memory.approvals import Approvals
from agentcli.memory.conversation import load_start
from agentcli.memory.nested import due_files
from agentcli.memory.places import Places
from agentcli.memory.render import WHAT
from agentcli.memory.rules import match_path
from agentcli.memory.values import MemoryFile

When = Literal["start", "touched", "never"]


WHEN: dict[When, str] = {
    "start": "Told from the start:",
    "touched": "Told when the file is read, edited or written:",
    "never": "Not told:",
}


@dataclass(frozen=True, slots=True)
class Reason:
    """``when``: from the start, once the file is touched, or not at all."""

    path: Path
    when: When
    why: str
    tokens: int = 0


def explain(path: Path, places: Places, approvals: Approvals) -> list[Reason]:
    """Every memory file that was considered for ``path``, in the order in which the model reads them.

    ``path`` need not exist.  Directories count as touched themselves.
    """
    real = path.resolve()
    loader, start = load_start(places, approvals)
    waiting = list(loader.path_rules.values())
    touched = due_files(loader, [real / "x" if os.path.isdir(real) else real])
    reasons = [_reason(f, "start", _why_start(f, places)) for f in start]
    reasons += [_reason(f, "touched", _why_touched(f, real, places)) for f in touched]
    loaded = {f.path for f in touched}
    nested = [r for r in loader.path_rules.values() if r not in waiting]
    for rule in [*waiting, *nested]:
        if rule.found.path not in loaded:
            patterns = ", ".join(rule.patterns)
            reasons.append(Reason(rule.found.path, "never", f"its paths ({patterns}) don't match"))
    reasons += [
        Reason(s.path, "never", f"line {s.line}: {s.named} {s.reason}" if s.line else s.reason)
        for s in loader.findings.skipped
    ]
    return reasons


def _reason(file: MemoryFile, when: When, why: str) -> Reason:
    imported = [i.path.name for i in file.imports]
    return Reason(file.path, when, why + (f"; with {', '.join(imported)}" if imported else ""), file.tokens)


def _why_start(file: MemoryFile, places: Places) -> str:
    if file.kind == "rule":
        return f"{WHAT[file.scope]}; a rule without paths"
    if file.scope in ("managed", "user"):
        return WHAT[file.scope]
    if file.path.parent in (places.start, places.start / ".claude"):
        return f"{WHAT[file.scope]}; of the working directory"
    return f"{WHAT[file.scope]}; of a directory above"


def _why_touched(file: MemoryFile, real: Path, places: Places) -> str:
    if file.patterns:
        base = _rule_base(file.path, places)
        pattern = match_path(file.patterns, real, base, home=places.user_home)
        return f"{WHAT[file.scope]}; its pattern {pattern or file.patterns[0]} matches"
    return f"{WHAT[file.scope]}; stands in a directory on the way to the file"


def _rule_base(path: Path, places: Places) -> Path:
    above = next((p for p in path.parents if p.name == ".claude"), None)
    if above is None or above == places.user:
        return places.root
    return above.parent
