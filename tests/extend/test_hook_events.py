"""Every event: fired by a real session with its documented fields, and harmless whatever becomes of its hook."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agentcli.events import Event, PermissionAsked
from agentcli.ports.permissions import Answer, HookVerdict
from tests.api import ApiServer, reply, tool_use
from tests.e2e.harness import Stage
from tests.extend.worlds import bench, one, write

DOCUMENTED = (
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PermissionRequest",
    "PostToolUse",
    "PostToolUseFailure",
    "Notification",
    "SubagentStart",
    "SubagentStop",
    "Stop",
    "PreCompact",
    "PostCompact",
    "SessionEnd",
)
BLOCKED_BY_TWO = {
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "SubagentStop",
    "Stop",
    "PreCompact",
}
GARBAGE = r"printf '\000\377\376{]\033[2J\n'; exit 0"
FAILING: dict[str, dict[str, Any]] = {
    "a missing program": {"command": "/no/such/hook", "args": []},
    "a missing command": {"command": "no-such-command-anywhere"},
    "no end": {"command": "sleep 300", "timeout": 0.2},
    "no end, and deaf": {"command": "trap '' TERM; sleep 300", "timeout": 0.2},
    "killed": {"command": "kill -9 $$"},
    "one": {"command": "echo broken >&2; exit 1"},
    "JSON that does not fit": {"command": """echo '{"continue": "perhaps"}'"""},
}


@pytest.mark.parametrize("event", DOCUMENTED)
async def test_a_hook_that_fails_is_told_and_changes_nothing(project: Path, event: str) -> None:
    groups = [one(event, {"type": "command", **hook})[event][0] for hook in FAILING.values()]
    async with bench(project, {event: groups}) as run:
        found = await run.fire(event)
    assert found == HookVerdict(messages=found.messages)
    assert len(found.messages) == len(FAILING)
    assert all(event in message for message in found.messages)


@pytest.mark.parametrize("event", DOCUMENTED)
async def test_garbage_and_a_flood_are_not_taken_for_an_answer(project: Path, event: str) -> None:
    hooks = {event: [{"hooks": [{"command": GARBAGE}, {"command": "head -c 3000000 /dev/zero | tr '\\0' '{'"}]}]}
    async with bench(project, hooks) as run:
        found = await run.fire(event)
    assert found == HookVerdict(context=found.context)
    assert bool(found.context) is (event in ("SessionStart", "UserPromptSubmit"))
    assert all(len(text) < 3_000 for text in found.context)


@pytest.mark.parametrize("event", DOCUMENTED)
async def test_two_is_a_no_where_there_is_something_to_refuse(project: Path, event: str) -> None:
    async with bench(project, one(event, """echo '{"decision": "approve"}'; echo not today >&2; exit 2""")) as run:
        found = await run.fire(event)
    no = event in BLOCKED_BY_TWO
    assert found == (HookVerdict("deny", "not today") if no else HookVerdict(messages=("not today",)))


async def test_an_endless_flood_is_ended(project: Path) -> None:
    async with bench(project, one("PreToolUse", "yes")) as run:
        found = await run.call()
    (message,) = found.messages
    assert found == HookVerdict(messages=(message,))
    assert "was ended; nothing was blocked" in message


COMMON = {"session_id", "transcript_path", "cwd", "permission_mode", "hook_event_name"}
FIELDS = {
    "SessionStart": {"source"},
    "UserPromptSubmit": {"prompt"},
    "PreToolUse": {"tool_name", "tool_input", "tool_use_id"},
    "PermissionRequest": {"tool_name", "tool_input"},
    "PostToolUse": {"tool_name", "tool_input", "tool_response", "tool_use_id", "duration_ms"},
    "PostToolUseFailure": {"tool_name", "tool_input", "tool_use_id", "error"},
    "Notification": {"message", "notification_type"},
    "SubagentStart": {"agent_id", "agent_type"},
    "SubagentStop": {"agent_id", "agent_type", "stop_hook_active", "last_assistant_message"},
    "Stop": {"stop_hook_active", "last_assistant_message"},
    "PreCompact": {"trigger", "custom_instructions"},
    "PostCompact": {"trigger", "compact_summary"},
    "SessionEnd": {"reason"},
}


@pytest.fixture
def stage(home: Path, project: Path) -> Iterator[Stage]:
    with ApiServer() as api:
        yield Stage(api, home, project)
        assert api.refused == []


async def test_a_session_fires_them_all_with_their_fields(stage: Stage) -> None:
    hooks = {e: one(e, f"cat > {e}.new; mv {e}.new {e}.json")[e] for e in DOCUMENTED}
    write(stage.project / ".claude" / "settings.json", json.dumps({"hooks": hooks}))
    stage.api.lane("look around", "Seen.")
    make = tool_use("Write", {"file_path": str(stage.project / "a.txt"), "content": "x\n"})
    fail = tool_use("Read", {"file_path": str(stage.project / "missing.txt")})
    work = tool_use("Agent", {"description": "x", "prompt": "look around", "subagent_type": "general-purpose"})
    async with stage.session(trust=True, permission_mode="default") as session:

        def answer(event: Event) -> None:
            if isinstance(event, PermissionAsked):
                session.answer(event.request_id, Answer(True))

        session.events.subscribe(answer)
        session.start()
        await stage.say(session, "go on", reply(make), reply(fail), reply(work), "All done.")
        stage.play("A summary of it all.")
        assert await session.compact() is not None
    for event in DOCUMENTED:
        given = json.loads((stage.project / f"{event}.json").read_text())
        assert given["hook_event_name"] == event
        assert COMMON | FIELDS[event] <= given.keys(), (event, given)
        assert given["session_id"] == session.id
