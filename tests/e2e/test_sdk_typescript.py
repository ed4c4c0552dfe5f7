"""A public client of the stream-json protocol in TypeScript drives the whole program (``--soak``: it is installed)."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.api import ApiServer, Gate, reply, tool_use

CLI = Path(sys.executable).with_name("agentcli")
CLIENT = Path(__file__).with_name("sdk_client.mjs")
NPM = ("@anthropic-ai/claude-agent-sdk@0.3.332", "zod@4.3.6")


@pytest.fixture(scope="module")
def modules(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Without the program that the package brings for every platform: it is agentcli that is driven."""
    if shutil.which("npm") is None or shutil.which("node") is None:
        pytest.skip("node or npm is not installed: the client in TypeScript can't be tried")
    where = tmp_path_factory.mktemp("node-client")
    quiet = ("--ignore-scripts", "--no-audit", "--no-fund", "--silent", "--omit=optional")
    subprocess.run(
        ["npm", "install", *quiet, "--prefix", where, *NPM], check=True, env={**os.environ, "HOME": str(where)}
    )
    return where / "node_modules"


@pytest.mark.soak
@pytest.mark.timeout(600)
async def test_a_conversation(api: ApiServer, project: Path, modules: Path) -> None:
    """Tools that live in the client, permission questions, hooks, an interruption, questions about the session."""
    calls = [
        tool_use("mcp__calc__add", {"a": 1, "b": 2}),
        tool_use("mcp__calc__fail", {}),
        tool_use("Bash", {"command": "touch one"}),
        tool_use("Bash", {"command": "touch two"}),
    ]
    gate = Gate()
    api.play(reply(*calls), "made", reply("I begin", gate, "and never end"), "third")
    try:
        node = await asyncio.create_subprocess_exec(
            "node", CLIENT, modules, CLI, cwd=project, stdout=asyncio.subprocess.PIPE
        )
        output, _ = await node.communicate()
    finally:
        gate.open()
    assert node.returncode == 0
    seen = json.loads(output)
    assert seen["results"][0] == ["success", False, "made"]
    assert seen["results"][1][1] is True
    assert seen["results"][2] == ["success", False, "third"]
    assert seen["calls"] == [[1, 2]]
    assert sorted(seen["questions"]) == ["Bash", "Bash", "mcp__calc__add", "mcp__calc__fail"]
    assert seen["hooks"] == ["touch one"]
    assert sorted(p.name for p in project.iterdir()) == ["one"]
    found = json.dumps(api.requests[1].tool_results)
    for words in ("the sum is 3", "no luck", "not two"):
        assert words in found
    assert api.requests[0].json["system"][-1]["text"].endswith("In Latin.")
    (server,) = seen["servers"]
    assert (server["name"], server["status"], server["serverInfo"]["version"]) == ("calc", "connected", "2.0.0")
    assert [t["name"] for t in server["tools"]] == ["add", "fail"]
    assert seen["off"] == ["disabled"]
    assert "There is no MCP server 'other'" in seen["refused"]
    assert (seen["skills"], seen["styles"][0]) == (0, "default")
    assert "no checkpoint of a user message 'u'" in seen["unknown"]
    assert "is no file" in seen["seeded"]
    assert {"compact", "context"} <= set(seen["commands"])
    assert "tester" in seen["agents"]
    assert seen["models"] > 0
    assert seen["usage"] > 0
    assert "haiku" in api.requests[-1].json["model"]
