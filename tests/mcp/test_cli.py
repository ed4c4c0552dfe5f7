"""``agentcli mcp`` and ``/mcp``."""

from __future__ import annotations

import json
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest

from agentcli.cli.mcp import (
    add_json,
    add_server,
    get_server,
    list_servers,
    login_server,
    logout_server,
    remove_server,
)
from agentcli.cli.mcp_new import NewServer
from agentcli.commands.base import CommandContext
from agentcli.commands.mcp import COMMAND, run
from agentcli.errors import SetupError, UsageError, UserError
from agentcli.i18n import Texts
from agentcli.mcp import McpRoom
from agentcli.settings.trust import TrustStore, project_of
from tests.mcp.world import World, processes_with, tool

Capture = pytest.CaptureFixture[str]


def raw(mcp: World, **script: Any) -> list[str]:
    mcp.servers.add("made", tools=[tool("read")], **script)
    entry = mcp.servers.entries.pop("made")
    return [entry["command"], *entry["args"]]


def test_a_server_is_added_listed_shown_and_removed(mcp: World, home: Path, capsys: Capture) -> None:
    command = raw(mcp)
    assert add_server(NewServer(name="s", target=command, env=["A=b=c"])) == 0
    assert add_server(NewServer(name="web", target=["http://127.0.0.1:9/mcp"], scope="user", headers=["X-Key: 1"])) == 0
    path = home / ".agentcli" / "mcp.json"
    assert capsys.readouterr().out == f"Added s (local, {path}).\nAdded web (user, {path}).\n"
    assert json.loads(path.read_text()) == {
        "mcpServers": {"web": {"type": "http", "url": "http://127.0.0.1:9/mcp", "headers": {"X-Key": "1"}}},
        "projects": {
            str(mcp.cwd): {
                "mcpServers": {"s": {"command": command[0], "args": command[1:], "env": {"A": "b=c"}}},
            }
        },
    }
    assert list_servers() == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first == f"ok       s: {' '.join(command)} (1 tools)"
    assert second.startswith("FAILED   web: http://127.0.0.1:9/mcp (can't be reached")
    assert get_server("s", as_json=True) == 0
    shown = json.loads(capsys.readouterr().out)
    assert (shown["state"], shown["tools"], shown["scope"]) == ("connected", ["read"], "local")
    assert remove_server("s") == 0
    assert remove_server("web") == 0
    capsys.readouterr()
    assert list_servers(as_json=True) == 0
    assert json.loads(capsys.readouterr().out) == []
    assert not processes_with(str(mcp.servers.directory))


def test_a_servers_project_entry_is_for_everybody_and_keeps_the_files_rest(repo: Path, capsys: Capture) -> None:
    path = repo / ".mcp.json"
    path.write_text('{\n\t"mcpServers": {"old": {"command": "x"}},\n\t"more": 1\n}\n')
    path.chmod(0o644)
    assert add_json("new", '{"command": "${TOOL:-run}", "args": ["${NOT_SET}"]}', scope="project") == 0
    assert json.loads(path.read_text()) == {
        "mcpServers": {"old": {"command": "x"}, "new": {"command": "${TOOL:-run}", "args": ["${NOT_SET}"]}},
        "more": 1,
    }
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    assert list_servers(check=False) == 0
    out = capsys.readouterr().out
    assert "new" in out
    assert "NOT_SET" in out
    assert "the project is not trusted" in out
    assert remove_server("new") == 0
    assert remove_server("old", scope="project") == 0
    assert json.loads(path.read_text()) == {"mcpServers": {}, "more": 1}


@pytest.mark.parametrize(
    ("new", "message"),
    [
        (NewServer(name="x", target=[]), "agentcli mcp add NAME"),
        (NewServer(name=" ", target=["x"]), "needs a name"),
        (NewServer(name="x", target=["x"], scope="global"), "use local, project or user"),
        (NewServer(name="x", target=["x"], transport="ws"), "use stdio, http or sse"),
        (NewServer(name="x", target=["x"], headers=["A: b"]), "are for servers with an address"),
        (NewServer(name="x", target=["http://x", "y"]), "takes one address"),
        (NewServer(name="x", target=["x"], env=["A"]), "write NAME=VALUE"),
        (NewServer(name="x", target=["--transport", "http", "http://x"]), "--transport: options stand in front of"),
        (NewServer(name="x", target=["http://x", "--transport", "http"]), "--transport: options stand in front of"),
        (NewServer(name="--user", target=["x", "http://x"]), "there is no option --user"),
        (NewServer(name="a b", target=["x"]), "the name 'a b' can't be used: only letters"),
        (NewServer(name="../x", target=["x"]), "only letters"),
        (NewServer(name="x", target=["nonsense"], transport="http"), "url must begin with"),
    ],
)
def test_what_can_not_be_a_server_is_refused(world: Path, new: NewServer, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        add_server(new)


def test_wrong_names_and_places_are_named(world: Path, home: Path) -> None:
    with pytest.raises(UsageError, match="not valid JSON"):
        add_json("x", "{")
    with pytest.raises(UsageError, match="command must be"):
        add_json("x", "{}")
    for call in (get_server, remove_server, login_server, logout_server):
        with pytest.raises(UserError, match="There is no MCP server 'x'"):
            call("x")
    add_json("x", '{"command": "a"}')
    add_json("x", '{"command": "b"}', scope="user")
    with pytest.raises(UserError, match="say --scope local or --scope user"):
        remove_server("x")
    with pytest.raises(SetupError, match="has no login"):
        login_server("x")
    (home / ".claude.json").write_text('{"mcpServers": {"theirs": {"command": "x"}}}')
    with pytest.raises(UserError, match="which agentcli does not write"):
        remove_server("theirs")


@pytest.mark.parametrize("scope", ["local", "project", "user"])
def test_a_server_in_the_place_of_another_says_which(repo: Path, capsys: Capture, scope: str) -> None:
    assert add_server(NewServer(name="s", target=["run", "--port", "1"], scope=scope)) == 0
    assert capsys.readouterr().out.startswith("Added s (")
    assert add_server(NewServer(name="s", target=["http://x/mcp"], scope=scope)) == 0
    assert capsys.readouterr().out.startswith(f"Replaced s (was: run --port 1; {scope}, /")
    assert add_json("s", '{"command": "b"}', scope=scope) == 0
    assert capsys.readouterr().out.startswith(f"Replaced s (was: http://x/mcp; {scope}, /")


@dataclass
class Session:
    mcp: McpRoom


async def said(room: McpRoom, arguments: str = "", language: str = "en") -> str:
    context = CommandContext(cast("Any", Session(room)), cast("Any", None), texts=Texts(language))
    return (await run(context, arguments)).text


async def test_the_command_shows_and_changes_servers(mcp: World) -> None:
    mcp.servers.add("good", tools=[tool("read"), tool("write")], stderr="a word of warning")
    mcp.servers.add("bad", {"command": "no-such-program-xyz"})
    async with mcp.open() as room:
        text = await said(room)
        assert "- ✓ `good`: connected, 2 tools" in text
        assert "- ✗ `bad`: failed, not found: no-such-program-xyz" in text
        korean = await said(room, language="ko")
        assert "- ✓ `good`: 연결됨, 도구 2개" in korean
        assert korean.endswith("/mcp 이름, /mcp reconnect|enable|disable|approve|reject 이름 중에서 쓰세요.")
        shown = await said(room, "good")
        assert "- **Tools:** `mcp__good__read`, `mcp__good__write`" in shown
        assert "a word of warning" in shown
        assert await said(room, "disable good") == "- – `good`: disabled, switched off"
        assert await said(room, "enable good") == "- ✓ `good`: connected, 2 tools"
        assert await said(room, "reconnect good") == "- ✓ `good`: connected, 2 tools"
        with pytest.raises(UserError, match="Configured: bad, good"):
            await said(room, "reconnect other")
        with pytest.raises(UserError, match="there is no such thing"):
            await said(room, "dance good")
    assert COMMAND.name == "mcp"


async def test_the_command_asks_about_the_projects_servers(mcp: World) -> None:
    mcp.servers.add("tool", tools=[tool("read")])
    (mcp.cwd / ".mcp.json").write_text(mcp.servers.json)
    mcp.servers.entries.clear()
    TrustStore().accept(project_of(mcp.cwd))
    async with mcp.open() as room:
        assert "/mcp approve tool, or /mcp reject tool" in await said(room)
        assert await said(room, "approve tool") == "- ✓ `tool`: connected, 1 tool"
        assert "approve" not in (await said(room)).partition("More of one")[0]


async def test_without_servers_the_command_says_how_to_add_one(mcp: World) -> None:
    async with mcp.open() as room:
        assert "agentcli mcp add" in await said(room)
