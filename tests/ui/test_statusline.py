"""The status line of a command: told the session as JSON, shown as it prints it, not run too often."""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from agentcli import __version__
from agentcli.events import Event, ToolFinished
from agentcli.model.scripted import ScriptedClient
from agentcli.ports.display import DiffDisplay
from agentcli.ports.frontend import UserInput
from agentcli.runtime.branch import Origin, origin, work_tree
from agentcli.runtime.build import open_session
from agentcli.runtime.options import SessionOptions
from agentcli.runtime.session import Session
from agentcli.runtime.statusline import StatusLine, status_line
from agentcli.ui.terminal.statuscommand import BETWEEN
from tests.ui.scripted import ScriptedSession
from tests.ui.theatre import theatre


@asynccontextmanager
async def session_with(project: Path, **given: Any) -> AsyncIterator[Session]:
    options = SessionOptions(cwd=project, settings=json.dumps(given), name="named")
    session = await open_session(options, client=ScriptedClient(["done"]))
    try:
        yield session
    finally:
        await session.close()


def setting(command: str, **more: Any) -> dict[str, Any]:
    return {"statusLine": {"type": "command", "command": command, **more}}


async def test_the_command_gets_the_session_and_its_output_counts(project: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "secret")
    command = 'cat >told.json; echo "$COLUMNS x $LINES $ANTHROPIC_API_KEY"; echo two; echo oops >&2'
    async with session_with(project, **setting(command, padding=2, refreshInterval=60)) as session:
        line = status_line(session)
        assert line is not None
        assert (line.padding, line.refresh) == (2, 60.0)
        assert await line.run(80, 24) == "80 x 24 \ntwo"
        before = json.loads((project / "told.json").read_text())
        session.events.subscribe(line.hear)
        await session.run(UserInput("go"))
        line.hear(ToolFinished("t", "Edit", "a", DiffDisplay("a", "x\ny\n", "x\nz\nz\n"), False, 0.1))
        await line.run(80, 24)
        after = json.loads((project / "told.json").read_text())
        status = session.status()
        path = session.opened.path
    assert before["context_window"]["current_usage"] is None
    assert before["context_window"]["used_percentage"] is None
    duration = after["cost"].pop("total_duration_ms")
    assert 0 <= after["cost"].pop("total_api_duration_ms") <= duration
    assert after["context_window"]["total_input_tokens"] == sum(
        v for k, v in after["context_window"]["current_usage"].items() if k != "output_tokens"
    )
    assert after["context_window"].keys() == before["context_window"].keys()
    del after["context_window"]
    assert after == {
        "session_id": status.session_id,
        "session_name": "named",
        "transcript_path": str(path),
        "cwd": str(project),
        "version": __version__,
        "model": {"id": status.model, "display_name": status.model_name},
        "workspace": {"current_dir": str(project), "project_dir": str(project), "added_dirs": []},
        "output_style": {"name": "default"},
        "cost": {"total_cost_usd": status.cost, "total_lines_added": 2, "total_lines_removed": 1},
        "exceeds_200k_tokens": False,
        "thinking": {"enabled": True},
        "fast_mode": False,
        "permission_mode": "default",
        "cache_read_share": status.cache_read_share,
    }


async def test_a_failing_command_blanks_the_line(project: Path) -> None:
    async with session_with(project, **setting("echo shown; exit 3")) as session:
        line = status_line(session)
        assert line is not None
        assert await line.run(80, 24) == ""


async def test_what_is_no_command_counts_as_none(project: Path) -> None:
    for value in (
        {},
        {"statusLine": {"type": "text", "command": "x"}},
        {"statusLine": {"type": "command", "command": " "}},
        setting("x") | {"disableAllHooks": True},
    ):
        async with session_with(project, **value) as session:
            assert status_line(session) is None


async def test_a_project_needs_trust_for_it(repo: Path) -> None:
    (repo / ".claude").mkdir()
    (repo / ".claude" / "settings.json").write_text(json.dumps(setting("touch run")))
    async with session_with(repo) as session:
        assert status_line(session) is None
    trusting = await open_session(SessionOptions(cwd=repo, trust=True), client=ScriptedClient([]))
    assert isinstance(status_line(trusting), StatusLine)
    await trusting.close()


class Source:
    """Prints what the test puts there."""

    padding = 1
    refresh: float | None = None
    vim_mode = ""

    def __init__(self) -> None:
        self.text = "\x1b[32mgreen\x1b[0m \x1b[2Jcleared\x1b]8;;http://x\x07link\nsecond\n" + "more\n" * 9
        self.runs: list[float] = []
        self.cancelled = 0
        self.heard: list[str] = []
        self.gate: asyncio.Event | None = None

    def hear(self, event: Event) -> None:
        self.heard.append(type(event).__name__)

    async def run(self, columns: int, rows: int) -> str:
        self.runs.append(asyncio.get_running_loop().time())
        try:
            if self.gate is not None:
                await self.gate.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        return self.text


async def test_it_takes_the_place_of_the_line_with_its_colours_and_nothing_else() -> None:
    source = Source()
    async with theatre(ScriptedSession(), status_line=source) as show:
        await show.see(" green clearedlink\n second\n more\n more")
        assert "Test 1" not in show.screen.split("❯")[1]
        assert show.screen.count("more") == 2
        assert "{green|green}" in show.emulator.styled()
        source.text = ""
        show.keys("go\r")
        await show.see("echo: go")
        await show.gone("clearedlink")
        assert "TurnFinished" in source.heard


async def test_it_runs_seldom_and_a_run_under_way_gives_way() -> None:
    source = Source()
    source.gate = asyncio.Event()
    async with theatre(ScriptedSession(), status_line=source) as show:
        for n in range(12):
            show.keys(f"m{n}\r")
            await show.see(f"echo: m{n}")
        await show.until(lambda: len(source.runs) > 1)
        source.gate.set()
        await show.see("clearedlink")
    assert len(source.runs) - 2 <= (source.runs[-1] - source.runs[0]) / BETWEEN
    assert source.cancelled >= 1


async def test_the_input_line_s_mode_is_told_and_a_change_runs_it_again() -> None:
    source = Source()
    async with theatre(ScriptedSession(), status_line=source, vi=True) as show:
        await show.until(lambda: source.vim_mode == "INSERT")
        show.keys("words")
        await show.see("words")
        runs = len(source.runs)
        show.keys("\x1b")
        await show.until(lambda: source.vim_mode == "NORMAL" and len(source.runs) > runs)
        show.keys("v")
        await show.until(lambda: source.vim_mode == "VISUAL")
        show.keys("V")
        await show.until(lambda: source.vim_mode == "VISUAL LINE")
        show.keys("\x1b")
        await show.until(lambda: source.vim_mode == "NORMAL")
        show.keys("i")
        await show.until(lambda: source.vim_mode == "INSERT")
    plain = Source()
    async with theatre(ScriptedSession(), status_line=plain) as show:
        await show.see("clearedlink")
        assert plain.vim_mode == ""


def git(directory: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=directory, check=True)


async def test_the_repository_the_work_tree_and_the_style_are_told(repo: Path) -> None:
    git(repo, "remote", "add", "origin", "https://user:secret@git.example.org:8443/group/sub/tool.git")
    git(repo, "worktree", "add", "-q", "../beside")
    async with session_with(repo.parent / "beside", **setting("true"), outputStyle="explanatory") as session:
        line = status_line(session)
        assert line is not None
        line.vim_mode = "NORMAL"
        told = line.told()
    assert told["workspace"]["repo"] == {"host": "git.example.org", "owner": "group/sub", "name": "tool"}
    assert told["workspace"]["git_worktree"] == "beside"
    assert told["output_style"] == {"name": "explanatory"}
    assert told["vim"] == {"mode": "NORMAL"}
    assert "secret" not in json.dumps(told)


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("git@github.com:owner/name.git", Origin("github.com", "owner", "name")),
        ("ssh://git@host.example/owner/name", Origin("host.example", "owner", "name")),
        ("https://github.com/owner/name/", Origin("github.com", "owner", "name")),
        ("../elsewhere", None),
        ("/srv/git/name.git", None),
        ("https://host/name", None),
    ],
)
def test_where_a_repository_comes_from(repo: Path, address: str, expected: Origin | None) -> None:
    assert origin(repo) is None
    git(repo, "remote", "add", "origin", address)
    assert origin(repo) == expected
    assert work_tree(repo) is None
