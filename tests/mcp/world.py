"""Real servers, real processes, and a room around them."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agentcli.conversation import ConversationCache
from agentcli.events import Event, Notice
from agentcli.files.seen import FilesSeen
from agentcli.mcp.approval import Guard
from agentcli.mcp.client import Host
from agentcli.mcp.config import Configuration, read_configuration
from agentcli.mcp.room import McpRoom
from agentcli.mcp.store import ServerStore
from agentcli.mcp.wiring import Wiring
from agentcli.paths import agentcli_home
from agentcli.ports.tools import ToolContext, ToolResult, Workspace
from agentcli.processes import ProcessManager
from agentcli.settings.live import SettingsFiles
from agentcli.settings.merged import Settings

RAW = Path(__file__).with_name("raw_server.py")
PYTHON = (sys.executable, "-I", "-S")


def tool(name: str, description: str = "", **properties: Any) -> dict[str, Any]:
    """A tool as a server lists it."""
    schema = {"type": "object", "properties": properties}
    return {"name": name, "description": description or f"Does {name}.", "inputSchema": schema}


@dataclass
class Servers:
    """Writes scripts and makes entries that run them."""

    directory: Path
    entries: dict[str, Any] = field(default_factory=dict)

    def add(self, name: str, entry: Mapping[str, Any] | None = None, **script: Any) -> None:
        if entry is not None and not script:
            self.entries[name] = dict(entry)
            return
        path = self.directory / f"{len(self.entries)}.script.json"
        path.write_text(json.dumps(script))
        self.entries[name] = {"command": PYTHON[0], "args": [*PYTHON[1:], str(RAW), str(path)], **(entry or {})}

    def rewrite(self, name: str, **script: Any) -> None:
        """What the server does from its next start on."""
        Path(self.entries[name]["args"][-1]).write_text(json.dumps(script))

    @property
    def json(self) -> str:
        return json.dumps({"mcpServers": self.entries})


@dataclass
class World:
    """A session's surroundings without a session."""

    cwd: Path
    servers: Servers
    env: dict[str, str] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)
    cache: ConversationCache = field(default_factory=ConversationCache)
    processes: ProcessManager = field(default_factory=ProcessManager)
    host_options: dict[str, Any] = field(default_factory=dict)
    wiring_options: dict[str, Any] = field(default_factory=dict)
    guard_options: dict[str, Any] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        return {**os.environ, **self.env}

    @property
    def settings(self) -> Settings:
        return SettingsFiles.load(self.cwd, self.environment, managed=self.cwd / "no-managed.json").current

    def configuration(self, **given: Any) -> Configuration:
        options = {"given": [self.servers.json] if self.servers.entries else [], **given}
        return read_configuration(self.cwd, self.settings, self.environment, **options)

    def room(self, configuration: Configuration | None = None) -> McpRoom:
        configuration = configuration or self.configuration()
        home = agentcli_home(self.environment)
        host = Host(
            processes=self.processes,
            env=self.environment,
            logs=home / "logs" / "mcp" if home else None,
            **{"roots": lambda: (self.cwd,), "alive": 0.5, "backoff": (0.05,), **self.host_options},
        )
        wiring = Wiring(
            emit=self.events.append,
            cache=self.cache,
            directory=lambda: self.cwd.parent / "session",
            **self.wiring_options,
        )
        guard = Guard(configuration.project, self.settings, self.environment, **self.guard_options)
        store = ServerStore(configuration.project.key, self.environment)
        return McpRoom(configuration, host, wiring, guard=guard, store=store)

    @asynccontextmanager
    async def open(self, *, wait: float = 10.0, configuration: Configuration | None = None) -> AsyncIterator[McpRoom]:
        """A room whose servers were waited for and taken over."""
        room = self.room(configuration)
        room.start()
        try:
            await room.wait_first(wait)
            await room.between_steps()
            yield room
        finally:
            await room.close()
            await self.processes.close()

    def context(self) -> ToolContext:
        return ToolContext(
            workspace=Workspace(self.cwd, self.cwd),
            emit=self.events.append,
            output=self.outputs.append,
            spill=self._spill,
            seen=FilesSeen(),
        )

    def _spill(self, text: str, suffix: str) -> Path:
        path = self.cwd.parent / f"spilled{suffix}"
        path.write_text(text)
        return path

    async def call(self, room: McpRoom, name: str, **arguments: Any) -> ToolResult:
        return await room.tools[name].run(arguments, self.context())

    @property
    def notices(self) -> list[str]:
        return [e.text for e in self.events if isinstance(e, Notice)]


def states(room: McpRoom) -> dict[str, str]:
    return {s.name: s.state for s in room.statuses()}


def texts(result: ToolResult) -> list[str]:
    return [getattr(c, "text", type(c).__name__) for c in result.for_model]


async def until(true: Callable[[], object], *, seconds: float = 10.0) -> None:
    """Polls.  ``TimeoutError`` if it does not become true."""
    async with asyncio.timeout(seconds):
        while not true():
            await asyncio.sleep(0.01)


def processes_with(*needles: str) -> list[str]:
    """Command lines of living processes that hold one of the texts."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
                state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
            except OSError:
                continue
            if state != "Z" and any(n in line for n in needles):
                found.append(line)
    return found


def names(specs: Sequence[Any]) -> list[str]:
    return [s.name for s in specs]
