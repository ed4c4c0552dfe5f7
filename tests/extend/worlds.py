"""Small worlds for the extensions: files, settings and something that runs hooks."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from agentcli.extend.hooks import HookMeans, HookRoom, read_hooks
from agentcli.extend.room import Extensions
from agentcli.ports.permissions import HookEvent, HookVerdict
from agentcli.processes import ProcessManager
from agentcli.settings.live import SettingsFiles
from agentcli.settings.merged import Settings


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def settings(project: Path, *, trusted: bool = False, managed: Path = Path("/nonexistent"), **given: Any) -> Settings:
    """The settings of the project and the user; ``given`` is what ``--settings`` would bring."""
    flag = json.dumps(given) if given else None
    return SettingsFiles.load(project, dict(os.environ), flag=flag, managed=managed, trusted=trusted).current


def extensions(project: Path, *, trusted: bool = True, agents: str = "", **given: Any) -> Extensions:
    user = Path(os.environ["HOME"]) / ".claude"
    found = settings(project, trusted=trusted, **given)
    return Extensions.load(project, found, user_dir=user, trusted=trusted, agents=agents)


def skill(root: Path, name: str, body: str = "Do it.", **front: str) -> Path:
    lines = [f"{key.replace('_', '-')}: {value}" for key, value in front.items()]
    text = "\n".join(["---", *lines, "---", body])
    return write(root / ".claude" / "skills" / name / "SKILL.md", text)


def command(root: Path, name: str, text: str) -> Path:
    return write(root / ".claude" / "commands" / f"{name}.md", text)


def agent(root: Path, name: str, body: str = "You do it.", **front: str) -> Path:
    values = {"name": name, "description": f"Does {name}.", **front}
    lines = [f"{key}: {value}" for key, value in values.items()]
    return write(root / ".claude" / "agents" / f"{name}.md", "\n".join(["---", *lines, "---", body]))


@dataclass
class Bench:
    """A hook room over real processes, and what it told."""

    room: HookRoom
    told: list[str] = field(default_factory=list)
    spilled: list[Path] = field(default_factory=list)

    async def fire(self, name: str, subject: str = "", /, **fields: Any) -> HookVerdict:
        return await self.room.fire(HookEvent(name, subject, fields))

    async def call(self, tool: str = "Bash", /, **input: Any) -> HookVerdict:
        return await self.fire("PreToolUse", tool, tool_name=tool, tool_input=input, tool_use_id="t1")


@asynccontextmanager
async def bench(project: Path, hooks: object = None, **means: Any) -> AsyncIterator[Bench]:
    """``hooks`` stand in the project's local, private settings."""
    if hooks is not None:
        write(project / ".claude" / "settings.local.json", json.dumps({"hooks": hooks}))
    manager = ProcessManager(grace=0.2)
    told: list[str] = []
    spilled: list[Path] = []

    def spill(text: str, suffix: str) -> Path:
        spilled.append(write(project / "spilled" / f"{len(spilled)}{suffix}", text))
        return spilled[-1]

    plain = HookMeans(
        processes=manager,
        environment=lambda: dict(os.environ),
        cwd=lambda: project,
        project=project,
        spill=spill,
        common=lambda: {"session_id": "s1", "cwd": str(project)},
        notify=told.append,
    )
    room = HookRoom(read_hooks(settings(project)), replace(plain, **means))
    try:
        yield Bench(room, told, spilled)
    finally:
        await room.close()
        await manager.close()


def one(event: str, command: str | dict[str, Any], matcher: str | None = None, **more: Any) -> dict[str, Any]:
    """The settings of a single hook."""
    hook = command if isinstance(command, dict) else {"type": "command", "command": command, **more}
    group: dict[str, Any] = {"hooks": [hook]}
    return {event: [{"matcher": matcher, **group} if matcher is not None else group]}


def saying(value: object, code: int = 0) -> str:
    """A command that prints JSON."""
    return f"cat <<'E'\n{json.dumps(value)}\nE\nexit {code}"
