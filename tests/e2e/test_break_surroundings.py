"""Surroundings that a shell can get into, and agentcli with it."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.e2e.program import AGENTCLI


@pytest.mark.parametrize("arguments", [["-p", "hi", "--output-format", "json"], ["doctor"]])
def test_a_working_directory_that_is_gone_is_one_clear_line(arguments: list[str], project: Path) -> None:
    gone = project / "gone"
    gone.mkdir()
    done = subprocess.run(
        [*AGENTCLI, *arguments],
        cwd=gone,
        preexec_fn=lambda: os.rmdir(gone),  # the child stands in it before it is removed
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1), done
    assert "working directory" in done.stderr
    assert "-p" not in arguments or json.loads(done.stdout)["is_error"] is True
