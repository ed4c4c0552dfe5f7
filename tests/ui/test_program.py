"""The whole front end on a pseudo-terminal: dumb and odd terminals, signals, a terminal that goes away."""

from __future__ import annotations

import os
import re
import signal
import sys
import time
from pathlib import Path

import pytest

from tests.ui.pty import Program

ROOT = Path(__file__).resolve().parent.parent.parent


def front_end(name: str, project: Path, **env: str | None) -> Program:
    return Program(
        [sys.executable, "-m", "tests.ui.program", name],
        cwd=project,
        env={"PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "error", **env},  # type: ignore[dict-item]
    )


@pytest.mark.pty
def test_a_conversation_and_idling_behind_it(project: Path) -> None:
    with front_end("work", project, NO_COLOR="") as program:
        program.wait_for("/help")
        program.send("go\r")
        program.wait_for("May the agent use Bash?")
        program.send("2")
        program.wait_for("Done.")
        program.wait_for("✓ Bash make")
        program.wait_gone("Esc stops")
        assert colours(program.raw)
        assert _idle_cost(program) < 0.3
        program.send("\x04")
        assert program.wait_exit() == 0
        assert "\x1b[2J" not in program.raw
        assert "\x1b[6n" not in program.raw
        assert "\x1b[?1049h" not in program.raw
        assert program.raw.count("I \x1b") == 1
    assert (project / "closed").read_text() == "1"


@pytest.mark.pty
def test_a_dumb_terminal_gets_lines_without_a_single_control_sequence(project: Path) -> None:
    with front_end("both", project, TERM="dumb") as program:
        program.wait_for(">")
        program.send("go\n")
        program.wait_for("Number (1-3")
        program.send("2\n")
        program.wait_for("Done.")
        program.send("/nonsense\n")
        program.wait_for("There is no command /nonsense.")
        program.send("second\n")
        program.wait_for("working")
        program.send("\x03")
        program.wait_for("Stopped.")
        program.send("\x03")
        assert program.wait_exit() == 130
        assert "\x1b" not in program.raw
        assert "red\r\n" in program.raw
    assert (project / "closed").read_text() == "1"


@pytest.mark.pty
@pytest.mark.parametrize(
    "env",
    [
        {"TERM": "nonsense", "NO_COLOR": "1"},
        {"COLUMNS": "0", "LINES": "0", "LANG": "C", "PYTHONUTF8": "0", "NO_COLOR": "1"},
    ],
    ids=["unknown", "zero and ascii"],
)
def test_odd_environments_and_no_color(project: Path, env: dict[str, str | None]) -> None:
    with front_end("plain", project, **env) as program:
        program.wait(lambda: ">" in program.screen or "❯" in program.screen)
        program.send("안녕 hello\r")
        program.wait_for("hello")
        program.wait_for("echo:")
        program.send("/exit\r")
        assert program.wait_exit() == 0
        assert "Traceback" not in program.raw
        assert not colours(program.raw)


def colours(text: str) -> set[str]:
    """The colours of the control sequences in a text, as their numbers."""
    codes = {c for found in re.findall(r"\x1b\[([0-9;]*)m", text) for c in found.split(";")}
    return codes & {*map(str, (*range(30, 39), *range(40, 49), *range(90, 98), *range(100, 108)))}


@pytest.mark.pty
def test_a_bug_at_the_start_leaves_the_terminal_and_is_shown_whole(project: Path) -> None:
    with front_end("no such script", project) as program:
        assert program.wait_exit() == 1
        assert "KeyError: 'no such script'" in program.everything


@pytest.mark.pty
def test_a_signal_closes_the_session(project: Path) -> None:
    with front_end("slow", project) as program:
        program.wait_for("/help")
        program.send("go\r")
        program.wait_for("working")
        os.kill(program.process.pid, signal.SIGTERM)
        assert program.wait_exit() == 143
    assert (project / "closed").read_text() == "1"


@pytest.mark.pty
def test_the_end_of_input_leaves_while_the_agent_works(project: Path) -> None:
    with front_end("slow", project) as program:
        program.wait_for("/help")
        program.send("go\r")
        program.wait_for("working")
        program.send("\x04")
        assert program.wait_exit() == 0
    assert (project / "closed").read_text() == "1"


@pytest.mark.pty
def test_a_terminal_that_disappears_ends_the_program(project: Path) -> None:
    with front_end("slow", project) as program:
        program.wait_for("/help")
        program.send("go\r")
        program.wait_for("working")
        program.hang_up()
        assert program.process.wait(timeout=20) == 129
    assert (project / "closed").read_text() == "1"


@pytest.mark.pty
def test_suspend_and_resume(project: Path) -> None:
    shell = f"set -m; {sys.executable} -m tests.ui.program plain; echo stopped $?; fg >/dev/null; echo left $?"
    with Program(["bash", "-c", shell], cwd=project, env={"PYTHONPATH": str(ROOT)}) as program:
        program.wait_for("/help")
        program.send("draft")
        program.wait_for("❯ draft")
        program.send("\x1a")
        program.wait_for("stopped")
        program.wait(
            lambda: program.screen.rstrip().endswith("⎇ main") and "❯ draft" in program.screen.split("stopped")[-1]
        )
        program.send("\x03\x04")
        program.wait_for("left 0")


def _idle_cost(program: Program) -> float:
    """Seconds of CPU that the program takes in a second in which nothing happens."""
    while program.pump(0.3):
        pass  # what still belongs to the turn
    before = _cpu(program.process.pid)
    end = time.monotonic() + 1.0
    written = len(program.raw)
    while time.monotonic() < end:
        program.pump(0.1)
    assert len(program.raw) - written < 200
    return _cpu(program.process.pid) - before


def _cpu(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
