"""``agentcli permissions test``: what would be decided for a call, by which rule, and what was read of the command."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from agentcli.errors import UsageError
from agentcli.permissions.explain import call_of, explain
from agentcli.ports.permissions import PERMISSION_MODES
from agentcli.runtime.confining import confinement_here
from agentcli.runtime.guard import make_gate
from agentcli.runtime.options import SessionOptions
from agentcli.runtime.world import read_world


def run_permissions_test(call: str, *, mode: str | None, as_json: bool) -> int:
    """Prints the decision that a session in this directory would make; runs nothing.  0."""
    if mode is not None and mode not in PERMISSION_MODES:
        raise UsageError(f"--mode {mode!r}: one of {', '.join(PERMISSION_MODES)}")
    options = SessionOptions(cwd=Path.cwd(), permission_mode=mode, persist=False)
    world = read_world(options)
    gate = make_gate(world)
    gate.confinement = confinement_here(world)
    if not as_json:
        sys.stdout.write(explain(call, gate.policy()).rstrip("\n") + "\n")
        return 0
    decision = gate.check(call_of(call))
    row = {
        "behavior": decision.behavior,
        "reason": decision.reason,
        "rule": decision.rule,
        "mode": gate.mode,
        "details": list(decision.details),
        "suggestions": [rule for update in decision.suggestions for rule in update.rules],
    }
    sys.stdout.write(json.dumps(row, ensure_ascii=False, indent=2) + "\n")
    return 0
