"""The permission mode of a session that is resumed: as it was left, but never looser than it may be."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agentcli.ports.permissions import PermissionMode
from agentcli.sessions import load
from tests.api import ApiServer
from tests.e2e.harness import NEWEST, Stage

OWN: dict[str, Any] = {"permission_mode": None, "allow_bypass": False}


@pytest.fixture
def stage(home: Path, project: Path) -> Iterator[Stage]:
    with ApiServer() as api:
        yield Stage(api, home, project)
        assert api.refused == []


async def left_in(stage: Stage, mode: PermissionMode, **options: Any) -> None:
    async with stage.session(**{**OWN, "allow_bypass": True, **options}) as session:
        await stage.say(session, "hello", "Hello.")
        session.set_mode(mode)


@pytest.mark.parametrize(
    ("left", "options", "expected", "told"),
    [
        ("plan", {}, "plan", ""),
        ("dontAsk", {}, "dontAsk", ""),
        ("acceptEdits", {"trust": True}, "acceptEdits", ""),
        ("acceptEdits", {}, "default", "it goes on in default mode, since the project is not trusted."),
        ("bypassPermissions", {"trust": True}, "default", "was left in bypassPermissions; it goes on in default mode"),
        ("bypassPermissions", {"allow_bypass": True}, "default", "--dangerously-skip-permissions brings it back"),
        ("plan", {"permission_mode": "acceptEdits"}, "acceptEdits", ""),
        ("plan", {"interactive": False}, "plan", "The session goes on in plan mode, as it was left"),
        ("default", {"settings": json.dumps({"permissions": {"defaultMode": "acceptEdits"}})}, "default", ""),
    ],
)
async def test_how_a_session_goes_on(
    stage: Stage, left: PermissionMode, options: dict[str, Any], expected: str, told: str
) -> None:
    start = {"permission_mode": "plan"} if left == "default" else {}
    await left_in(stage, left, **start)
    async with stage.session(resume=NEWEST, **{**OWN, **options}) as session:
        assert session.gate.mode == expected
        notices = [text for text in session.start_notices if "mode" in text]
        assert len(notices) == bool(told)
        assert told in "".join(notices)
        await stage.say(session, "go on", "Going on.")


async def test_the_mode_of_the_command_line_is_remembered_and_each_later_one(stage: Stage) -> None:
    async with stage.session(**{**OWN, "permission_mode": "plan"}) as session:
        await stage.say(session, "hello", "Hello.")
    async with stage.session(resume=NEWEST, **OWN) as session:
        assert session.gate.mode == "plan"
        session.set_mode("default")
        await stage.say(session, "again", "Hello again.")
        path = session.opened.path
    async with stage.session(resume=NEWEST, **OWN) as session:
        assert session.gate.mode == "default"
    assert path is not None
    assert load(path).mode == "default"
