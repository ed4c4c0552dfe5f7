"""Which prompt a resumed session has: the one it began with, unless the command line gives another."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agentcli.runtime.options import Resume
from tests.api import ApiServer
from tests.e2e.harness import Stage, front

PARROT = "---\nname: parrot\ndescription: repeats\n---\nYou are a parrot.\n"


@pytest.fixture
def stage(home: Path, project: Path) -> Iterator[Stage]:
    (project / ".claude" / "agents").mkdir(parents=True)
    (project / ".claude" / "agents" / "parrot.md").write_text(PARROT)
    with ApiServer() as api:
        yield Stage(api, home, project)
        assert api.refused == []


@pytest.mark.parametrize(
    "began",
    [
        {"agent": "parrot"},
        {"system_prompt": "You are a crow."},
        {"append_system_prompt": "Be kind."},
        {"override_system_prompt": "Only this.", "append_system_prompt": "dropped"},
    ],
)
async def test_it_goes_on_with_its_own(stage: Stage, began: dict[str, Any]) -> None:
    async with stage.session(**began) as session:
        await stage.say(session, "one", "1")
    async with stage.session(resume=Resume(query=session.id)) as again:
        await stage.say(again, "two", "2")
    assert front(stage.requests[1]) == front(stage.requests[0])


@pytest.mark.parametrize("began", [{"agent": "parrot"}, {"override_system_prompt": "Only this."}])
async def test_what_is_given_now_replaces_a_level_above_it(stage: Stage, began: dict[str, Any]) -> None:
    async with stage.session(**began) as session:
        await stage.say(session, "one", "1")
    async with stage.session(resume=Resume(query=session.id), system_prompt="You are a crow.") as again:
        await stage.say(again, "two", "2")
    assert [b["text"] for b in stage.requests[1].json["system"]] == ["You are a crow."]
    async with stage.session(resume=Resume(query=session.id), agent="parrot") as third:
        await stage.say(third, "three", "3")
    assert stage.requests[2].json["system"][0]["text"].strip() == "You are a parrot."
