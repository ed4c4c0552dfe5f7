"""Command lines as programs write them: every spelling is understood, what has no effect is said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agentcli.cli.arguments import without_inert
from agentcli.cli.chat import parse
from agentcli.cli.main import run
from agentcli.cli.start import Launch
from agentcli.errors import UsageError
from agentcli.runtime.options import Resume
from tests.api import ApiServer

UUID = "11111111-2222-4333-8444-555555555555"
PIPED = ["--output-format", "stream-json", "--verbose", "--input-format", "stream-json"]
PAIRS: list[tuple[list[str], dict[str, Any]]] = [
    (["--system-prompt", ""], {"system_prompt": ""}),
    (["--append-system-prompt", "- be brief"], {"append_system_prompt": "- be brief"}),
    (["--tools", ""], {"tools": ()}),
    (["--tools", "default"], {"tools": None}),
    (["--tools", "Read,Bash"], {"tools": ("Read", "Bash")}),
    (["--allowedTools", "Read,Bash(git log:*)"], {"allowed_tools": ("Read", "Bash(git log:*)")}),
    (["--disallowedTools", "Write"], {"disallowed_tools": ("Write",)}),
    (["--permission-mode", "acceptEdits"], {"permission_mode": "acceptEdits"}),
    (["--model", "haiku"], {"model": "haiku"}),
    (["--fallback-model", "sonnet,haiku"], {"fallback_model": "sonnet,haiku"}),
    (["--effort", "low"], {"effort": "low"}),
    (["--betas", "a-1,b-2"], {"betas": ("a-1", "b-2")}),
    (["--max-turns", "3"], {"max_turns": 3}),
    (["--max-budget-usd", "0.5"], {"max_budget_usd": 0.5}),
    (["--thinking", "adaptive"], {"thinking": "adaptive"}),
    (["--thinking", "disabled"], {"thinking": "disabled"}),
    (["--max-thinking-tokens", "4000"], {"environment": {"MAX_THINKING_TOKENS": "4000"}}),
    (["--resume", UUID], {"resume": Resume(query=UUID)}),
    (["--session-id", UUID], {"session_id": UUID}),
    (["--settings", '{"model": "opus"}'], {"settings": '{"model": "opus"}'}),
    (["--setting-sources", ""], {"setting_sources": ()}),
    (["--setting-sources", "user,local"], {"setting_sources": ("user", "local")}),
]


def options(arguments: list[str]) -> Any:
    given = parse([*PIPED, *arguments])
    assert isinstance(given, Launch)
    return given.options


@pytest.mark.parametrize(("words", "values"), PAIRS, ids=["=".join(w) for w, _ in PAIRS])
def test_both_spellings(words: list[str], values: dict[str, Any], project: Path) -> None:
    found = [options(words), options(["=".join(words)])]
    assert [{name: getattr(o, name) for name in values} for o in found] == [values] * 2


def test_sessions(project: Path) -> None:
    assert options(["--continue"]).resume == Resume(newest=True)
    assert options([f"--resume={UUID}", "--fork-session"]).resume == Resume(query=UUID, fork=True)


def test_directories(project: Path) -> None:
    (project / "a").mkdir()
    (project / "b").mkdir()
    assert options(["--add-dir", "a", "--add-dir", "b"]).add_dirs == (project / "a", project / "b")


def test_what_has_no_effect_is_taken_out_and_named() -> None:
    words = ["--session-mirror", "--task-budget", "9", "--plugin-dir=x"]
    assert without_inert([*words, "-p", "hi", "--", "--task-budget"]) == (
        ["-p", "hi", "--", "--task-budget"],
        ("--session-mirror", "--task-budget", "--plugin-dir"),
    )


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["-p", "x", "--input-format", "stream-json"], "--output-format stream-json"),
        (["-p", "x", "--include-partial-messages"], "--output-format stream-json"),
        (["-p", "x", "--output-format", "stream-json", "--replay-user-messages"], "--input-format stream-json"),
        (["-p", "x", "--permission-prompt-tool", "stdio"], "--input-format stream-json"),
        (["x", "--json-schema", "{}"], "-p"),
    ],
)
def test_combinations_that_can_not_be_meant(words: list[str], named: str, project: Path) -> None:
    from agentcli.cli.start import launch

    given = parse(words)
    assert isinstance(given, Launch)
    with pytest.raises(UsageError, match=named):
        launch(given)


def test_a_prompt_tool_that_is_not_there_is_said(api: ApiServer, project: Path, capfd, monkeypatch) -> None:
    monkeypatch.setattr("sys.stdin", None)
    api.play("fine")
    words = ["-p", "hi", "--permission-prompt-tool", "mcp__x__ask", "--session-mirror"]
    assert run(words) == 0
    captured = capfd.readouterr()
    assert captured.out == "fine\n"
    assert "mcp__x__ask" in captured.err
    assert "--session-mirror" in captured.err


@pytest.mark.parametrize("format", ["json", "stream-json"])
def test_bad_usage_has_a_result_for_programs(format: str, project: Path, capfd) -> None:
    import json

    assert run(["-p", "hi", f"--output-format={format}", "--bogus"]) == 2
    captured = capfd.readouterr()
    result = json.loads(captured.out)
    assert (result["type"], result["is_error"]) == ("result", True)
    assert "--bogus" in result["errors"][0]
    assert "--bogus" in captured.err
