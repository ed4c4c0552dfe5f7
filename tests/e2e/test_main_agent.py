"""What an agent definition says counts where the main thread runs as the agent (``--agent``)."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest

from agentcli.ports.tools import ToolCall
from agentcli.runtime.options import Resume
from agentcli.runtime.session import Session
from tests.api import ApiServer, reply, tool_use
from tests.e2e.harness import Stage
from tests.e2e.test_subagents import of, results


@pytest.fixture
def stage(home: Path, project: Path) -> Iterator[Stage]:
    with ApiServer() as api:
        yield Stage(api, home, project)
        assert api.refused == []


def define(stage: Stage, front: str, *, at: Path | None = None) -> None:
    folder = (at or stage.home) / ".claude" / "agents"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "lead.md").write_text(f"---\nname: lead\ndescription: works\n{front}\n---\nYou work.\n")


def plain(stage: Stage, **given: Any) -> AbstractAsyncContextManager[Session]:
    """A session as the agent, with nothing said about permissions."""
    return stage.session(**{"agent": "lead", "permission_mode": None, "allow_bypass": False, **given})


async def test_mode_effort_and_turns_count_where_the_command_line_says_nothing(stage: Stage) -> None:
    define(stage, "permissionMode: acceptEdits\neffort: low\nmaxTurns: 2")
    async with plain(stage) as session:
        assert (session.gate.mode, session.state.effort) == ("acceptEdits", "low")
        assert session.agent.limits.max_turns == 2
    async with stage.session(agent="lead", permission_mode="plan", effort="high", max_turns=7) as session:
        assert (session.gate.mode, session.state.effort) == ("plan", "high")
        assert session.agent.limits.max_turns == 7


async def test_a_definition_bypasses_no_permissions_unless_the_command_line_allows_it(stage: Stage) -> None:
    define(stage, "permissionMode: bypassPermissions")
    async with plain(stage) as session:
        assert session.gate.mode == "default"
        assert not session.allow_bypass
        assert any("bypassPermissions is not allowed here" in n for n in session.start_notices)
    async with plain(stage, allow_bypass=True) as session:
        assert session.gate.mode == "bypassPermissions"


async def test_a_project_that_is_not_trusted_loosens_nothing(stage: Stage) -> None:
    define(stage, "permissionMode: acceptEdits\nhooks:\n  Stop: []", at=stage.project)
    async with plain(stage) as session:
        assert session.gate.mode == "default"


async def test_what_is_disallowed_is_denied_in_a_resumed_conversation_too(stage: Stage) -> None:
    define(stage, "tools: Read, Bash\ndisallowedTools: Bash(touch:*)")
    async with stage.session() as session:
        await stage.say(session, "go", "Here.")
        first = session.id
    calls = [tool_use("Bash", {"command": "touch owned"}), tool_use("Write", {"file_path": "a", "content": "b"})]
    async with stage.session(agent="lead", resume=Resume(query=first), permission_mode="acceptEdits") as session:
        await stage.say(session, "more", reply(*calls), "No.")
    denied, unknown = results(of(stage, '"go"')[-1])
    assert "Bash(touch:*)" in denied
    assert "Write" in unknown
    assert not (stage.project / "owned").exists()
    assert not (stage.project / "a").exists()


async def test_hooks_skills_and_notes_of_the_definition_are_there(stage: Stage) -> None:
    skill = stage.home / ".claude" / "skills" / "survey" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\nname: survey\ndescription: surveys\n---\nSurvey with care.\n")
    hook = {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "echo no >&2; exit 2"}]}]}
    define(stage, f"skills: survey\nmemory: user\nhooks: {json.dumps(hook)}")
    notes = stage.home / ".claude" / "agent-memory" / "lead" / "MEMORY.md"
    notes.parent.mkdir(parents=True)
    notes.write_text("The build is slow on Mondays.\n")
    write = tool_use("Write", {"file_path": str(notes.parent / "more.md"), "content": "more\n"})
    calls = [tool_use("Bash", {"command": "echo ran"}), write]
    async with stage.session(agent="lead") as session:
        await stage.say(session, "go", reply(*calls), "So be it.")
    first, second = of(stage, '"go"')
    assert "Survey with care." in first.body.decode()
    assert "The build is slow on Mondays." in first.body.decode()
    blocked, written = results(second)
    assert "ran" not in blocked
    assert "no" in blocked
    assert (notes.parent / "more.md").read_text() == "more\n", written


SERVER = Path(__file__).parent.parent / "mcp" / "sdk_server.py"


async def test_servers_of_the_definition_are_started_and_others_stay_out_of_reach(stage: Stage) -> None:
    brought = {"mine": {"command": sys.executable, "args": [str(SERVER)]}}
    define(stage, f"mcpServers: {json.dumps(brought)}")
    async with stage.session(agent="lead") as session:
        assert session.mcp is not None
        assert session.mcp.manager.names == ["mine"]
        assert session.mcp.configuration.get("mine").origin.startswith("agent lead (")  # type: ignore[union-attr]
    define(stage, "tools: Read\nmcpServers: nowhere")
    async with stage.session(agent="lead") as session:
        assert any("no MCP server 'nowhere'" in n for n in session.start_notices)
        decision = session.gate.check(ToolCall("t", "mcp__mine__echo", {}))
        assert (decision.behavior, decision.reason) == ("deny", "the agent lead does not have mcp__mine__echo")
        assert session.gate.check(ToolCall("t", "mcp__nowhere__x", {})).behavior == "allow"


async def test_names_of_tools_that_there_are_not_are_told_at_the_start(stage: Stage) -> None:
    define(stage, "tools: Raed, Agent(explore), mcp__later__x, NotebookRead\ndisallowedTools: bash, Edit")
    path = stage.home / ".claude" / "agents" / "lead.md"
    async with stage.session() as session:
        told = [n for n in session.start_notices if "there is no tool" in n]
    assert told == [
        f"{path}: tools: there is no tool Raed (did you mean Read?)",
        f"{path}: disallowedTools: there is no tool bash (did you mean Bash?)",
    ]
