"""MCP servers through the whole program: rules by name, permission questions that a tool answers, nothing left."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.api import ApiServer, reply, text, tool_use
from tests.e2e.program import run

SERVER = """
import json, os, sys
names = sys.argv[1].split(",")
for line in sys.stdin:
    m = json.loads(line)
    if "id" not in m:
        continue
    def answer(result):
        print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": result}), flush=True)
    if m["method"] == "initialize":
        info = {"name": "s", "version": "1"}
        answer({"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": info})
    elif m["method"] == "tools/list":
        answer({"tools": [{"name": n, "description": n, "inputSchema": {"type": "object"}} for n in names]})
    elif m["method"] == "tools/call":
        name, given = m["params"]["name"], m["params"]["arguments"]
        said = f"ran {name}"
        if name == "judge":
            allow = given["tool_name"] == "Write"
            said = json.dumps({"behavior": "allow"} if allow else {"behavior": "deny", "message": "judged"})
        answer({"content": [{"type": "text", "text": said}]})
    else:
        answer({})
"""


@pytest.fixture
def servers(project: Path) -> Path:
    """A file for ``--mcp-config``."""
    (project / "srv.py").write_text(SERVER)

    def entry(*tools: str) -> dict[str, object]:
        return {"command": "python3", "args": [str(project / "srv.py"), ",".join(tools)]}

    config = {
        "alpha": entry("read", "drop"),
        "beta": entry("read", "write"),
        "gam-ma": entry("get_a", "getB", "set_a"),
        "alphabet": entry("read"),
        "gate": entry("judge"),
    }
    path = project / "servers.json"
    path.write_text(json.dumps({"mcpServers": config}))
    return path


def test_a_replaced_prompt_gets_the_instructions_by_reminder(project: Path) -> None:
    """Whatever the setting says: its section could not tell of a server that comes late."""
    (project / "srv.py").write_text(SERVER.replace('"serverInfo": info', '"serverInfo": info, "instructions": "MARK"'))
    entry = {"command": "python3", "args": [str(project / "srv.py"), "read"]}
    config = json.dumps({"mcpServers": {"alpha": entry}})
    given = ["--mcp-config", config, "--settings", '{"mcpInstructionsDelta": false}', "--strict-mcp-config"]
    with ApiServer("one", "two") as api:
        env = {"ANTHROPIC_BASE_URL": api.url, "ANTHROPIC_API_KEY": api.key}
        for more in ([], ["--system-prompt", "You are a parrot."]):
            done = run("-p", "use alpha", *more, *given, cwd=project, env=env)
            assert done.code == 0, done.err
        first, second = (r.json for r in api.requests)
    assert ("MARK" in json.dumps(first["system"]), "MARK" in json.dumps(first["messages"])) == (True, False)
    assert json.dumps(second).count("MARK") == 1
    assert "MARK" in second["messages"][0]["content"][-2]["text"]


def test_rules_name_servers_and_tools(servers: Path, project: Path) -> None:
    rules = {
        "allow": ["mcp__alpha__*", "mcp__beta", "mcp__gam-ma__get*", "mcp__*"],
        "deny": ["mcp__alpha__drop"],
        "ask": ["mcp__beta__write"],
    }
    wanted = ["alpha__read", "alpha__drop", "beta__read", "beta__write"]
    wanted += ["gam-ma__get_a", "gam-ma__getB", "gam-ma__set_a", "alphabet__read"]
    calls = [tool_use(f"mcp__{name}", {}) for name in wanted]
    with ApiServer(reply(*calls), reply(text("done"))) as api:
        env = {"ANTHROPIC_API_KEY": api.key, "ANTHROPIC_BASE_URL": api.url}
        arguments = ["-p", "call them", "--mcp-config", str(servers), "--output-format", "json"]
        done = run(*arguments, "--settings", json.dumps({"permissions": rules}), cwd=project, env=env)
        results = api.requests[-1].tool_results
    assert done.code == 0, done.err
    ran = {w for w, r in zip(wanted, results, strict=True) if not r.get("is_error")}
    assert ran == {"alpha__read", "beta__read", "gam-ma__get_a", "gam-ma__getB"}
    assert "mcp__*" in done.err  # an allow rule that is not supported is named, not dropped in silence
    assert subprocess.run(["pgrep", "-f", str(project / "srv.py")], check=False).returncode == 1


def test_a_tool_answers_permission_questions(servers: Path, project: Path) -> None:
    calls = [tool_use("Write", {"file_path": "a.txt", "content": "x"}), tool_use("Bash", {"command": "touch owned"})]
    with ApiServer(reply(*calls), reply(text("done"))) as api:
        env = {"ANTHROPIC_API_KEY": api.key, "ANTHROPIC_BASE_URL": api.url}
        arguments = ["-p", "go", "--mcp-config", str(servers), "--output-format", "json"]
        done = run(*arguments, "--permission-prompt-tool", "mcp__gate__judge", cwd=project, env=env)
    assert done.code == 0, done.err
    assert (project / "a.txt").read_text() == "x"
    assert not (project / "owned").exists()
    assert [d["tool_name"] for d in done.json["permission_denials"]] == ["Bash"]


def test_each_server_that_is_not_there_is_named_and_the_run_goes_on(project: Path) -> None:
    entries = {
        "mute": {"command": "sleep", "args": ["3600.25"]},
        "fork": {"command": "sh", "args": ["-c", "sleep 3600.25 & exit 0"]},
        "missing": {"command": "no-such-program-xyz"},
        "web": {"type": "http", "url": "http://127.0.0.1:9/mcp"},
    }
    with ApiServer("fine") as api:
        env = {"ANTHROPIC_BASE_URL": api.url, "ANTHROPIC_API_KEY": api.key, "MCP_TIMEOUT": "8000"}
        done = run("-p", "go", "--mcp-config", json.dumps({"mcpServers": entries}), cwd=project, env=env)
    assert (done.code, done.out) == (0, "fine\n"), done.err
    said = {line.split()[3].rstrip(":"): line for line in done.err.splitlines() if "MCP server" in line}
    assert set(said) == set(entries)
    for name, words in (("fork", "exited (code 0)"), ("missing", "not found"), ("web", "can't be reached")):
        assert words in said[name], said[name]
    left = subprocess.run(["pgrep", "-f", "sleep 3600.25"], capture_output=True, text=True, check=False)
    assert left.stdout == ""
