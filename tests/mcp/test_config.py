"""Where servers come from, which entry counts, and what is wrong with the others."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from agentcli.errors import SettingsError, SetupError, UsageError
from agentcli.mcp.approval import Guard
from agentcli.mcp.config import read_configuration
from agentcli.mcp.entries import parse_entry
from agentcli.mcp.limits import call_timeout, result_tokens, start_timeout
from agentcli.mcp.store import ServerStore
from agentcli.mcp.values import OAuthChoices, ServerEntry
from agentcli.settings.trust import TrustStore, project_of
from tests.mcp.world import World, states, tool

BASE = Path("/base")


def entry(raw: Any, **env: str) -> ServerEntry:
    return parse_entry("x", raw, scope="flag", origin="here", base=BASE, env=env)


def write(path: Path, value: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value))


def test_an_entry_is_read_with_its_variables() -> None:
    raw = {"command": "${DIR}/run", "args": ["--x=${X:-none}", "${Y:-}"], "env": {"TOKEN": "${T}", "N": 3}}
    assert entry(raw, DIR="/d", T="secret", X="") == ServerEntry(
        name="x",
        scope="flag",
        origin="here",
        raw=raw,
        base=BASE,
        transport="stdio",
        command="/d/run",
        args=("--x=none", ""),
        env={"TOKEN": "secret", "N": "3"},
    )
    assert entry(raw, DIR="/d", T="secret", X="").where == "${DIR}/run --x=${X:-none} ${Y:-}"
    remote = {
        "type": "streamable-http",
        "url": "https://${HOST}/mcp",
        "headers": {"Authorization": "Bearer ${T}"},
        "oauth": {"clientId": "c", "callbackPort": 8080, "scopes": ["a", "b"]},
        "timeout": 5000,
        "alwaysLoad": True,
        "headersHelper": "./h",
    }
    assert entry(remote, HOST="h", T="t") == ServerEntry(
        name="x",
        scope="flag",
        origin="here",
        raw=remote,
        base=BASE,
        transport="http",
        url="https://h/mcp",
        headers={"Authorization": "Bearer t"},
        headers_helper="./h",
        oauth=OAuthChoices("c", 8080, "a b"),
        timeout=5.0,
        always_load=True,
    )


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (7, "must be an object"),
        ({}, "command must be the program"),
        ({"command": ""}, "command must be the program"),
        ({"command": "x", "args": "y"}, "args must be a list of texts"),
        ({"command": "x", "env": {"A": []}}, "env.A must be a text"),
        ({"command": "x", "env": {"A=B": "c"}}, "is not a valid name"),
        ({"command": "${NOPE}"}, r"command uses \$\{NOPE\}, which is not set"),
        ({"type": "ws", "url": "ws://x"}, "type 'ws' is not supported"),
        ({"type": "http"}, "url must be the server's address"),
        ({"type": "http", "url": "ftp://x"}, "url must begin with"),
        ({"type": "http", "url": "http://x", "headers": {"A": "b\nc"}}, "is not a valid header"),
        ({"type": "http", "url": "http://x", "oauth": {"callbackPort": "80"}}, "must be a port number"),
        ({"command": "x", "timeout": -1}, "timeout must be a number"),
    ],
)
def test_a_wrong_entry_says_what_is_wrong(raw: Any, message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        entry(raw)


def test_the_nearest_entry_of_a_name_counts_as_a_whole(mcp: World, home: Path, repo: Path) -> None:
    sub = repo / "sub"
    sub.mkdir()
    key = str(project_of(sub).key)

    def one(name: str, *more: str) -> dict[str, Any]:
        return {n: {"command": name, "args": [n]} for n in ("a", *more)}

    write(home / ".agentcli" / "mcp.json", {"mcpServers": one("user", "u", "b", "c")})
    write(
        home / ".claude.json", {"mcpServers": one("theirs", "t", "u"), "projects": {key: {"mcpServers": one("l", "b")}}}
    )
    write(repo / ".mcp.json", {"mcpServers": one("root", "b", "c", "r")})
    write(sub / ".mcp.json", {"mcpServers": one("sub", "s")})
    write(home / ".claude" / "settings.json", {"mcpServers": one("setting", "x")})
    settings = mcp.settings
    found = read_configuration(sub, settings, dict(os.environ), given=[json.dumps({"mcpServers": one("flag")})])
    assert {s.name: (s.command, s.scope) for s in found.servers} == {
        "a": ("flag", "flag"),
        "b": ("l", "local"),
        "c": ("root", "project"),
        "r": ("root", "project"),
        "s": ("sub", "project"),
        "t": ("theirs", "user"),
        "u": ("user", "user"),
        "x": ("setting", "user"),
    }
    assert {s.name: s.base for s in found.servers if s.scope == "project"} == {"c": repo, "r": repo, "s": sub}
    strict = read_configuration(
        sub, settings, dict(os.environ), given=[json.dumps({"mcpServers": one("flag")})], strict=True
    )
    assert [s.name for s in strict.servers] == ["a"]


def test_a_broken_file_or_entry_takes_nothing_else_with_it(mcp: World, home: Path) -> None:
    (mcp.cwd / ".mcp.json").write_text('{"mcpServers": {')
    write(home / ".agentcli" / "mcp.json", {"mcpServers": {"good": {"command": "x"}, "bad": {"command": "${NOPE}"}}})
    found = mcp.configuration()
    assert [s.name for s in found.servers] == ["good"]
    assert [(b.name, b.error.split(",")[0]) for b in found.broken] == [("bad", "command uses ${NOPE}")]
    (warning,) = found.warnings
    assert warning.startswith(f"{mcp.cwd / '.mcp.json'}:1:")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("nowhere.json", "no file"),
        ("{", "the file ends before"),
        ("{}", "must hold"),
        ('{"mcpServers": []}', "must hold"),
    ],
)
def test_a_wrong_flag_is_refused_at_once(mcp: World, given: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        mcp.configuration(given=[given])


def test_managed_settings_forbid_servers(mcp: World, home: Path) -> None:
    write(
        home / ".claude" / "settings.json",
        {
            "deniedMcpServers": [{"serverName": "evil"}, {"serverUrl": "https://*.bad.test/*"}],
            "allowedMcpServers": [{"serverName": "evil"}, {"serverName": "b"}, {"serverCommand": ["run", "it"]}],
        },
    )
    for name, raw in {
        "evil": {"command": "x"},
        "a": {"command": "run", "args": ["it"]},
        "b": {"type": "http", "url": "https://x.bad.test/mcp"},
        "c": {"command": "other"},
    }.items():
        mcp.servers.entries[name] = raw
    found = mcp.configuration()
    assert [s.name for s in found.servers] == ["a"]
    assert {b.name for b in found.broken} == {"evil", "b", "c"}


def test_our_store_is_private_and_keeps_what_others_wrote(
    mcp: World, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.umask(0)
    path = home / ".agentcli" / "mcp.json"
    first, second = ServerStore(mcp.cwd), ServerStore(mcp.cwd)
    first.add("user", "a", {"command": "x"})
    second.add("local", "b", {"command": "y"})
    first.set_disabled("a", True)
    assert second.disabled() == frozenset({"a"})
    assert json.loads(path.read_text()) == {
        "mcpServers": {"a": {"command": "x"}},
        "projects": {str(mcp.cwd): {"mcpServers": {"b": {"command": "y"}}, "disabledMcpServers": ["a"]}},
    }
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert second.remove("user", "a")
    assert not second.remove("user", "a")
    no_home = {"AGENTCLI_HOME": "", "HOME": "", "USERPROFILE": ""}
    monkeypatch.setattr(Path, "home", classmethod(lambda cls: (_ for _ in ()).throw(RuntimeError())))
    with pytest.raises(SetupError, match="no home directory"):
        ServerStore(mcp.cwd, no_home).add("user", "a", {})


def test_timeouts_are_milliseconds_and_small_values_seconds() -> None:
    assert start_timeout({}) == 30
    assert start_timeout({"MCP_TIMEOUT": "10000"}) == 10
    assert start_timeout({"MCP_TIMEOUT": "5"}) == 5
    assert call_timeout({}) is None
    assert call_timeout({"MCP_TOOL_TIMEOUT": "2000"}) == 2
    assert call_timeout({"MCP_TOOL_TIMEOUT": "nonsense"}) is None
    assert result_tokens({"MAX_MCP_OUTPUT_TOKENS": "7"}) == 7


# --- approval -------------------------------------------------------------------------------------------------------


def project_server(mcp: World, **raw: Any) -> ServerEntry:
    write(mcp.cwd / ".mcp.json", {"mcpServers": {"tool": raw}})
    (found,) = mcp.configuration().servers
    return found


def guard(mcp: World, **options: Any) -> Guard:
    return Guard(project_of(mcp.cwd), mcp.settings, dict(os.environ), **options)


def test_an_approval_holds_for_the_content_not_for_the_name(mcp: World) -> None:
    server = project_server(mcp, command="python3", args=["srv.py"])
    assert guard(mcp).verdict(server) == "untrusted"
    TrustStore().accept(project_of(mcp.cwd))
    assert guard(mcp).verdict(server) == "ask"
    assert guard(mcp).answer(server, approved=True)
    assert guard(mcp).verdict(server) == "yes"
    assert guard(mcp).verdict(project_server(mcp, args=["srv.py"], command="python3")) == "yes"
    assert guard(mcp).verdict(project_server(mcp, command="python3", args=["evil.py"])) == "changed"
    assert guard(mcp).verdict(project_server(mcp, command="python3", args=["srv.py"], env={"A": "b"})) == "changed"
    guard(mcp).answer(server, approved=False)
    assert guard(mcp, trusted=True).verdict(server) == "no"


def test_two_processes_that_answer_at_once_lose_nothing(mcp: World) -> None:
    server = project_server(mcp, command="a")
    other = project_server(mcp, command="b")
    TrustStore().accept(project_of(mcp.cwd))
    one, two = guard(mcp), guard(mcp)
    one.answer(server, approved=True)
    two.answer(ServerEntry(**{**_fields(other), "name": "second"}), approved=True)
    assert guard(mcp).verdict(server) == "yes"
    assert guard(mcp).verdict(ServerEntry(**{**_fields(other), "name": "second"})) == "yes"


def _fields(entry: ServerEntry) -> dict[str, Any]:
    return {name: getattr(entry, name) for name in ServerEntry.__slots__}


def test_the_project_can_not_approve_its_own_servers_but_the_user_can_list_them(mcp: World, home: Path) -> None:
    server = project_server(mcp, command="x")
    TrustStore().accept(project_of(mcp.cwd))
    write(
        mcp.cwd / ".claude" / "settings.json", {"enableAllProjectMcpServers": True, "enabledMcpjsonServers": ["tool"]}
    )
    assert guard(mcp).verdict(server) == "ask"
    write(home / ".claude" / "settings.json", {"enabledMcpjsonServers": ["tool"]})
    assert guard(mcp).verdict(server) == "yes"
    write(mcp.cwd / ".claude" / "settings.json", {"disabledMcpjsonServers": ["tool"]})
    assert guard(mcp).verdict(server) == "no"


async def test_an_unapproved_server_never_runs_and_starts_when_it_is_approved(mcp: World) -> None:
    mark = mcp.cwd / "ran"
    mcp.servers.add("tool", tools=[tool("read")], notes=str(mark))
    write(mcp.cwd / ".mcp.json", {"mcpServers": mcp.servers.entries})
    mcp.servers.entries.clear()
    TrustStore().accept(project_of(mcp.cwd))
    async with mcp.open() as room:
        assert [(s.name, s.state) for s in room.statuses()] == [("tool", "disabled")]
        assert [e.name for e in room.waiting()] == ["tool"]
        assert not mark.exists()
        room.approve("tool", approved=True)
        await room.manager.wait(10)
        assert states(room) == {"tool": "connected"}
        assert room.waiting() == ()


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"type": "ws", "url": "ws://x"}, "type 'ws' is not supported; use stdio, http or sse (servers over WebSocket"),
        ({"type": "smoke"}, "type 'smoke' is not supported; use stdio, http or sse"),
    ],
)
def test_a_type_that_is_not_supported_is_an_error_of_that_server(mcp: World, entry: dict[str, Any], words: str) -> None:
    given = [json.dumps({"mcpServers": {"odd": entry, "calc": {"type": "sdk", "name": "calc"}}})]
    found = mcp.configuration(given=given)
    assert [(s.name, s.transport) for s in found.servers] == [("calc", "sdk")]
    ((name, error),) = [(b.name, b.error) for b in found.broken]
    assert name == "odd"
    assert error.startswith(words)
