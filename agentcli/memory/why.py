"""Which instructions hold for one file, and why: the proof behind ``agentcli memory why``."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from agentcli.i18n import IN_ENGLISH, Texts
from agentcli.memory.approvals import Approvals
from agentcli.memory.conversation import load_start
from agentcli.memory.nested import due_files
from agentcli.memory.places import Places
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


def explain(path: Path, places: Places, approvals: Approvals, t: Texts = IN_ENGLISH) -> list[Reason]:
    """Every memory file that was considered for ``path``, in the order in which the model reads them.

    ``path`` need not exist.  Directories count as touched themselves.
    """
    real = path.resolve()
    loader, start = load_start(places, approvals)
    waiting = list(loader.path_rules.values())
    touched = due_files(loader, [real / "x" if os.path.isdir(real) else real])
    reasons = [_reason(f, "start", _why_start(f, places, t), t) for f in start]
    reasons += [_reason(f, "touched", _why_touched(f, real, places, t), t) for f in touched]
    loaded = {f.path for f in touched}
    nested = [r for r in loader.path_rules.values() if r not in waiting]
    for rule in [*waiting, *nested]:
        if rule.found.path not in loaded:
            patterns = ", ".join(rule.patterns)
            reasons.append(Reason(rule.found.path, "never", t("memory.why.paths", patterns=patterns)))
    reasons += [
        Reason(s.path, "never", t("memory.why.line", line=s.line, text=f"{s.named} {s.reason}") if s.line else s.reason)
        for s in loader.findings.skipped
    ]
    return reasons


def _reason(file: MemoryFile, when: When, why: str, t: Texts) -> Reason:
    imported = [i.path.name for i in file.imports]
    beside = t("memory.why.with", names=", ".join(imported)) if imported else ""
    return Reason(file.path, when, why + beside, file.tokens)


def _why_start(file: MemoryFile, places: Places, t: Texts) -> str:
    what = t(f"memory.what.{file.scope}")
    if file.kind == "rule":
        return t("memory.why.rule", what=what)
    if file.scope in ("managed", "user"):
        return what
    if file.path.parent in (places.start, places.start / ".claude"):
        return t("memory.why.here", what=what)
    return t("memory.why.above", what=what)


def _why_touched(file: MemoryFile, real: Path, places: Places, t: Texts) -> str:
    what = t(f"memory.what.{file.scope}")
    if file.patterns:
        base = _rule_base(file.path, places)
        pattern = match_path(file.patterns, real, base, home=places.user_home)
        return t("memory.why.pattern", what=what, pattern=pattern or file.patterns[0])
    return t("memory.why.way", what=what)


def _rule_base(path: Path, places: Places) -> Path:
    above = next((p for p in path.parents if p.name == ".claude"), None)
    if above is None or above == places.user:
        return places.root
    return above.parent
