"""The README's commands are the ones that are run."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def test_ci_runs_the_readmes_test_command() -> None:
    (command,) = [line for line in (ROOT / "README.md").read_text().splitlines() if "-m pytest" in line]
    assert command in (ROOT / ".ci" / "run").read_text().splitlines()


def test_the_first_screen_holds_both_commands() -> None:
    first = (ROOT / "README.md").read_text().splitlines()[:20]
    assert any("agentcli demo" in line and "pip install" in line for line in first)
    assert any("-m pytest" in line for line in first)
