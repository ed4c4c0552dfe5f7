"""``CLAUDE_ENV_FILE``: what a SessionStart hook exports reaches the session's later shell commands."""

from __future__ import annotations

import json
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agentcli.runtime.session import Session
from tests.api import ApiServer, reply, tool_use
from tests.e2e.harness import NEWEST, Stage
from tests.extend.worlds import one, write


@pytest.fixture
def stage(home: Path, project: Path) -> Iterator[Stage]:
    with ApiServer() as api:
        yield Stage(api, home, project)
        assert api.refused == []


def hooks(stage: Stage, *commands: str, matcher: str | None = None, **more: Any) -> None:
    found = {"SessionStart": [one("SessionStart", c, matcher)["SessionStart"][0] for c in commands], **more}
    write(stage.project / ".claude" / "settings.json", json.dumps({"hooks": found}))


async def printed(stage: Stage, session: Session, command: str) -> str:
    await stage.say(session, "run it", reply(tool_use("Bash", {"command": command})), "Done.")
    (result,) = [b for b in stage.requests[-1].messages[-1]["content"] if b["type"] == "tool_result"]
    return json.dumps(result["content"])


async def test_exports_of_hooks_reach_later_commands_everywhere(stage: Stage) -> None:
    hooks(stage, """echo 'export FROM=a' >> "$CLAUDE_ENV_FILE" """, """echo 'export TO="b c"' >> "$CLAUDE_ENV_FILE" """)
    async with stage.session(trust=True) as session:
        session.start()
        assert "[a] [b c]" in await printed(stage, session, "echo [$FROM] [$TO]")
        path = session.contexts.env_file()
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        stage.api.lane("look", reply(tool_use("Bash", {"command": "echo in [$FROM]"})), "Seen.")
        work = tool_use("Agent", {"description": "x", "prompt": "look", "subagent_type": "general-purpose"})
        await stage.say(session, "delegate", reply(work), "It saw.")
        assert any("in [a]" in json.dumps(r.messages[-1]) for r in stage.requests)
        await session.shell("echo mine [$FROM]")
        await stage.say(session, "and I?", "You too.")
        assert "mine [a]" in json.dumps(stage.requests[-1].messages[-1])


async def test_they_are_there_after_a_resume_and_only_the_start_may_set_them(stage: Stage) -> None:
    start = """echo 'export FROM=a' >> "$CLAUDE_ENV_FILE" """
    before = one("PreToolUse", "echo ${CLAUDE_ENV_FILE:-none} > seen", "Bash")
    hooks(stage, start, matcher="startup", **before)
    async with stage.session(trust=True) as session:
        session.start()
        await printed(stage, session, "true")
        assert (stage.project / "seen").read_text() == "none\n"
    async with stage.session(trust=True, resume=NEWEST) as again:
        again.start()
        assert "[a]" in await printed(stage, again, "echo [$FROM]")


async def test_commands_in_the_sandbox_get_them_too(stage: Stage) -> None:
    hooks(stage, """echo 'export FROM=a' >> "$CLAUDE_ENV_FILE" """)
    async with stage.session(trust=True, sandbox=True) as session:
        session.start()
        assert "[a]" in await printed(stage, session, "echo [$FROM]")


async def test_a_project_that_is_not_trusted_sets_nothing(stage: Stage) -> None:
    hooks(stage, """echo 'export FROM=a' >> "$CLAUDE_ENV_FILE" """)
    async with stage.session() as session:
        session.start()
        assert "[]" in await printed(stage, session, "echo [$FROM]")


async def test_a_file_that_the_user_names_counts_too(stage: Stage) -> None:
    write(stage.project / "mine.sh", "export FROM=mine\n")
    stage.environment["CLAUDE_ENV_FILE"] = "mine.sh"
    async with stage.session() as session:
        session.start()
        assert "[mine]" in await printed(stage, session, "echo [$FROM]")
