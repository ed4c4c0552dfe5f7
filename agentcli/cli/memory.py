"""``agentcli memory``: checks memory files, and says which of them hold for a file and why."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict
from pathlib import Path

from agentcli.memory.approvals import Approvals
from agentcli.memory.check import check
from agentcli.memory.places import Places, read_places
from agentcli.memory.why import WHEN, explain
from agentcli.paths import agentcli_home
from agentcli.settings.live import SettingsFiles
from agentcli.text import plural


def run_memory_check(*, as_json: bool = False) -> int:
    """Prints what the linter found in the memory files of this directory; 1 if there is anything, else 0."""
    places, approvals = _here()
    findings = check(places, approvals)
    if as_json:
        _say(json.dumps([asdict(f) | {"path": str(f.path)} for f in findings], ensure_ascii=False, indent=2))
    else:
        for finding in findings:
            _say(str(finding))
        _say(f"{plural(len(findings), 'finding')}." if findings else "Nothing found.")
    return 1 if findings else 0


def run_memory_why(path: str, *, as_json: bool = False) -> int:
    """Prints which memory files the model is told for this file, in order, and why; 0."""
    places, approvals = _here()
    reasons = explain(Path(path).expanduser(), places, approvals)
    if as_json:
        _say(json.dumps([asdict(r) | {"path": str(r.path)} for r in reasons], ensure_ascii=False, indent=2))
        return 0
    for when, title in WHEN.items():
        group = [r for r in reasons if r.when == when]
        if group:
            _say(title)
        for reason in group:
            size = f" (about {plural(reason.tokens, 'token')})" if reason.tokens else ""
            _say(f"  {reason.path}{size}\n      {reason.why}")
    if not reasons:
        _say("There are no memory files here.")
    return 0


def _here() -> tuple[Places, Approvals]:
    """The places as a session that starts in this directory would see them."""
    cwd = Path.cwd()
    settings = SettingsFiles.load(cwd, os.environ, trusted=True).current
    places = read_places(cwd, settings, os.environ)
    return places, Approvals.load(agentcli_home(), places.main)


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
