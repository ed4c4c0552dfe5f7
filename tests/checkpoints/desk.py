"""A session whose scripted model changes files, and what its checkpoints say of that."""

from __future__ import annotations

import os
import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from agentcli.checkpoints import CheckpointRoom
from agentcli.events import Notice
from agentcli.model.scripted import ScriptedClient, Step, call, say
from agentcli.ports.frontend import UserInput
from agentcli.runtime.build import open_session
from agentcli.runtime.options import SessionOptions
from agentcli.runtime.session import Session


class Work:
    """``turn(…calls)`` runs a turn in which the model makes these calls; ``told`` are warnings about checkpoints."""

    def __init__(self, session: Session, script: list[Step]) -> None:
        self.session = session
        self.told: list[str] = []
        self._script = script
        session.events.subscribe(self._hear)

    @property
    def room(self) -> CheckpointRoom:
        return self.session.checkpoints

    async def turn(self, *calls: Any, prompt: str = "go") -> None:
        self._script += [say(c) for c in calls] + [say("done")]
        await self.session.run(UserInput(prompt))

    async def shell(self, command: str, **more: Any) -> None:
        await self.turn(call("Bash", command=command, **more))

    async def plan(self, back: int = 0) -> dict[str, str]:
        """Step or refusal by path below the project, for going back before the last turn (0), the one before it …"""
        plan = await self.room.plan(self.position(back))
        return {self._name(s.path): s.refusal or s.step for s in plan.steps}

    async def rewind(self, back: int = 0) -> list[str]:
        """Restores; what failed."""
        done = await self.room.restore(await self.room.plan(self.position(back)))
        return [f"{self._name(path)}: {why}" for path, why in done.failed]

    def position(self, back: int) -> int:
        return [p.position for p in self.room.points() if p.kind == "turn"][-1 - back]

    def _name(self, path: Path) -> str:
        return os.path.relpath(path, self.session.workspace.start.resolve())

    def _hear(self, event: object) -> None:
        if isinstance(event, Notice) and event.code == "checkpoints":
            self.told.append(event.text)


@asynccontextmanager
async def work(project: Path, **options: Any) -> AsyncIterator[Work]:
    script: list[Step] = []
    given = {"permission_mode": "bypassPermissions", "allow_bypass": True, **options}
    session = await open_session(SessionOptions(cwd=project, **given), client=ScriptedClient(script))
    session.start()
    try:
        yield Work(session, script)
    finally:
        await session.close()


def tree(directory: Path) -> dict[str, tuple[str, int, bytes]]:
    """Every file below: kind, permission bits, content.  The repository of the project counts too."""
    found = {}
    for path in sorted(directory.rglob("*")):
        name, mode = str(path.relative_to(directory)), stat.S_IMODE(path.lstat().st_mode)
        if path.is_symlink():
            found[name] = ("link", 0, os.fsencode(os.readlink(path)))
        elif path.is_file():
            found[name] = ("file", mode, path.read_bytes())
        elif path.is_dir():
            found[name] = ("directory", mode, b"")
    return found
