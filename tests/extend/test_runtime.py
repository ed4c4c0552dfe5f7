"""Extensions in a real session: commands under the permission rules, grants for a turn, hooks around the session."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from agentcli.errors import UserError
from agentcli.events import Compacted, Event, Notice, PermissionAsked
from agentcli.extend.hooks import HookRoom
from agentcli.extend.room import Extensions
from agentcli.model.scripted import ScriptedClient, say
from agentcli.ports.permissions import HookEvent, PermissionMode
from agentcli.ports.skills import InvokedSkill
from agentcli.ports.tools import ToolCall
from agentcli.runtime.build import open_session
from agentcli.runtime.extending import make_extensions
from agentcli.runtime.extension_means import Connections, SkillGrants, about, connect, renew
from agentcli.runtime.options import SessionOptions
from agentcli.runtime.session import Session
from agentcli.runtime.session_hooks import SessionHooks
from agentcli.runtime.side_question import SideLine, small_model
from tests.extend.worlds import command, one, saying, skill, write


@dataclass
class Stage:
    session: Session
    extensions: Extensions
    hooks: HookRoom
    warned: list[str] = field(default_factory=list)


@asynccontextmanager
async def stage(project: Path, *script: Any, mode: PermissionMode = "default", **options: Any) -> AsyncIterator[Stage]:
    given = SessionOptions(cwd=project, trust=True, permission_mode=mode, **options)
    client = ScriptedClient(list(script), otherwise=say("Fine."))
    session = await open_session(given, client=client)
    warned: list[str] = []
    extensions = make_extensions(session.world)
    to = Connections(
        world=session.world,
        gate=session.gate,
        state=session.state,
        processes=session.toolbox.processes,
        shell=session.toolbox.shell,
        environment=session.contexts.environment,
        spill=session.contexts.spill,
        transcript=lambda: str(session.opened.path or ""),
        warn=warned.append,
        ask_model=small_model(SideLine(client, session.models, session.state.spend, lambda: session.ledger)),
    )
    try:
        yield Stage(session, extensions, connect(extensions, to), warned)
    finally:
        await session.close()


async def test_commands_of_a_skill_are_under_the_rules_and_never_ask(repo: Path) -> None:
    asked: list[Event] = []
    command(repo, "status", "!`git status --short`!")
    command(repo, "write", "!`touch made`")
    command(repo, "granted", "---\nallowed-tools: Bash(touch *)\n---\nDone:!`touch made` !`touch made; ls made`")
    command(repo, "broken", "!`cat nothing`")
    async with stage(repo) as run:
        run.session.events.subscribe(asked.append)
        assert (await run.extensions.invoke("status")).text == "?? .claude/!"
        with pytest.raises(UserError, match="the command `touch made` is not allowed"):
            await run.extensions.invoke("write")
        assert not (repo / "made").exists()
        assert (await run.extensions.invoke("granted")).text == "Done:!`touch made` made"
        with pytest.raises(UserError, match=r"`cat nothing` failed with exit code 1: cat: nothing"):
            await run.extensions.invoke("broken")
    assert [e for e in asked if isinstance(e, PermissionAsked)] == []


async def test_a_deny_rule_beats_what_a_skill_brings(repo: Path) -> None:
    write(repo / ".claude" / "settings.json", json.dumps({"permissions": {"deny": ["Bash(touch *)", "Read(secret)"]}}))
    command(repo, "granted", "---\nallowed-tools: Bash(touch *)\n---\n!`touch made`")
    command(repo, "files", "@secret @README.md")
    write(repo / "secret", "KEY")
    async with stage(repo) as run:
        with pytest.raises(UserError, match="is not allowed"):
            await run.extensions.invoke("granted")
        text = (await run.extensions.invoke("files")).text
        assert "# sample" in text
        assert "KEY" not in text


async def test_grants_last_until_the_next_message(project: Path) -> None:
    async with stage(project) as run:
        gate = run.session.gate
        grants = SkillGrants(gate, project)

        def decided(line: str) -> str:
            return gate.check(ToolCall("t", "Bash", {"command": line})).behavior

        assert decided("touch a") == "ask"
        grants.give(InvokedSkill("x", "", allowed_tools=("Bash(touch *)", "No Rule("), disallowed_tools=("WebFetch",)))
        assert decided("touch a") == "allow"
        grants.turn_begins()
        assert decided("touch a") == "allow"
        grants.give(InvokedSkill("y", "", allowed_tools=("Bash(mkdir *)",)))
        assert decided("mkdir b") == "allow"
        grants.turn_ended()
        grants.turn_begins()
        assert (decided("touch a"), decided("mkdir b")) == ("ask", "ask")
        assert gate.rules == ()


@pytest.mark.parametrize(
    ("rule", "tool", "given", "expected"),
    [
        ("Bash(git *)", "Bash", {"command": "ls && git push"}, True),
        ("Bash(git *)", "Bash", {"command": "ls"}, False),
        ("Edit(src/**)", "Edit", {"file_path": "src/a.py"}, True),
        ("Edit(src/**)", "Edit", {"file_path": "docs/a.md"}, False),
        ("Read", "Read", {"file_path": "x"}, True),
        ("Read", "Bash", {"command": "ls"}, False),
        ("No Rule(", "Bash", {"command": "ls"}, True),
    ],
)
async def test_the_if_of_hooks_is_a_permission_rule(
    project: Path, rule: str, tool: str, given: dict[str, Any], expected: bool
) -> None:
    async with stage(project) as run:
        assert about(rule, ToolCall("t", tool, given), run.session.gate) is expected


async def test_what_every_hook_is_told(project: Path) -> None:
    write(project / ".claude" / "settings.json", json.dumps({"hooks": one("Stop", "cat > got.json; env > env")}))
    async with stage(project, mode="plan") as run:
        await run.hooks.fire(HookEvent("Stop", fields={"stop_hook_active": False}))
        path = run.session.opened.path
        assert json.loads((project / "got.json").read_text()) == {
            "session_id": run.session.id,
            "transcript_path": str(path),
            "cwd": str(project),
            "permission_mode": "plan",
            "hook_event_name": "Stop",
            "stop_hook_active": False,
        }
        lines = (project / "env").read_text().splitlines()
        assert {f"AGENTCLI_SESSION_ID={run.session.id}", f"CLAUDE_PROJECT_DIR={project}"} <= set(lines)


async def test_prompt_hooks_ask_the_sessions_server(project: Path) -> None:
    hook = {"type": "prompt", "prompt": "Were tests run?"}
    write(project / ".claude" / "settings.json", json.dumps({"hooks": one("Stop", hook)}))
    async with stage(project, '{"ok": false, "reason": "run them"}') as run:
        verdict = await run.hooks.fire(HookEvent("Stop", fields={}))
        assert (verdict.behavior, verdict.reason) == ("deny", "run them")
        client = run.session.client
        assert isinstance(client, ScriptedClient)
        assert (client.requests[0].query_source, "haiku" in client.requests[0].model) == ("side", True)


async def test_warnings_of_files_are_told(project: Path) -> None:
    write(project / ".claude" / "agents" / "a.md", "---\nname: a\n---\nx")
    write(project / ".claude" / "settings.json", json.dumps({"hooks": {"Sometime": []}}))
    async with stage(project) as run:
        assert len(run.warned) == 2


@pytest.mark.parametrize("given", [{"bare": True}, {"setting_sources": ()}])
async def test_nothing_is_read_that_was_not_asked_for(project: Path, home: Path, given: dict[str, Any]) -> None:
    skill(project, "a")
    skill(home, "b")
    write(project / ".claude" / "settings.json", json.dumps({"hooks": one("Stop", "touch marker")}))
    async with stage(project, **given) as run:
        assert dict(run.extensions.skills) == {}
        await run.hooks.fire(HookEvent("Stop"))
        assert list(run.extensions.agents) == ["explore", "general-purpose", "plan"]
    assert not (project / "marker").exists()


async def test_hooks_around_a_session(project: Path) -> None:
    hooks = {
        **one("SessionStart", saying({"systemMessage": "Hi", "hookSpecificOutput": {"additionalContext": "Frozen."}})),
        **one("SessionEnd", "cat > end.json; echo bye >&2; exit 2"),
        **one("Notification", "cat > note.new; mv note.new note.json", "permission_prompt"),
    }
    write(project / ".claude" / "settings.json", json.dumps({"hooks": hooks}))
    events: list[Event] = []
    told: list[tuple[str, str]] = []
    async with stage(project) as run:
        around = SessionHooks(run.hooks, events.append, lambda key, text: told.append((key, text)))
        around.begin("startup", model="m")
        await around.ready()
        await around.ready()
        assert told == [("hook:SessionStart", "Frozen.")]
        around.hear(Compacted("manual", 10, 1, "s"))
        await around.ready()
        assert told == [("hook:SessionStart", "Frozen.")] * 2
        around.hear(PermissionAsked("r1", "t1", "Bash", {}, "ls", "why"))
        async with asyncio.timeout(60):
            while not (project / "note.json").exists():
                await asyncio.sleep(0.02)
        await around.end("other")
    note = json.loads((project / "note.json").read_text())
    assert (note["message"], note["notification_type"]) == (
        "agentcli needs your permission to use Bash",
        "permission_prompt",
    )
    assert json.loads((project / "end.json").read_text())["reason"] == "other"
    assert events == [Notice("info", "Hi", "hook"), Notice("info", "Hi", "hook"), Notice("info", "bye", "hook")]


async def test_settings_that_change_while_the_session_runs(project: Path) -> None:
    path = write(project / ".claude" / "settings.json", json.dumps({"hooks": one("Stop", "exit 2")}))
    skill(project, "a", description="A")
    async with stage(project) as run:
        assert (await run.hooks.fire(HookEvent("Stop"))).behavior == "deny"
        write(path, json.dumps({"skillOverrides": {"a": "off"}}))
        renew(run.extensions, run.session.world.files.reload().settings)
        assert (await run.hooks.fire(HookEvent("Stop"))).behavior is None
        assert dict(run.extensions.skills) == {}
