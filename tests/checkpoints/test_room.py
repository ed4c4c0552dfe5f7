"""When the project is looked at, and what happens where it can't be."""

from __future__ import annotations

import asyncio
import json
import os
import stat
import subprocess
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from agentcli.checkpoints import CheckpointRoom
from agentcli.checkpoints.bounds import Bounds
from agentcli.checkpoints.shadow import Shadow
from agentcli.clock import SystemClock
from agentcli.events import Event, Notice
from agentcli.model.scripted import call
from agentcli.ports.tools import ToolCall, Workspace
from agentcli.processes import ProcessManager
from tests.checkpoints.desk import tree, work


class Room:
    """A room of its own, without a session; ``told`` are its warnings."""

    def __init__(
        self, project: Path, folder: Path, processes: ProcessManager, bounds: Bounds, env: dict[str, str]
    ) -> None:
        self.project = project
        self.told: list[str] = []
        self._processes = processes
        self.room = CheckpointRoom(
            lambda: folder,
            lambda store: Shadow(store, project.resolve(), processes, env=env, bounds=bounds),
            emit=self._hear,
            clock=SystemClock(),
            own=lambda: folder / "own",
        )

    async def run(self, command: str) -> None:
        workspace = Workspace(self.project, self.project)
        async with self.room.around(ToolCall("t", "Bash", {"command": command}), (), workspace):
            await self._processes.run(["sh", "-c", command], self.project, env=dict(os.environ))

    async def plan(self) -> list[str]:
        return [s.path.name for s in (await self.room.plan(0)).steps]

    def _hear(self, event: Event) -> None:
        if isinstance(event, Notice):
            self.told.append(event.text)


@pytest.fixture
async def make(project: Path, world: Path) -> AsyncIterator[Callable[..., Room]]:
    processes = ProcessManager()
    made: list[Room] = []

    def room(bounds: Bounds | None = None, env: dict[str, str] | None = None) -> Room:
        made.append(Room(project, world / "kept", processes, bounds or Bounds(), env or dict(os.environ)))
        made[-1].room.turn_begins("go")
        return made[-1]

    yield room
    for each in made:
        await each.room.close()
    await processes.close()


async def test_a_session_that_only_reads_keeps_nothing(repo: Path, home: Path) -> None:
    async with work(repo) as at:
        await at.turn(call("Read", file_path="README.md"), call("Bash", command="git status 2>/dev/null | head -5; ls"))
        assert await at.plan() == {}
    assert list(home.rglob("checkpoints")) == []


async def test_what_is_kept_is_private_and_goes_with_the_session(repo: Path, home: Path) -> None:
    async with work(repo) as at:
        await at.shell("echo x > README.md; echo y > new")
    (kept,) = home.rglob("checkpoints")
    assert kept.parent.name == at.session.id
    everything = [kept, *kept.rglob("*")]
    assert {stat.S_IMODE(p.stat().st_mode) & 0o077 for p in everything} == {0}
    assert any(p.name == "index" for p in everything)


async def test_without_git_edits_and_named_files_are_kept_and_it_is_said_once(
    project: Path, make: Callable[..., Room]
) -> None:
    (project / "a").write_text("0\n")
    at = make(env={"PATH": str(project)})
    await at.run("echo 1 > a")
    await at.run("for f in b; do echo 1 > $f; done")
    assert await at.plan() == ["a"]
    (told,) = at.told
    assert told.startswith(
        "What shell commands change can't be taken back by /rewind in this session: git was not found."
    )
    await at.run("rm -r b")
    assert at.told[1:] == ["The project was not copied before this command: git was not found."]


@pytest.mark.parametrize(
    ("bounds", "reason"),
    [
        (Bounds(files=2), "it has more than 2 files that are not ignored"),
        (Bounds(content=2**20), "it holds more than 1 MiB that is not ignored"),
        (Bounds(store=2**20), "this session's store would be larger than 1 MiB"),
    ],
)
async def test_a_project_that_is_too_large_is_left_alone(
    project: Path, make: Callable[..., Room], bounds: Bounds, reason: str
) -> None:
    for name in "abc":
        (project / name).write_bytes(os.urandom(400_000))
    at = make(bounds)
    await at.run("for f in a; do rm $f; done")
    assert await at.plan() == []
    assert [reason in told for told in at.told] == [True]


async def test_a_slow_project_is_copied_beside_the_work(project: Path, world: Path, make: Callable[..., Room]) -> None:
    (project / "a").write_text("0\n")
    at = make(Bounds(seconds=0.0))
    await at.run("for f in a; do echo 1 > $f; done")
    (told,) = at.told
    assert told.startswith("Copying what is new in the project took longer than 0 s; it goes on in the background.")
    async with asyncio.timeout(60):
        while at.room.waiting:
            await asyncio.sleep(0.01)
    assert await at.plan() == []
    assert (world / "kept" / "store" / "index").exists()


async def test_files_that_cant_be_copied_are_no_obstacle(repo: Path) -> None:
    big = repo / "big.bin"
    big.write_bytes(b"\0" * (11 * 1024 * 1024))
    os.mkfifo(repo / "pipe")
    for inner in ("nested", "nested/empty"):
        subprocess.run(["git", "init", "-q", inner], check=True)
    (repo / "nested" / "file").write_text("0\n")
    (repo / "dangling").symlink_to("nowhere")
    async with work(repo) as at:
        await at.shell("for f in big.bin nested/file new; do echo 1 >> $f; done")
        assert at.told == []
        assert await at.plan() == {"big.bin": "content", "new": "removed"}
        assert await at.rewind() == []
    assert not (repo / "new").exists()
    assert big.stat().st_size == 11 * 1024 * 1024 + 2


async def test_nothing_that_the_project_configures_is_run(repo: Path, home: Path) -> None:
    mark = home / "owned"
    (repo / ".gitattributes").write_text("* filter=evil diff=evil text eol=crlf ident working-tree-encoding=UTF-16\n")
    config = f'[filter "evil"]\n\tclean = touch {mark}\n\tsmudge = touch {mark}\n\trequired = true\n'
    config += f"[core]\n\tfsmonitor = touch {mark}\n\thooksPath = {repo}\n"
    (home / ".gitconfig").write_text(config)
    (repo / ".git" / "config").write_text((repo / ".git" / "config").read_text() + config)
    hook = repo / "post-index-change"
    hook.write_text(f"#!/bin/sh\ntouch {mark}\n")
    hook.chmod(0o755)
    (repo / "a.txt").write_bytes(b"$Id$\nb\r\n")
    before = {n: s for n, s in tree(repo).items() if not n.startswith(".git/")}
    async with work(repo, environment={**os.environ, "GIT_DIR": "/nowhere", "GIT_INDEX_FILE": "/nowhere"}) as at:
        await at.shell("for f in a.txt README.md; do echo x > $f; done")
        assert await at.rewind() == []
        assert at.told == []
    assert {n: s for n, s in tree(repo).items() if not n.startswith(".git/")} == before
    assert not mark.exists()


async def test_a_command_that_writes_in_the_store_gains_nothing(project: Path, home: Path) -> None:
    mark = home / "owned"
    (project / "a").write_text("0\n")
    async with work(project) as at:
        await at.shell("for f in a; do echo 1 > $f; done")
        store = at.session.directory() / "checkpoints" / "store"
        (store / "config").write_text(f'[core]\n\trepositoryformatversion = 0\n[filter "x"]\n\tclean = touch {mark}\n')
        (store / "info" / "attributes").write_text("* filter=x\n")
        await at.shell("for f in a; do echo 2 > $f; done")
        assert await at.rewind() == []
        assert (project / "a").read_text() == "1\n"
    assert not mark.exists()


async def test_the_users_own_lists_of_ignored_files_count(repo: Path, home: Path) -> None:
    (home / "ignored").write_text("*.mine\n")
    (home / ".gitconfig").write_text("[core]\n\texcludesFile = ~/ignored\n")
    (repo / ".git" / "info" / "exclude").write_text("*.local\n")
    async with work(repo) as at:
        await at.shell("for f in a.mine b.local c.txt; do echo x > $f; done")
        assert await at.plan() == {"c.txt": "removed"}


async def test_a_command_in_the_background_is_looked_at_when_the_turn_ends(project: Path) -> None:
    os.mkfifo(project / "ready")
    async with work(project) as at:
        await at.turn(
            call("Bash", command="for f in a; do echo 1 > $f; done; echo > ready; sleep 987", run_in_background=True),
            call("Bash", command="cat ready"),
        )
        assert await at.plan() == {"a": "removed"}


async def test_an_interrupted_command_is_taken_back(project: Path) -> None:
    (project / "a").write_text("0\n")
    async with work(project) as at:
        turn = asyncio.create_task(at.shell("for f in a; do echo 1 > $f; done; touch begun; sleep 987"))
        async with asyncio.timeout(60):
            while not (project / "begun").exists():
                await asyncio.sleep(0.01)
        at.session.interrupt()
        await turn
        assert await at.plan() == {"a": "changed", "begun": "removed"}


async def test_what_a_hook_makes_of_an_edit_belongs_to_it(project: Path, home: Path) -> None:
    (home / ".claude").mkdir()
    hook = {"matcher": "Write", "hooks": [{"type": "command", "command": "echo formatted >> a.py"}]}
    (home / ".claude" / "settings.json").write_text(json.dumps({"hooks": {"PostToolUse": [hook]}}))
    async with work(project) as at:
        await at.turn(call("Write", file_path="a.py", content="x\n"))
        assert (project / "a.py").read_text() == "x\nformatted\n"
        assert await at.plan() == {"a.py": "removed"}


async def test_the_home_directory_is_not_copied(home: Path) -> None:
    (home / "a").write_text("0\n")
    async with work(home) as at:
        await at.shell("echo 1 > a; for f in b; do echo 1 > $f; done")
        assert [told.partition(": ")[2].partition(".")[0] for told in at.told] == [
            "the whole home directory would have to be copied"
        ]
        assert await at.plan() == {"a": "changed"}


async def test_the_setting_turns_it_off(project: Path, home: Path) -> None:
    (home / ".claude").mkdir()
    (home / ".claude" / "settings.json").write_text(json.dumps({"fileCheckpointingEnabled": False}))
    async with work(project) as at:
        await at.shell("echo 1 > a")
        assert at.room.points() == ()
    assert list(home.rglob("checkpoints")) == []


async def test_parallel_agents_and_edits_between_keep_one_order(project: Path, make: Callable[..., Room]) -> None:
    (project / "a").write_text("0\n")
    at = make()
    await asyncio.gather(*(at.run(f"for f in a b{n}; do echo {n} >> $f; done") for n in range(3)))
    assert sorted(await at.plan()) == ["a", "b0", "b1", "b2"]
    done = await at.room.restore(await at.room.plan(0))
    assert done.failed == ()
    assert tree(project) == {"a": ("file", 0o644, b"0\n")}
