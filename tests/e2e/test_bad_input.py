"""Bad input gets one clear line, the documented exit code and no traceback; nothing is lost."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.api import ApiServer, error, reply, text, tool_use
from tests.e2e.program import AGENTCLI, Run, run

SERVER = {"ANTHROPIC_API_KEY": "test-key"}


def clear(done: Run, code: int, *words: str) -> None:
    """One understandable complaint on standard error, nothing that poses as an answer on standard output."""
    assert done.code == code, done
    assert done.out == ""
    assert "Traceback" not in done.err
    for word in words:
        assert word in done.err, done.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--bogus"], ["--bogus", "agentcli --help"]),
        (["-p", "x", "--output-format", "xml"], ["--output-format", "xml", "stream-json"]),
        (["-p", "x", "--permission-mode", "yolo"], ["--permission-mode", "yolo", "acceptEdits"]),
        (["-p", "x", "--system-prompt", "a", "--system-prompt-file", "b"], ["--system-prompt-file", "together"]),
        (["-p", "x", "--append-system-prompt-file", "nowhere.md"], ["nowhere.md"]),
        (["-p", "x", "--settings", "nowhere.json"], ["nowhere.json"]),
        (["-p", "x", "--settings", '{"permissions": ['], ["--settings:1:"]),
        (["-p", "x", "--continue", "--resume", "a"], ["--continue", "--resume"]),
        (["-p", "x", "--fork-session"], ["--fork-session"]),
        (["-p", "x", "--session-id", "seven"], ["--session-id", "UUID"]),
        (["-p", "x", "--add-dir", "nowhere"], ["--add-dir", "nowhere"]),
        (["-p", "x", "--max-turns", "0"], ["--max-turns"]),
        (["-p", "x", "--model", "two words"], ["two words", "sonnet"]),
        (["-p", "x", "--effort", "enormous"], ["enormous"]),
        (["-p", "x", "--agent", "nobody"], ["nobody", ".claude/agents"]),
        (["-p", "x", "--json-schema", "{}", "--proactive"], ["--json-schema", "--proactive", "together"]),
        (["docter"], ["doctor"]),
        (["demo", "--nonsense"], ["--nonsense"]),
        ([], ["no prompt"]),
        (["-p"], ["no prompt"]),
    ],
)
def test_usage(arguments: list[str], words: list[str], project: Path) -> None:
    clear(run(*arguments, cwd=project, env={**SERVER, "ANTHROPIC_BASE_URL": "http://127.0.0.1:9"}), 2, *words)


def test_no_key_and_no_server(project: Path) -> None:
    done = run("-p", "hi", cwd=project)
    clear(done, 2, "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "agentcli demo")
    assert len(done.err.strip().splitlines()) <= 6


def test_wrong_url(project: Path) -> None:
    clear(run("-p", "hi", cwd=project, env={**SERVER, "ANTHROPIC_BASE_URL": "not a url"}), 2, "ANTHROPIC_BASE_URL")


def test_nobody_listens(project: Path) -> None:
    env = {**SERVER, "ANTHROPIC_BASE_URL": "http://127.0.0.1:9", "CLAUDE_CODE_MAX_RETRIES": "0"}
    clear(run("-p", "hi", cwd=project, env=env), 1, "http://127.0.0.1:9")


def test_broken_settings_stop_a_headless_run(project: Path, home: Path) -> None:
    (home / ".claude").mkdir()
    (home / ".claude" / "settings.json").write_text('{\n  "model": "opus",\n  "permissions": {"deny": ["Bash"],}\n}\n')
    done = run("-p", "hi", cwd=project, env={**SERVER, "ANTHROPIC_BASE_URL": "http://127.0.0.1:9"})
    clear(done, 2, "settings.json:3:", "comma")


def test_a_run_that_can_not_begin_has_one_result(project: Path) -> None:
    done = run("-p", "hi", "--output-format", "json", cwd=project)
    assert done.code == 2
    assert done.json["is_error"] is True
    assert done.json["subtype"] == "error_during_execution"
    assert "ANTHROPIC_API_KEY" in done.json["errors"][0]


def test_home_that_can_not_be_written(project: Path, home: Path) -> None:
    """As root a read-only mode stops nobody, so a file stands where the directory would be."""
    (home / ".agentcli").write_text("in the way")
    with ApiServer("fine") as api:
        done = run("-p", "hi", cwd=project, env={**SERVER, "ANTHROPIC_BASE_URL": api.url})
    assert (done.code, done.out) == (0, "fine\n")
    assert "not" in done.err
    assert "Traceback" not in done.err
    assert (home / ".agentcli").read_text() == "in the way"
    assert sorted(p.name for p in project.iterdir()) == []


@pytest.mark.parametrize("home", ["gone/home", "file/home"])
def test_no_home_at_all(project: Path, tmp_path: Path, home: str) -> None:
    """Where one can be made, and where nothing can be."""
    (tmp_path / "file").touch()
    with ApiServer("fine") as api:
        done = run("-p", "hi", cwd=project, env={**SERVER, "ANTHROPIC_BASE_URL": api.url, "HOME": str(tmp_path / home)})
    assert (done.code, done.out) == (0, "fine\n")
    assert sorted(p.name for p in project.iterdir()) == []


def test_reader_of_our_output_is_gone(project: Path) -> None:
    with ApiServer(reply(text("a long answer " * 20_000))) as api:
        process = subprocess.Popen(
            [*AGENTCLI, "-p", "hi"],
            cwd=project,
            env={**os.environ, **SERVER, "ANTHROPIC_BASE_URL": api.url},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        complaint = process.stderr.read().decode()
        process.stderr.close()
        assert process.wait(timeout=60) == 141
    assert "Traceback" not in complaint


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signals_end_the_turn_with_one_result(number: signal.Signals, code: int, project: Path) -> None:
    with ApiServer(reply(tool_use("Bash", {"command": "touch began; sleep 987"})), "never asked") as api:
        process = subprocess.Popen(
            [*AGENTCLI, "-p", "hi", "--output-format", "json", "--permission-mode", "bypassPermissions"],
            cwd=project,
            env={**os.environ, **SERVER, "ANTHROPIC_BASE_URL": api.url},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        wait_until((project / "began").exists)
        process.send_signal(number)
        out, _ = process.communicate(timeout=30)
    result = json.loads(out)
    assert process.returncode == code
    assert (result["subtype"], result["is_error"]) == ("error_during_execution", True)
    assert subprocess.run(["pgrep", "-f", "sleep 987"], capture_output=True, check=False).returncode == 1


@pytest.mark.parametrize(
    ("step", "kind", "status"),
    [
        (error(401, "invalid x-api-key"), "authentication", 401),
        (error(529, "overloaded"), "overloaded", 529),
    ],
)
@pytest.mark.parametrize("format", ["text", "json"])
def test_api_errors(step: object, kind: str, status: int, format: str, project: Path) -> None:
    """Exit code, envelope and streams agree; an error is never printed as if it were the answer."""
    with ApiServer(step) as api:
        api.always(step)
        env = {**SERVER, "ANTHROPIC_BASE_URL": api.url, "CLAUDE_CODE_MAX_RETRIES": "0"}
        api.refused_is_fine = True
        done = run("-p", "hi", "--output-format", format, cwd=project, env=env)
    assert done.code == 1
    assert "Traceback" not in done.err
    if format == "text":
        assert done.out == ""
        assert done.err.strip()
    else:
        result = done.json
        assert (result["is_error"], result["subtype"]) == (True, "error_during_execution")
        assert (result["error_type"], result["api_error_status"]) == (kind, status)
        assert "result" not in result


def wait_until(condition, seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "did not happen in time"
        time.sleep(0.02)
