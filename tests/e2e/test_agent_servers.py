"""MCP servers of an agent's definition: there while it works, gone with it, started only where they may."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agentcli.events import PermissionAsked
from agentcli.ports.frontend import UserInput
from agentcli.ports.permissions import Answer
from agentcli.settings.trust import TrustStore, project_of
from tests.api import ApiServer, Gate, after, reply, tool_use
from tests.e2e.harness import Stage, until
from tests.e2e.test_mcp_servers import SERVER
from tests.e2e.test_subagents import of, results, task, whole


@pytest.fixture
def stage(home: Path, project: Path) -> Iterator[Stage]:
    with ApiServer() as api:
        yield Stage(api, home, project)
        assert api.refused == []


def noting_server(directory: Path, pids: Path, *tools: str) -> dict[str, Any]:
    """A server that notes down its process."""
    program = directory / "srv.py"
    program.write_text(f"import os\nopen({str(pids)!r}, 'a').write(str(os.getpid()) + ' ')\n{SERVER}")
    return {"command": sys.executable, "args": ["-I", "-S", str(program), ",".join(tools)]}


def entry(stage: Stage, *tools: str) -> dict[str, Any]:
    return noting_server(stage.project, stage.project / "pids", *tools)


def define(folder: Path, servers: list[Any], **more: str) -> None:
    (folder / "agents").mkdir(parents=True, exist_ok=True)
    front = {"name": "asker", "description": "asks", "mcpServers": json.dumps(servers), **more}
    lines = "\n".join(f"{k}: {v}" for k, v in front.items())
    (folder / "agents" / "asker.md").write_text(f"---\n{lines}\n---\nYou ask.\n")


def started(stage: Stage) -> list[int]:
    file = stage.project / "pids"
    return [int(pid) for pid in file.read_text().split()] if file.exists() else []


def alive(stage: Stage) -> list[int]:
    return [pid for pid in started(stage) if Path(f"/proc/{pid}").exists()]


CALL = tool_use("mcp__own__look", {})


async def test_a_server_runs_while_its_agent_works_and_again_when_it_goes_on(stage: Stage) -> None:
    define(
        stage.home / ".claude", [{"own": entry(stage, "look", "drop")}], tools="Read", disallowedTools="mcp__own__drop"
    )
    seen: list[int] = []

    def looking(request: object) -> str:
        seen.extend(alive(stage))
        return "Looked."

    go_on = tool_use("SendMessage", {"to": "agent_1", "message": "once more"})
    stage.api.lane("look at it", reply(CALL), looking, reply(CALL), looking)
    async with stage.session() as session:
        await stage.say(session, "go", reply(task("look at it", "asker")), "Fine.")
        assert (len(started(stage)), alive(stage)) == (1, [])
        await stage.say(session, "and", reply(go_on), "Fine.")
        assert alive(stage) == []
    requests = of(stage, "look at it")
    assert [r.tool_names for r in requests] == [["Read", "mcp__own__look"]] * 4
    assert ["ran look" in results(requests[n])[0] for n in (1, 3)] == [True, True]
    assert len(seen) == 2
    assert "mcp__own" not in json.dumps([r.json for r in of(stage, '"go"')])


async def test_an_interruption_ends_it(stage: Stage) -> None:
    define(stage.home / ".claude", [{"own": entry(stage, "look")}])
    stage.api.lane("look at it", after(Gate(), "never"))
    async with stage.session() as session:
        stage.play(reply(task("look at it", "asker")))
        turn = asyncio.create_task(session.run(UserInput("go")))
        await until(lambda: len(of(stage, "look at it")) == 1, seconds=30)
        assert len(alive(stage)) == 1
        session.interrupt()
        assert (await turn).outcome == "interrupted"
        whole(session)
        assert alive(stage) == []
        assert session.toolbox.processes.running == ()


@pytest.mark.parametrize("allowed", [True, False])
async def test_a_project_s_server_starts_when_the_user_agrees_once(stage: Stage, allowed: bool) -> None:
    define(stage.project / ".claude", [{"own": entry(stage, "look")}])
    env = {"HOME": str(stage.home)}
    assert TrustStore(env).accept(project_of(stage.project, env)) == ""
    asked: list[tuple[str, str, str]] = []
    stage.api.lane("look at it", "Looked.", "Looked.")
    async with stage.session() as session:

        def answer(event: object) -> None:
            if isinstance(event, PermissionAsked):
                asked.append((event.agent, event.name, event.title.partition(":")[0]))
                session.answer(event.request_id, Answer(allowed=allowed))

        session.events.subscribe(answer)
        await stage.say(session, "go", reply(task("look at it", "asker")), "Fine.")
        await stage.say(session, "again", reply(task("look at it", "asker")), "Fine.")
    assert asked == [("asker", "McpServer", "own")] * (1 if allowed else 2)
    assert len(started(stage)) == (2 if allowed else 0)
    first = of(stage, "look at it")[0]
    assert ("mcp__own__look" in first.tool_names) is allowed
    missing = "The MCP server own (waits for your approval, since it came with the project) is not there."
    assert (missing in json.dumps(first.messages)) is not allowed


async def test_in_a_project_that_is_not_trusted_nothing_starts(stage: Stage) -> None:
    define(stage.project / ".claude", [{"own": entry(stage, "look")}])
    stage.api.lane("look at it", "Looked.")
    async with stage.session() as session:
        await stage.say(session, "go", reply(task("look at it", "asker")), "Fine.")
    assert started(stage) == []


async def test_a_named_server_comes_to_an_agent_that_lists_its_tools(stage: Stage) -> None:
    given = json.dumps({"mcpServers": {"shared": entry(stage, "find")}})
    define(stage.home / ".claude", ["shared", "absent"], tools="Read")
    stage.api.lane("find it", reply(tool_use("mcp__shared__find", {})), "Found.")
    async with stage.session(mcp_config=(given,)) as session:
        session.start()
        await stage.say(session, "go", reply(task("find it", "asker")), "Fine.")
    first, second = of(stage, "find it")
    assert first.tool_names == ["Read", "mcp__shared__find"]
    assert "ran find" in results(second)[0]
    assert "The MCP server absent is not there. Do without it" in json.dumps(first.messages)
    assert len(started(stage)) == 1


async def test_a_server_that_can_t_start_is_told_and_nothing_hangs(stage: Stage) -> None:
    broken = {"command": "/nowhere/server"}
    define(stage.home / ".claude", [{"own": broken}, {"worse": {"args": []}}])
    stage.api.lane("look at it", "Looked without.")
    async with stage.session() as session:
        await stage.say(session, "go", reply(task("look at it", "asker")), "Fine.")
    told = json.dumps(of(stage, "look at it")[0].messages)
    assert "The MCP server own (" in told
    assert "The MCP server worse (its entry can't be used" in told
