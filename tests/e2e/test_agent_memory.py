"""Notes that a kind of agent keeps for itself (``memory`` in its definition)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentcli.events import PermissionAsked
from agentcli.ports.permissions import Answer
from agentcli.runtime.session import Session
from tests.api import ApiServer, reply, tool_use
from tests.e2e.harness import Stage
from tests.e2e.test_subagents import of, results, task


@pytest.fixture
def stage(home: Path, repo: Path) -> Iterator[Stage]:
    with ApiServer() as api:
        yield Stage(api, home, repo)
        assert api.refused == []


def define(stage: Stage, front: str) -> None:
    folder = stage.project / ".claude" / "agents"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "keeper.md").write_text(f"---\nname: keeper\ndescription: keeps\n{front}\n---\nYou keep.\n")


def refusing(session: Session) -> list[str]:
    """Every question is answered with no; what was asked about."""
    asked: list[str] = []

    def answer(event: object) -> None:
        if isinstance(event, PermissionAsked):
            asked.append(event.title)
            session.answer(event.request_id, Answer(allowed=False))

    session.events.subscribe(answer)
    return asked


PLACES = {
    "user": (".claude/agent-memory/keeper", True),
    "project": (".claude/agent-memory/keeper", False),
    "local": (".claude/agent-memory-local/keeper", False),
}


@pytest.mark.parametrize("scope", PLACES)
async def test_an_agent_keeps_notes_that_its_next_task_begins_with(stage: Stage, scope: str) -> None:
    define(stage, f"memory: {scope}")
    place, of_user = PLACES[scope]
    directory = (stage.home if of_user else stage.project) / place
    write = tool_use("Write", {"file_path": str(directory / "MEMORY.md"), "content": "- [db](db.md): MARK_note\n"})
    topic = tool_use("Bash", {"command": f"echo Postgres > {directory}/db.md"})
    read = tool_use("Read", {"file_path": str(directory / "db.md")})
    stage.api.lane("learn it", reply(write), reply(topic), "Learned.")
    stage.api.lane("use it", reply(read), "Used.")
    stage.api.lane("another kind", "Fine.")
    async with stage.session(permission_mode="default", trust=True) as session:
        asked = refusing(session)
        await stage.say(session, "go", reply(task("learn it", "keeper")), "Good.")
        calls = [task("use it", "keeper"), task("another kind")]
        await stage.say(session, "again", reply(*calls), "Good.")
    first, later = of(stage, "learn it")[0], of(stage, "use it")[0]
    told = json.dumps(first.messages[0])
    assert f"in `{directory}`. You may read and write there without asking" in told
    assert "MARK_note" not in told
    assert "MARK_note" in json.dumps(later.messages[0])
    assert "Postgres" in results(of(stage, "use it")[1])[0]
    assert asked == []
    assert (directory / "MEMORY.md").stat().st_mode & 0o777 == 0o600
    others = [r for r in stage.requests if r not in of(stage, "learn it") + of(stage, "use it")]
    assert "MARK_note" not in json.dumps([r.system_text + json.dumps(r.messages[:1]) for r in others])


async def test_nobody_else_writes_there_without_being_asked(stage: Stage) -> None:
    define(stage, "memory: project")
    directory = stage.project / ".claude" / "agent-memory" / "keeper"
    write = tool_use("Write", {"file_path": str(directory / "MEMORY.md"), "content": "mine\n"})
    stage.api.lane("write it", reply(write), "No.")
    async with stage.session(permission_mode="acceptEdits", trust=True) as session:
        asked = refusing(session)
        await stage.say(session, "go", reply(task("write it")), reply(write), "No.")
    assert len(asked) == 2
    assert not directory.exists()


async def test_what_an_agent_has_for_its_notes_only_is_good_for_nothing_else(stage: Stage) -> None:
    define(stage, "memory: project\ntools: Glob, Read\ndisallowedTools: Edit")
    directory = stage.project / ".claude" / "agent-memory" / "keeper"
    inside = tool_use("Write", {"file_path": str(directory / "MEMORY.md"), "content": "- note\n"})
    outside = tool_use("Write", {"file_path": str(stage.project / "README.md"), "content": "gone\n"})
    beside = tool_use("Write", {"file_path": f"{directory}/../other.md", "content": "gone\n"})
    stage.api.lane("try", reply(inside), reply(outside), reply(beside), "Done.")
    async with stage.session(trust=True) as session:
        await stage.say(session, "go", reply(task("try", "keeper")), "Good.")
    requests = of(stage, "try")
    assert requests[0].tool_names == ["Read", "Write", "Glob"]
    assert (directory / "MEMORY.md").read_text() == "- note\n"
    assert [f"Write is there for the notes in {directory} only" in results(r)[0] for r in requests[2:]] == [True, True]
    assert (stage.project / "README.md").read_text() == "# sample\n"


async def test_a_long_index_is_cut_and_a_secret_is_not_kept(stage: Stage) -> None:
    define(stage, "memory: project")
    directory = stage.project / ".claude" / "agent-memory" / "keeper"
    directory.mkdir(parents=True)
    (directory / "MEMORY.md").write_text("".join(f"- line {n}\n" for n in range(300)))
    key = "AKIA" + "Q3EGRTY7XK2LMN5P"
    write = tool_use("Write", {"file_path": str(directory / "aws.md"), "content": f"aws_access_key_id = {key}\n"})
    stage.api.lane("go on", reply(write), "Done.")
    async with stage.session(trust=True) as session:
        await stage.say(session, "go", reply(task("go on", "keeper")), "Good.")
    told = json.dumps(of(stage, "go on")[0].messages[0])
    assert "line 199" in told
    assert "line 200" not in told
    assert "Only a part of this index is loaded" in told
    assert not (directory / "aws.md").exists()


@pytest.mark.parametrize("trust", [True, False])
async def test_a_project_can_t_lead_the_notes_elsewhere(stage: Stage, trust: bool) -> None:
    define(stage, "memory: project")
    elsewhere = stage.home / ".ssh"
    elsewhere.mkdir()
    (stage.project / ".claude" / "agent-memory").mkdir()
    (stage.project / ".claude" / "agent-memory" / "keeper").symlink_to(elsewhere)
    write = tool_use("Write", {"file_path": str(elsewhere / "config"), "content": "x\n"})
    stage.api.lane("try", reply(write), "No.")
    async with stage.session(permission_mode="acceptEdits", trust=trust) as session:
        asked = refusing(session)
        await stage.say(session, "go", reply(task("try", "keeper")), "Good.")
    assert asked == [str(elsewhere / "config")]
    assert "# Memory" not in json.dumps(of(stage, "try")[0].messages[0])
