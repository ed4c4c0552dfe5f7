"""The front end as a program of its own, with a scripted session: ``python -m tests.ui.program NAME``."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from agentcli.events import Event, PermissionAsked, StepStarted, TextDelta, ToolFinished, ToolStarted
from agentcli.ports.display import CommandDisplay
from agentcli.ui.terminal.app import run_front_end
from agentcli.ui.terminal.way import Way
from tests.ui.scripted import Pause, ScriptedSession

ASKED = PermissionAsked(
    "p1",
    "t1",
    "Bash",
    {},
    "make",
    "no rule allows it",
    CommandDisplay("make"),
    ({"type": "addRules", "rules": ["Bash(make)"], "behavior": "allow", "destination": "session"},),
)
WORK: list[Event | Pause] = [
    StepStarted(1, "m"),
    TextDelta("# I **make** it.\n\n"),
    ASKED,
    Pause("p1"),
    ToolStarted("t1", "Bash", {}, "make"),
    ToolFinished("t1", "Bash", "make", CommandDisplay("make", "\x1b[31mred\x1b[0m\nlast\n", 0), False, 0.3),
    TextDelta("Done."),
]
SLOW: list[Event | Pause] = [StepStarted(1, "m"), TextDelta("working\n\n"), Pause("never")]
SCRIPTS: dict[str, list[list[Event | Pause]]] = {"plain": [], "slow": [SLOW], "work": [WORK], "both": [WORK, SLOW]}


class Loud(ScriptedSession):
    """Leaves a file behind when it is closed."""

    async def close(self) -> None:
        await super().close()
        Path("closed").write_text(str(self.closed))


async def main(name: str) -> int:
    async def start() -> ScriptedSession:
        return Loud(SCRIPTS[name], Path.cwd())

    return await run_front_end(Way(start), directory=Path.cwd())


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[1])))
