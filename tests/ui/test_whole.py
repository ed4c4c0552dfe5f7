"""The whole program on a pseudo-terminal, against a strict server: what is typed is what is sent."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from agentcli.ui.terminal.modal import FLOW_SECONDS, STOOD_SECONDS
from tests.api import ApiServer, Gate, reply, text, tool_use
from tests.ui.pty import Program

ROWS = "\n".join(f"row {n}" for n in range(500))


def agentcli(api: ApiServer, project: Path, *arguments: str) -> Program:
    env = {"ANTHROPIC_BASE_URL": api.url, "ANTHROPIC_API_KEY": api.key}
    return Program([sys.executable, "-m", "agentcli", *arguments], cwd=project, env=env)


def answer_trust(program: Program, key: str) -> None:
    """Answers once the question has stood long enough and nothing was typed for a moment."""
    end = time.monotonic() + STOOD_SECONDS + FLOW_SECONDS
    while time.monotonic() < end:
        program.pump(0.1)
    program.send(key)
    program.wait_gone("Do you trust")


@pytest.mark.pty
def test_a_session_from_typing_ahead_to_recall_after_a_restart(project: Path) -> None:
    gate = Gate()
    (project / ".claude").mkdir()
    (project / ".claude" / "settings.json").write_text('{"permissions": {"allow": ["Bash(touch *)"]}}')
    with ApiServer(
        "First answer.",
        reply(text("I begin.\n\n"), gate, text("never shown")),
        reply(text("I make a file."), tool_use("Bash", {"command": "touch made && ls"})),
        "Done with it.",
        "Recalled.",
    ) as api:
        with agentcli(api, project) as program:
            program.wait_for("❯ 1. No")
            program.paste(ROWS)
            program.wait_for("your text waits below")
            answer_trust(program, "1")
            program.wait_for("does not act: allow rule ×1")
            program.send(" summarise\r")
            program.wait_for("First answer.")
            program.wait_gone("Esc stops")
            program.send("second\r")
            program.wait_for("I begin.")
            program.send("\x1b")
            program.wait_for("Stopped.")
            program.send("third\r")
            program.wait_for("1. Yes, this once")
            assert not (project / "made").exists()
            program.send("1")
            program.wait_for("Done with it.")
            program.wait_gone("Esc stops")
            program.send("\x04")
            assert program.wait_exit() == 0
            assert "Traceback" not in program.raw
        assert (project / "made").exists()
        with agentcli(api, project, "--continue") as program:
            program.wait_for("❯ 1. No")
            answer_trust(program, "2")
            program.wait_for("Done with it.")
            program.send("\x1b[A\x1b[A\x1b[A")
            program.wait_for("[Pasted text #1, 500 lines] summarise")
            program.send("\r")
            program.wait_for("Recalled.")
            program.wait_gone("Esc stops")
            program.send("/exit\r")
            assert program.wait_exit() == 0
        first, last = api.requests[0], api.requests[-1]
        assert f"{ROWS} summarise" in first.last_text
        assert f"{ROWS} summarise" in last.last_text
        assert [r.status for r in api.requests if r.status >= 400] == []


@pytest.mark.pty
def test_a_start_that_fails_says_what_to_do_and_ends_with_2(project: Path) -> None:
    with Program([sys.executable, "-m", "agentcli"], cwd=project) as program:
        assert program.wait_exit() == 2
        assert "ANTHROPIC_API_KEY" in program.everything
        assert "Traceback" not in program.raw


@pytest.mark.pty
@pytest.mark.parametrize("way", ["flag", "setting"])
def test_a_screen_reader_gets_flat_lines_in_the_wanted_language(project: Path, home: Path, way: str) -> None:
    given = ("--ax-screen-reader", "--ui-language", "ko")
    if way == "setting":
        (home / ".claude").mkdir()
        (home / ".claude" / "settings.json").write_text('{"axScreenReader": true, "uiLanguage": "ko"}')
        given = ()
    with ApiServer("**Bold** answer.") as api, agentcli(api, project, *given) as program:
        program.wait_for(">")
        program.send("hello\n")
        program.wait_for("answer.")
        program.send("/nonsense\n")
        program.wait_for("명령은 없습니다")
        program.send("/exit\n")
        assert program.wait_exit() == 0
        assert "\x1b" not in program.raw


def test_an_unknown_language_is_named(project: Path) -> None:
    words = [sys.executable, "-m", "agentcli", "--ui-language", "xx", "-p", "hi"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "--ui-language 'xx': one of en, ko" in done.stderr
