"""``agentcli doctor``."""

from __future__ import annotations

import asyncio
import json
import sys
from dataclasses import asdict
from pathlib import Path

from agentcli.runtime.doctor import State, examine

MARKS: dict[State, str] = {"ok": "ok      ", "note": "note    ", "missing": "MISSING "}


def run_doctor(*, as_json: bool) -> int:
    """Prints the findings; 1 when something that is needed is missing, else 0."""
    findings = asyncio.run(examine(Path.cwd()))
    if as_json:
        sys.stdout.write(json.dumps([asdict(f) for f in findings], ensure_ascii=False, indent=2) + "\n")
    else:
        for found in findings:
            sys.stdout.write(f"{MARKS[found.state]}{found.topic}: {found.text}\n")
            if found.todo:
                sys.stdout.write(f"        → {found.todo}\n")
    return 1 if any(f.state == "missing" for f in findings) else 0
