"""Runs the whole program as people do: a subprocess with an environment of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

AGENTCLI = (sys.executable, "-m", "agentcli")
SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Run:
    """What a finished run left."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output as exactly one JSON value."""
        return json.loads(self.out)


def run(
    *arguments: str,
    cwd: Path,
    env: Mapping[str, str] | None = None,
    stdin: str | bytes | None = None,
    unset: Sequence[str] = (),
    seconds: float = SECONDS,
) -> Run:
    """Runs ``agentcli`` to its end.  ``env`` is added to the test's environment; ``stdin`` ``None`` is /dev/null."""
    values = {k: v for k, v in {**os.environ, **(env or {})}.items() if k not in unset}
    data = stdin.encode() if isinstance(stdin, str) else stdin
    done = subprocess.run(
        [*AGENTCLI, *arguments],
        cwd=cwd,
        env=values,
        input=data,
        stdin=subprocess.DEVNULL if data is None else None,
        capture_output=True,
        timeout=seconds,
        check=False,
    )
    return Run(done.returncode, done.stdout.decode(), done.stderr.decode())
