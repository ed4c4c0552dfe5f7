"""Names that there are not: tools of the command line, settings; each with the nearest that there is."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path

import pytest

from tests.api import ApiServer, reply, text
from tests.e2e.program import run


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--tools", "Raed,Bash"], ["--tools", "Raed", "did you mean Read?"]),
        (["--tools", "Bash,zzzz"], ["--tools", "zzzz"]),
        (["--allowedTools", "bash(ls:*)"], ["bash(ls:*)", "did you mean Bash?"]),
        (["--disallowedTools", "Wirte"], ["Wirte", "did you mean Write?"]),
    ],
)
async def test_a_tool_that_there_is_not(arguments: list[str], words: list[str], project: Path) -> None:
    async with ApiServer(reply(text("Hi."))) as api:
        env = {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": api.url}
        done = await asyncio.to_thread(run, "-p", "hi", *arguments, cwd=project, env=env)
    assert (done.code, done.out) == (0, "Hi.\n"), done
    assert len(done.err.strip().splitlines()) == 1
    for word in words:
        assert word in done.err


async def test_tools_that_may_come_and_old_names_are_not_named(project: Path) -> None:
    async with ApiServer(reply(text("Hi."))) as api:
        env = {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": api.url}
        more = ["--tools", "Task,Read,mcp__later__x", "--allowedTools", "mcp__later", "--disallowedTools", "WebSearch"]
        done = await asyncio.to_thread(run, "-p", "hi", *more, cwd=project, env=env)
        sent = [t["name"] for t in api.requests[0].json["tools"]]
    assert (done.code, done.err) == (0, "")
    assert {"Agent", "Read"} <= set(sent)
    assert "Bash" not in sent


@pytest.mark.parametrize(
    ("key", "words"),
    [("modle", "model"), ("permissions.alow", "permissions.alow (did you mean allow?)"), ("model.x", "model holds a")],
)
def test_a_setting_that_there_is_not_is_not_written(key: str, words: str, project: Path, home: Path) -> None:
    done = run("config", "set", key, "x", cwd=project)
    assert (done.code, done.out) == (2, "")
    assert words in done.err
    assert not (home / ".claude" / "settings.json").exists()


def test_settings_below_free_objects_are_written(project: Path, home: Path) -> None:
    assert run("config", "set", "env.FOO", "x", cwd=project).code == 0
    assert json.loads((home / ".claude" / "settings.json").read_text()) == {"env": {"FOO": "x"}}


def test_only_files_that_there_are_are_named(project: Path) -> None:
    done = run("config", "list", cwd=project)
    assert (done.code, done.out) == (0, "no settings are set; defaults are used\n")


@pytest.mark.parametrize("command", ["/help", "/cost", "/status"])
def test_a_local_command_alone_stores_no_session(command: str, project: Path) -> None:
    env = {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": "http://127.0.0.1:9"}
    assert run("-p", command, cwd=project, env=env).code == 0
    done = run("sessions", "list", cwd=project, env=env)
    assert done.code == 0
    assert command not in done.out + done.err
    folder = Path(os.environ["AGENTCLI_HOME"] if "AGENTCLI_HOME" in os.environ else Path.home() / ".agentcli")
    assert list(folder.rglob("*.jsonl")) == []
