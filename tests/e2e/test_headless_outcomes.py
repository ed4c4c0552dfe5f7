"""However a run ends: exit code, envelope and streams say the same, in every output format."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from agentcli.cli.main import run
from tests.api import ApiServer, cut, error, reply, text, tool_use

FORMATS = ("text", "json", "stream-json")
TOUCH = reply(tool_use("Bash", {"command": "touch made"}))


@dataclass(frozen=True)
class Case:
    """``always`` answers every request; ``words`` stand on standard error; ``kind`` is the result's ``error_type``."""

    code: int
    subtype: str
    kind: str = ""
    always: Any = "fine"
    status: int | None = None
    arguments: tuple[str, ...] = ()
    words: str = ""
    env: dict[str, str] = field(default_factory=dict)


UNREACHABLE = {"ANTHROPIC_BASE_URL": "http://127.0.0.1:9"}
DURING = "error_during_execution"
CASES = {
    "fine": Case(0, "success"),
    "empty answer": Case(0, "success", always=reply(stop_reason="end_turn")),
    "401": Case(1, DURING, "authentication", error(401, "invalid x-api-key"), 401, words="key"),
    "429 to the end": Case(1, DURING, "rate_limit", error(429, "slow down"), 429, words="429"),
    "500 to the end": Case(1, DURING, "server_error", error(500, "oops"), 500, words="500"),
    "400": Case(1, DURING, "invalid_request", error(400, "messages.0: something is wrong"), 400, words="400"),
    "broken stream": Case(1, DURING, "stream", reply(text("a b c"), cut()), words=""),
    "refusal": Case(1, DURING, "refusal", reply(text("no"), stop_reason="refusal"), words="declined"),
    "turns": Case(3, "error_max_turns", "max_turns", TOUCH, arguments=("--max-turns", "2"), words="--max-turns"),
    "money": Case(3, "error_max_budget_usd", "budget", TOUCH, arguments=("--max-budget-usd", "0.001"), words="budget"),
    "nobody listens": Case(1, DURING, "connection", env=UNREACHABLE, words="http://127.0.0.1:9"),
    "unknown model": Case(2, DURING, "invalid_configuration", arguments=("--model", "no such"), words="no such"),
    "invalid flag": Case(2, DURING, "invalid_configuration", arguments=("--bogus",), words="--bogus"),
    "settings": Case(
        2, DURING, "invalid_configuration", arguments=("--settings", "nowhere.json"), words="nowhere.json"
    ),
}


def program(words: list[str], monkeypatch: pytest.MonkeyPatch, capfd: Any, stdin: Path | None = None) -> Any:
    """Runs the program in this process: its exit code, standard output, standard error."""
    with (stdin or Path(os.devnull)).open() as source:
        monkeypatch.setattr(sys, "stdin", source)
        code = run(words)
    captured = capfd.readouterr()
    return code, captured.out, captured.err


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("name", CASES)
def test_the_channels_agree(name: str, format: str, project: Path, monkeypatch: Any, capfd: Any) -> None:
    case = CASES[name]
    with ApiServer() as api:
        api.refused_is_fine = True
        api.always(case.always)
        env = {"ANTHROPIC_BASE_URL": api.url, "ANTHROPIC_API_KEY": api.key, "CLAUDE_CODE_MAX_RETRIES": "0"}
        for key, value in {**env, **case.env}.items():
            monkeypatch.setenv(key, value)
        arguments = ["-p", "hi", "--output-format", format, *case.arguments]
        code, out, err = program(arguments, monkeypatch, capfd)
    assert code == case.code
    assert case.words in err
    assert "Traceback" not in err
    if format == "text":
        assert out == ("" if case.code else "fine\n" if name == "fine" else "\n")
        assert bool(err.strip()) is not bool(out.strip())  # an empty answer is said too
        return
    lines = [json.loads(line) for line in out.splitlines()]
    results = [x for x in lines if x["type"] == "result"]
    assert results == lines[-1:]
    result = results[0]
    assert (result["subtype"], result["is_error"]) == (case.subtype, case.code != 0)
    assert ("result" in result, "errors" in result) == (case.code == 0, case.code != 0)
    if case.code:
        assert result["errors"][0]
        assert (result["error_type"], result["api_error_status"]) == (case.kind, case.status)


@pytest.mark.parametrize("format", FORMATS)
def test_a_missing_permission(format: str, api: ApiServer, project: Path, monkeypatch: Any, capfd: Any) -> None:
    """Denied calls are no failure of the run, unless it says that they are."""
    api.play(TOUCH, "I could not.", TOUCH, "I could not.")
    plain = program(["-p", "hi", "--output-format", format], monkeypatch, capfd)
    strict = program(["-p", "hi", "--output-format", format, "--strict-permissions"], monkeypatch, capfd)
    assert (plain[0], strict[0]) == (0, 4)
    assert "Bash" in strict[2]
    if format == "text":
        assert (plain[1], strict[1]) == ("I could not.\n", "")
        return
    kinds = [json.loads(out.splitlines()[-1]) for _, out, _ in (plain, strict)]
    assert [(x["subtype"], x["is_error"]) for x in kinds] == [("success", False), ("error_permission", True)]
    assert [[d["tool_name"] for d in x["permission_denials"]] for x in kinds] == [["Bash"], ["Bash"]]


def test_sessions_by_name(api: ApiServer, project: Path, monkeypatch: Any, capfd: Any) -> None:
    name = "11111111-2222-4333-8444-555555555555"
    api.play("one", "two", "three")

    def result(*words: str) -> dict[str, Any]:
        code, out, err = program(["-p", "hi", "--output-format", "json", *words], monkeypatch, capfd)
        assert code == 0, err
        found: dict[str, Any] = json.loads(out)
        return found

    first = result(f"--session-id={name}")
    second = result(f"--resume={name}")
    forked = result("--resume", name, "--fork-session")
    assert (first["session_id"], second["session_id"]) == (name, name)
    assert forked["session_id"] not in ("", name)
    assert [len(r.messages) for r in api.requests] == [1, 3, 5]


def test_piped_text_is_fenced_behind_the_prompt(
    api: ApiServer, project: Path, world: Path, monkeypatch: Any, capfd: Any
) -> None:
    (world / "log.txt").write_text("err: x\n```\n")
    api.play("I see.", "I see.")
    assert program(["-p", "explain"], monkeypatch, capfd, world / "log.txt")[:2] == (0, "I see.\n")
    assert program([], monkeypatch, capfd, world / "log.txt")[:2] == (0, "I see.\n")
    assert api.requests[0].last_text.endswith("explain\n\n````\nerr: x\n```\n````")
    assert api.requests[1].last_text.endswith("err: x\n```")


def test_too_much_on_standard_input(api: ApiServer, project: Path, world: Path, monkeypatch: Any, capfd: Any) -> None:
    with (world / "log.txt").open("wb") as file:
        file.truncate(10_000_001)
    code, out, err = program(["-p", "explain"], monkeypatch, capfd, world / "log.txt")
    assert (code, out) == (2, "")
    assert "10,000,000 bytes" in err


def test_fallback_model_budget_and_schema_in_one_run(
    api: ApiServer, project: Path, monkeypatch: Any, capfd: Any
) -> None:
    overloaded = error(529, "overloaded")
    api.play(overloaded, overloaded, overloaded, '{"n": 1}')
    schema = json.dumps({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]})
    words = ["-p", "hi", "--fallback-model", "haiku", "--json-schema", schema, "--max-budget-usd", "1", "--verbose"]
    code, out, err = program([*words, "--output-format", "stream-json"], monkeypatch, capfd)
    lines = [json.loads(line) for line in out.splitlines()]
    assert (code, lines[-1]["structured_output"]) == (0, {"n": 1}), err
    assert [x["code"] for x in lines if x.get("subtype") == "informational"] == ["fallback"]
    assert "haiku" in lines[-2]["message"]["model"]


def test_a_fallback_is_said_to_people_too(api: ApiServer, project: Path, monkeypatch: Any, capfd: Any) -> None:
    overloaded = error(529, "overloaded")
    api.play(reply(tool_use("Glob", {"pattern": "*"})), overloaded, overloaded, overloaded, "done")
    code, out, err = program(["-p", "hi", "--fallback-model", "haiku"], monkeypatch, capfd)
    assert (code, out) == (0, "done\n")
    assert "claude-sonnet-5-5 is overloaded: the rest of the turn goes to claude-haiku-5-5; " in err
    assert "tokens are read uncached, about $" in err


def test_a_bug_has_a_result_too(api: ApiServer, project: Path, monkeypatch: Any, capfd: Any) -> None:
    """Whatever escapes shows its traceback, but a program that reads the output is not left without a result."""
    with monkeypatch.context() as patch, pytest.raises(ExceptionGroup):
        patch.setattr("agentcli.runtime.session.Session.run", lambda self, prompt: 1 / 0)
        program(["-p", "hi", "--output-format", "json"], monkeypatch, capfd)
    result = json.loads(capfd.readouterr().out)
    assert (result["is_error"], result["error_type"]) == (True, "bug")
    assert "ZeroDivisionError" in result["errors"][0]


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (tool_use("Bash", {"command": "  "}), "The command is empty"),
        (tool_use("Bash", {}), "command"),
        (tool_use("Bash", {"command": "echo \0"}), "NUL"),
        (tool_use("Write", {"file_path": "a"}), "content"),
    ],
)
def test_an_input_that_is_none_is_said_to_the_model_and_no_missing_permission(
    call: Any, told: str, api: ApiServer, project: Path, monkeypatch: Any, capfd: Any
) -> None:
    api.play(reply(call), "I see.")
    code, out, _ = program(["-p", "go", "--output-format", "json", "--strict-permissions"], monkeypatch, capfd)
    done = json.loads(out)
    assert (code, done["result"], done["permission_denials"]) == (0, "I see.", [])
    [result] = [b for b in api.requests[-1].messages[-1]["content"] if b["type"] == "tool_result"]
    assert result["is_error"] is True
    assert told in json.dumps(result["content"])
    assert "ermission" not in json.dumps(result["content"])


def test_an_edit_that_can_not_work_is_said_to_the_model_and_no_missing_permission(
    api: ApiServer, project: Path, monkeypatch: Any, capfd: Any
) -> None:
    (project / "a").write_text("one\n")
    edit = {"file_path": "a", "old_string": "two", "new_string": "three"}
    api.play(reply(tool_use("Read", {"file_path": "a"})), reply(tool_use("Edit", edit)), "I see.")
    code, out, _ = program(["-p", "go", "--output-format", "json", "--strict-permissions"], monkeypatch, capfd)
    assert (code, json.loads(out)["permission_denials"]) == (0, [])
    assert "old_string is not in a" in json.dumps(api.requests[-1].messages[-1])
