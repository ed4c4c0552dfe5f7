"""The session as its front end holds it, played by a scripted model."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from agentcli.errors import UserError
from agentcli.events import ConversationCleared, Event, ModeChanged, Notice, PermissionAsked, ToolFinished
from agentcli.model.scripted import ScriptedClient, Step, call, say
from agentcli.ports.frontend import UserInput
from agentcli.ports.permissions import Answer, PermissionUpdate
from agentcli.ports.tools import ToolCall
from agentcli.runtime.build import open_session
from agentcli.runtime.options import Resume, SessionOptions
from agentcli.runtime.session import Session


async def begin(project: Path, script: Sequence[Step], **given: Any) -> tuple[Session, list[Event]]:
    session = await open_session(SessionOptions(cwd=project, **given), client=ScriptedClient(script))
    heard: list[Event] = []
    session.events.subscribe(heard.append)
    session.start()
    return session, heard


async def test_a_question_is_answered_from_above(project: Path) -> None:
    session, heard = await begin(project, [say(call("Write", file_path="a.txt", content="x\n")), "done"])

    def answer(event: Event) -> None:
        if isinstance(event, PermissionAsked):
            assert session.answer(event.request_id, Answer(allowed=True))
            assert not session.answer(event.request_id, Answer(allowed=False))

    session.events.subscribe(answer)
    finished = await session.run(UserInput("write it"))
    await session.close()
    assert (finished.outcome, finished.text) == ("completed", "done")
    assert (project / "a.txt").read_text() == "x\n"
    assert sum(isinstance(e, ToolFinished) for e in heard) == 1


async def test_without_anybody_to_ask_the_call_is_denied(project: Path) -> None:
    session, heard = await begin(project, [say(call("Bash", command="touch owned")), "so be it"], interactive=False)
    await session.run(UserInput("go"))
    await session.close()
    assert [e.denied for e in heard if isinstance(e, ToolFinished)] == [True]
    assert not (project / "owned").exists()


async def test_an_interrupted_turn_keeps_its_cost(project: Path) -> None:
    session, heard = await begin(
        project, [say(call("Bash", command="sleep 987")), "never"], permission_mode="bypassPermissions"
    )
    turn = asyncio.create_task(session.run(UserInput("go")))
    while not any(type(e).__name__ == "ToolStarted" for e in heard):
        await asyncio.sleep(0.01)
    session.interrupt()
    finished = await turn
    assert finished.outcome == "interrupted"
    assert session.status().cost == pytest.approx(session.run_cost())
    await session.close()


async def test_clear_begins_a_new_session_and_keeps_the_old_one(project: Path) -> None:
    session, heard = await begin(project, ["one", "two"])
    first = session.id
    await session.run(UserInput("first question"))
    await session.clear()
    await session.run(UserInput("second question"))
    assert isinstance(session.client, ScriptedClient)
    assert [m.text() for m in session.client.requests[-1].messages] == ["second question"]
    assert session.id != first
    assert sum(isinstance(e, ConversationCleared) for e in heard) == 1
    await session.close()
    again, _ = await begin(project, ["three"], resume=Resume(query=first))
    assert [m.text() for m in again.state.messages] == ["first question", "one"]
    await again.close()


async def test_bypassing_permissions_has_to_be_allowed_at_the_start(project: Path) -> None:
    session, _ = await begin(project, [])
    with pytest.raises(UserError, match="allow-dangerously"):
        session.set_mode("bypassPermissions")
    assert [session.cycle_mode() for _ in range(3)] == ["acceptEdits", "plan", "default"]
    await session.close()


async def test_an_untrusted_project_only_restricts(project: Path) -> None:
    (project / ".claude").mkdir()
    (project / ".claude" / "settings.json").write_text(
        '{"permissions": {"allow": ["Bash(touch *)"], "deny": ["Bash(ls *)"]}, "env": {"MARK": "1"}}'
    )
    script = [say(call("Bash", command="touch owned"), call("Bash", command="ls -l")), "done"]
    session, _ = await begin(project, script, interactive=False)
    await session.run(UserInput("go"))
    await session.close()
    assert not (project / "owned").exists()
    assert "MARK" not in session.world.env
    trusted, heard = await begin(project, script, interactive=False, trust=True)
    await trusted.run(UserInput("go"))
    await trusted.close()
    assert (project / "owned").exists()
    assert [e.denied for e in heard if isinstance(e, ToolFinished)] == [False, True]
    assert trusted.world.env["MARK"] == "1"


async def test_the_users_own_command_goes_with_the_next_message(project: Path) -> None:
    session, _ = await begin(project, ["I see"])
    await session.shell("echo from-the-shell")
    await session.run(UserInput("look"))
    await session.close()
    assert isinstance(session.client, ScriptedClient)
    (message,) = session.client.requests[0].messages
    assert "from-the-shell" in str(message.content)


async def test_settings_that_break_meanwhile_are_named_and_stay_in_force(project: Path, home: Path) -> None:
    user = home / ".claude" / "settings.json"
    user.parent.mkdir()
    user.write_text('{"permissions": {"deny": ["Bash(touch *)"]}}')
    script = ["first", say(call("Bash", command="touch owned")), "second"]
    session, heard = await begin(project, script, permission_mode="bypassPermissions")
    await session.run(UserInput("one"))
    user.write_text('{"permissions": {"deny": ["Bash(touch')
    await session.run(UserInput("two"))
    await session.close()
    assert not (project / "owned").exists()
    assert any(isinstance(e, Notice) and "settings.json" in e.text for e in heard)


async def test_an_answer_can_change_the_mode_and_is_told(project: Path) -> None:
    writes = [say(call("Write", file_path=name, content="x\n")) for name in ("a.txt", "b.txt")]
    session, heard = await begin(project, [*writes, "done"])

    def answer(event: Event) -> None:
        if isinstance(event, PermissionAsked):
            update = PermissionUpdate("setMode", mode="acceptEdits")
            session.answer(event.request_id, Answer(allowed=True, updates=(update,)))

    session.events.subscribe(answer)
    await session.run(UserInput("write both"))
    assert session.gate.mode == "acceptEdits"
    assert [e.mode for e in heard if isinstance(e, ModeChanged)] == ["acceptEdits"]
    assert sum(isinstance(e, PermissionAsked) for e in heard) == 1
    await session.close()


async def test_scratch_and_notes_need_no_permission_and_nothing_else_does(project: Path, home: Path) -> None:
    session, _ = await begin(project, [], interactive=False)
    assert session.memory is not None
    (notes,) = session.memory.writable_directories()
    scratch = session.contexts.scratch
    assert scratch is not None
    outside = home / "other.txt"
    notes.mkdir(parents=True, exist_ok=True)
    (notes / "leak.md").symlink_to(outside)

    def decision(path: Path) -> str:
        return session.gate.check(ToolCall("t", "Write", {"file_path": str(path), "content": "x"})).behavior

    assert [decision(scratch / "a"), decision(notes / "topic.md")] == ["allow", "allow"]
    assert [decision(outside), decision(project / "a")] == ["ask", "ask"]
    assert [decision(notes / "leak.md"), decision(notes / ".." / "x.md")] == ["deny", "deny"]
    await session.close()


async def test_no_secret_is_written_to_the_teams_notes(project: Path) -> None:
    session, _ = await begin(project, [], permission_mode="bypassPermissions", allow_bypass=True)
    path = project / ".claude" / "memory" / "deploy.md"
    call_of = {"file_path": str(path), "content": "key: sk-ant-api03-" + "a" * 90}
    assert session.gate.check(ToolCall("t", "Write", call_of)).behavior == "deny"
    await session.close()


async def test_a_hook_that_hangs_at_the_start_can_be_interrupted(project: Path, home: Path) -> None:
    (home / ".claude").mkdir()
    hook = {"hooks": [{"type": "command", "command": "touch began; sleep 987"}]}
    (home / ".claude" / "settings.json").write_text(json.dumps({"hooks": {"SessionStart": [hook]}}))
    session, _ = await begin(project, ["never"])
    turn = asyncio.create_task(session.run(UserInput("go")))
    while not (project / "began").exists():
        await asyncio.sleep(0.01)
    session.interrupt()
    assert (await turn).outcome == "interrupted"
    await session.close()
