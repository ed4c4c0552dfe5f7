"""What is said of an import names it as it has to be written."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentcli.cli.memory import run_memory_check
from tests.memory.worlds import write


def test_a_missing_file_with_blanks_is_named_whole(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(project / "CLAUDE.md", "See @docs/my\\ own\\ notes.md.\n")
    assert run_memory_check() == 1
    assert "@docs/my\\ own\\ notes.md names no file" in capsys.readouterr().out
