"""Logging in to remote servers, renewing, logging out; where logins are kept."""

from __future__ import annotations

import asyncio
import json
import stat
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agentcli.mcp.client import Host
from agentcli.mcp.login import login, logout
from agentcli.mcp.tokens import FileVault, KeyringVault, Vault, open_vault
from agentcli.mcp.values import ServerError
from agentcli.processes import ProcessManager
from tests.mcp.forks import script, start
from tests.mcp.test_remote import free_port, listening
from tests.mcp.world import World, states, texts

SERVER = Path(__file__).with_name("oauth_server.py")


@pytest.fixture
def port() -> Iterator[int]:
    number = free_port()
    process = start(script, str(SERVER), str(number))
    deadline = time.monotonic() + 20
    while not listening(number):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    yield number
    process.kill()
    process.join()


def fetch(address: str) -> str:
    with urllib.request.urlopen(address) as answer:
        text: str = answer.read().decode()
        return text


class Browser:
    """Opens what it is shown, as a user would."""

    def __init__(self) -> None:
        self.pages: list[asyncio.Task[str]] = []

    def __call__(self, address: str) -> None:
        self.pages.append(asyncio.ensure_future(asyncio.to_thread(fetch, address)))


def host(mcp: World) -> Host:
    return Host(processes=mcp.processes, env=mcp.environment, vault=open_vault(mcp.environment))


async def test_a_login_is_made_kept_renewed_and_forgotten(mcp: World, port: int, home: Path) -> None:
    mcp.servers.add("g", {"type": "http", "url": f"http://127.0.0.1:{port}/mcp"})
    mcp.host_options = {"vault": open_vault(mcp.environment)}
    async with mcp.open() as room:
        assert states(room) == {"g": "needs-auth"}
    (entry,) = mcp.configuration().servers
    mcp.processes = ProcessManager()
    browser = Browser()
    assert await login(entry, host(mcp), show=browser) == "logged in"
    assert "Logged in" in await browser.pages[0]
    path = home / ".agentcli" / "mcp-tokens.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    (stored,) = json.loads(path.read_text()).values()
    assert stored["tokens"]["access_token"] == "access-1"
    async with mcp.open() as room:
        assert texts(await mcp.call(room, "mcp__g__whoami")) == ["you"]
    await asyncio.to_thread(fetch, f"http://127.0.0.1:{port}/revoke")
    mcp.processes = ProcessManager()
    async with mcp.open() as room:
        assert states(room) == {"g": "connected"}, room.statuses()
    (stored,) = json.loads(path.read_text()).values()
    assert stored["tokens"]["access_token"] == "access-2"
    await asyncio.to_thread(fetch, f"http://127.0.0.1:{port}/revoke?all=1")
    mcp.processes = ProcessManager()
    async with mcp.open() as room:
        assert states(room) == {"g": "needs-auth"}, room.statuses()
    assert await logout(entry, host(mcp))
    assert not await logout(entry, host(mcp))
    assert json.loads(path.read_text()) == {}
    mcp.processes = ProcessManager()
    async with mcp.open() as room:
        assert states(room) == {"g": "needs-auth"}


async def test_a_refused_login_says_so_and_keeps_nothing(mcp: World, port: int, home: Path) -> None:
    entry_of = {"type": "http", "url": f"http://127.0.0.1:{port}/mcp", "oauth": {"scopes": "deny"}}
    mcp.servers.add("g", entry_of)
    (entry,) = mcp.configuration().servers
    browser = Browser()
    with pytest.raises(ServerError, match="the login was refused: not for you"):
        await login(entry, host(mcp), show=browser)
    await asyncio.gather(*browser.pages)
    assert "access" not in (home / ".agentcli" / "mcp-tokens.json").read_text()


async def test_a_local_server_has_no_login(mcp: World) -> None:
    mcp.servers.add("s", tools=[])
    (entry,) = mcp.configuration().servers
    with pytest.raises(ServerError, match="has no login"):
        await login(entry, host(mcp), show=print)


def test_the_keyring_is_used_where_there_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "keyring"
    package.mkdir()
    (package / "errors.py").write_text("class KeyringError(Exception): pass\n")
    (package / "__init__.py").write_text(
        "kept = {}\n"
        "class Backend: priority = 5\n"
        "def get_keyring(): return Backend()\n"
        "def get_password(service, key): return kept.get((service, key))\n"
        "def set_password(service, key, value): kept[service, key] = value\n"
        "def delete_password(service, key): del kept[service, key]\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    vault: Vault | None = open_vault()
    assert isinstance(vault, KeyringVault)
    vault.put("k", {"a": 1})
    assert vault.get("k") == {"a": 1}
    vault.put("k", {})
    assert vault.get("k") == {}
    for name in ("keyring", "keyring.errors"):
        sys.modules.pop(name, None)


def test_without_a_keyring_logins_are_in_a_private_file(home: Path) -> None:
    vault: Any = open_vault()
    assert isinstance(vault, FileVault)
    vault.put("a", {"x": 1})
    vault.put("b", {"y": 2})
    vault.put("a", {})
    assert (vault.get("a"), vault.get("b")) == ({}, {"y": 2})
