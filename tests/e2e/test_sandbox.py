"""Confined sessions with the real bubblewrap."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agentcli.errors import SetupError
from agentcli.events import Notice, PermissionAsked
from agentcli.ports.permissions import Answer
from agentcli.runtime.session import Session
from agentcli.sandbox.mechanism import Missing, find_mechanism
from tests.api import ApiServer, reply, tool_use
from tests.e2e.harness import Stage, until

FOUND = find_mechanism(os.environ)
real = pytest.mark.skipif(isinstance(FOUND, Missing), reason=f"no sandbox on this machine: {FOUND}")


@pytest.fixture
def stage(home: Path, project: Path) -> Iterator[Stage]:
    with ApiServer() as api:
        yield Stage(api, home, project)
        assert api.refused == []


def settings(**sandbox: Any) -> str:
    return json.dumps({"sandbox": {"enabled": True, **sandbox}})


async def results(stage: Stage, session: Session, *inputs: dict[str, Any]) -> list[str]:
    await stage.say(session, "go", reply(*(tool_use("Bash", given) for given in inputs)), "Done.")
    blocks = [b for m in stage.requests[-1].messages for b in m["content"] if b["type"] == "tool_result"]
    found = [b["content"] if isinstance(b["content"], str) else b["content"][0]["text"] for b in blocks]
    return found[-len(inputs) :]


def line(command: str, **more: Any) -> dict[str, Any]:
    return {"command": command, **more}


def answering(session: Session, *, allowed: bool) -> list[PermissionAsked]:
    """Answers every question, and says which there were."""
    asked: list[PermissionAsked] = []

    def answer(event: object) -> None:
        if isinstance(event, PermissionAsked):
            asked.append(event)
            session.answer(event.request_id, Answer(allowed=allowed))

    session.events.subscribe(answer)
    return asked


@real
async def test_a_confined_command_writes_where_it_may_and_nowhere_else(stage: Stage) -> None:
    subprocess.run(["git", "init", "-q", str(stage.project)], check=True)
    (stage.home / ".ssh").mkdir()
    (stage.home / ".ssh" / "id").write_text("secret")
    (stage.project / ".env").write_text("secret")
    (stage.project / ".claude").mkdir()
    (stage.project / ".claude" / "settings.json").write_text('{"permissions": {"deny": ["Read(.env)"]}}')
    commands = {
        "echo x > new && cat new": "x",
        f"echo x > {stage.home}/new": "Read-only file system",
        f"cat {stage.home}/.ssh/id": "No such file or directory|Permission denied",
        """python3 -c 'print("got", open(".e" + "nv").read())'""": "PermissionError",
        "echo x >> .claude/settings.json": "Read-only file system",
        "mv .claude other": "busy",
        "mv .git other": "busy",
        "echo x > .git/hooks/pre-commit": "Read-only file system",
        "git add new && git -c user.name=a -c user.email=a@b commit -qm x && echo committed": "committed",
        "sleep 985 & echo begun": "begun",
        'echo x > "$TMPDIR/file" && cat "$TMPDIR/file"': "x",
        "exec 3<>/dev/tcp/127.0.0.1/9 || echo cut": "cut",
        "ps -e 2>/dev/null | wc -l; ls /proc | grep -c '^[0-9]' | sed 's/^[1-9]$/few/'": "few",
    }
    async with stage.session(permission_mode="default", settings=settings(), trust=True) as session:
        answering(session, allowed=True)
        said = await results(stage, session, *(line(c) for c in commands))
    for (command, expected), text in zip(commands.items(), said, strict=True):
        assert any(word in text for word in expected.split("|")), (command, text)
        assert "secret" not in text
        assert "still running" not in text
    assert not (stage.home / "new").exists()


@real
async def test_what_stopped_a_command_is_said_and_leaving_is_asked(stage: Stage) -> None:
    target = stage.home / "out"
    async with stage.session(permission_mode="default", settings=settings()) as session:
        asked = answering(session, allowed=True)
        (stopped,) = await results(stage, session, line(f"touch {target}"))
        assert "call again with dangerouslyDisableSandbox: true" in stopped
        assert asked == []
        (outside,) = await results(stage, session, line(f"touch {target}", dangerouslyDisableSandbox=True))
    assert outside == "(no output)"
    assert target.exists()
    (question,) = asked
    assert question.reason.startswith("outside of the sandbox: ")
    assert not (stage.project / ".claude").exists()


@real
async def test_the_background_is_confined_too_and_ends_with_the_session(stage: Stage) -> None:
    command = f"touch {stage.home}/out; echo $? > code.new; mv code.new code; exec sleep 986"
    async with stage.session(permission_mode="default", settings=settings()) as session:
        await results(stage, session, line(command, run_in_background=True))
        await until((stage.project / "code").exists)
    assert (stage.project / "code").read_text() == "1\n"
    running = subprocess.run(["pgrep", "-f", "sleep 986"], capture_output=True, text=True, check=False)
    assert running.stdout == ""


@real
async def test_no_way_out_where_the_settings_say_so(stage: Stage) -> None:
    given = settings(allowUnsandboxedCommands=False, network={"allowedDomains": ["*"]})
    async with stage.session(permission_mode="default", settings=given) as session:
        (text,) = await results(stage, session, line(f"touch {stage.home}/out", dangerouslyDisableSandbox=True))
    assert text.endswith("working directories and $TMPDIR; nothing runs outside of it here]")


@real
async def test_where_deny_rules_can_not_be_held_everywhere_commands_are_asked_about(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agentcli.permissions.confined.MOST", 5)
    (stage.home / ".claude").mkdir()
    (stage.home / ".claude" / "settings.json").write_text('{"permissions": {"deny": ["Read(.env)"]}}')
    for number in range(6):
        (stage.project / f"f{number}").touch()
    async with stage.session(permission_mode="default", settings=settings()) as session:
        assert any("too many to find all that deny rules mean" in text for text in session.start_notices)
        asked = answering(session, allowed=True)
        await results(stage, session, line("touch made"))
        assert len(asked) == 1


async def test_without_the_program_it_is_said_or_fatal(stage: Stage, tmp_path: Path) -> None:
    wish = str(tmp_path / "no-bwrap")
    async with stage.session(permission_mode="default", settings=settings(bwrapPath=wish)) as session:
        assert any(f"There is no sandbox: {wish} is not installed" in text for text in session.start_notices)
        asked = answering(session, allowed=False)
        await results(stage, session, line("touch x"))
        assert len(asked) == 1
    with pytest.raises(SetupError, match="failIfUnavailable"):
        await stage.open(settings=settings(bwrapPath=wish, failIfUnavailable=True))


@real
async def test_a_subagents_commands_are_confined(stage: Stage) -> None:
    stage.api.lane("write it", reply(tool_use("Bash", line(f"touch {stage.home}/out; echo $?"))), "It failed.")
    async with stage.session(permission_mode="default", settings=settings()) as session:
        call = tool_use("Agent", {"description": "d", "prompt": "write it", "subagent_type": "general-purpose"})
        await stage.say(session, "go", reply(call), "Done.")
    assert not (stage.home / "out").exists()
    assert not [e for e in stage.heard if isinstance(e, Notice) and e.level == "error"]
