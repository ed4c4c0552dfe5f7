"""Our client under the protocol's conformance suite: the suite starts it with the address as the last argument.

It goes the way of a session: configuration, login where the scenario is about one, connection, list, a call of every
tool.  ``MCP_CONFORMANCE_SCENARIO`` names the scenario, ``MCP_CONFORMANCE_CONTEXT`` may hold a registered client.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
import urllib.request
from pathlib import Path
from typing import Any

from agentcli.conversation import ConversationCache
from agentcli.errors import ToolError
from agentcli.events import Event
from agentcli.files.seen import FilesSeen
from agentcli.mcp import Ground, Wiring, make_room
from agentcli.mcp.login import login
from agentcli.ports.elicitation import Elicitation, ElicitReply
from agentcli.ports.tools import ToolContext, Workspace
from agentcli.processes import ProcessManager
from agentcli.settings.merged import Settings


class Defaults:
    """A user who takes what the form proposes."""

    async def elicit(self, request: Elicitation) -> ElicitReply:
        return ElicitReply("accept", {f.name: f.default for f in request.fields if f.default is not None})


def argument(schema: Any) -> Any:
    kind = schema.get("type") if isinstance(schema, dict) else None
    return {"number": 1, "integer": 1, "boolean": True, "array": [], "object": {}}.get(str(kind), "x")


def browse(address: str) -> None:
    """Follows the redirects of a login, as a browser would."""
    asyncio.get_running_loop().run_in_executor(None, lambda: urllib.request.urlopen(address).read())


async def main() -> int:
    scenario = os.environ.get("MCP_CONFORMANCE_SCENARIO", "")
    given = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
    with tempfile.TemporaryDirectory() as home:
        directory = Path(home)
        env = {**os.environ, "HOME": home}
        entry: dict[str, Any] = {"type": "http", "url": sys.argv[-1]}
        if given.get("client_id"):
            entry["oauth"] = {"clientId": given["client_id"]}
            env["MCP_CLIENT_SECRET"] = given.get("client_secret", "")
        servers = json.dumps({"mcpServers": {"suite": entry}})
        ground = Ground(cwd=directory, settings=Settings(()), env=env, given=[servers], elicitor=Defaults())
        processes = ProcessManager()
        events: list[Event] = []
        cache = ConversationCache()
        room = make_room(ground, processes, Wiring(emit=events.append, cache=cache, directory=lambda: directory))
        if scenario.startswith("auth/"):
            (server,) = room.configuration.servers
            print(await login(server, ground.host(processes), show=browse))
        room.start()
        await room.wait_first(20)
        await room.between_steps()
        (status,) = room.statuses()
        print(status)
        context = ToolContext(
            workspace=Workspace(directory, directory),
            emit=events.append,
            output=print,
            spill=lambda text, suffix: directory / "spilled",
            seen=FilesSeen(),
        )
        for name, tool in room.tools.items():
            properties = tool.spec.input_schema.get("properties", {})
            try:
                result = await tool.run({k: argument(v) for k, v in properties.items()}, context)
                print(name, result.for_model[:1])
            except ToolError as error:
                print(name, error)
        await room.close()
        await processes.close()
        return 0 if status.state == "connected" else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
