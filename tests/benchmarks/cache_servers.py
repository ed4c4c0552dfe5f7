"""A session of the cache benchmark in which MCP servers come, change and go."""

from __future__ import annotations

import json
import sys

from tests.api import reply, tool_use
from tests.benchmarks.cache_work import PROMPTS, step, work
from tests.e2e.harness import Stage, until

SERVER = """
import json, sys
name, tools = sys.argv[1], ["search"]
def say(message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
for line in sys.stdin:
    m = json.loads(line)
    if "id" not in m:
        continue
    answer = {}
    if m["method"] == "initialize":
        capabilities = {"tools": {"listChanged": True}}
        info = {"name": name, "version": "1"}
        answer = {"protocolVersion": "2025-06-18", "capabilities": capabilities, "serverInfo": info,
                  "instructions": f"Ask {name} before you ask people."}
    elif m["method"] == "tools/list":
        answer = {"tools": [{"name": t, "description": f"{t} in {name}", "inputSchema": {"type": "object"}}
                            for t in tools]}
    elif m["method"] == "tools/call":
        tools.append("extra")
        answer = {"content": [{"type": "text", "text": "found nothing"}]}
        say({"method": "notifications/tools/list_changed"})
    say({"id": m["id"], "result": answer})
"""


async def servers_come_and_go(stage: Stage) -> None:
    """One server from the start, whose tools grow; one that comes late; the first one leaves."""
    script = stage.home / "server.py"
    script.write_text(SERVER)
    entries = {n: {"command": sys.executable, "args": [str(script), n]} for n in ("tickets", "wiki")}
    async with stage.session(mcp_config=(json.dumps({"mcpServers": entries}),)) as session:
        servers = session.mcp
        assert servers is not None
        await servers.manager.switch("wiki", on=False)
        session.start()
        await servers.manager.wait(30, ["tickets"])

        def offered(server: str) -> int:
            return sum(n.startswith(f"mcp__{server}__") for n in servers.names())

        find = tool_use("ToolSearch", {"query": "select:mcp__tickets__search"})
        answers = work(stage, 0, steps=5)
        answers[1:3] = [reply(find), reply(tool_use("mcp__tickets__search", {}))]
        await stage.say(session, PROMPTS[0], *answers)
        await until(lambda: offered("tickets") == 2)
        await servers.manager.switch("wiki", on=True)
        await servers.manager.wait(30, ["wiki"])
        await stage.say(session, PROMPTS[1], step(stage, 5), *work(stage, 1, steps=5))
        find = tool_use("ToolSearch", {"query": "select:mcp__wiki__search"})
        await servers.manager.switch("tickets", on=False)
        answers = work(stage, 2, steps=5)
        answers[1:3] = [reply(find), reply(tool_use("mcp__wiki__search", {}))]
        await stage.say(session, PROMPTS[2], *answers)
