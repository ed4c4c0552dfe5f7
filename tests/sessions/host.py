"""A small program for the kill test: an engine on a session file that prints what it shows, line by line.

``host.py PATH SEED``: continues what the file says, three turns, every shown thing one JSON line on stdout.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import sys
from pathlib import Path

from agentcli.clock import SystemClock
from agentcli.events import Event, PromptAccepted, TextDelta, ToolFinished
from agentcli.model.scripted import ScriptedClient, call, say
from agentcli.ports.frontend import UserInput
from agentcli.sessions import FileJournal, load
from tests.agent.world import make


def show(event: Event) -> None:
    shown: dict[str, str]
    match event:
        case TextDelta(text=text):
            shown = {"text": text}
        case ToolFinished(tool_use_id=id):
            shown = {"result": id}
        case PromptAccepted(message=message):
            shown = {"prompt": message.text()}
        case _:
            return
    os.write(1, json.dumps(shown).encode() + b"\n")


async def main(path: Path, seed: int) -> None:
    dice = random.Random(seed)
    script = []
    for _ in range(3):
        words = " ".join(f"w{dice.randrange(10_000)}" for _ in range(40))
        calls = [call(dice.choice(["Echo", "Put"]), text=str(dice.random())) for _ in range(3)]
        script += [say(words, *calls), say(words[::-1])]
    journal = FileJournal(path, clock=SystemClock())
    model = ScriptedClient(script, chunk=9)
    world = make(model, journal=journal, emit=show)
    if path.exists():
        loaded = load(path)
        world.state.restore(loaded.messages, usage=loaded.usage, cost=loaded.cost, turn=loaded.turns)
        journal.append("start", {"session_id": "s", "cwd": "/", "resumed": True})
    for _ in range(3):
        await world.agent.run_turn(UserInput(f"prompt {dice.randrange(10_000)}"))


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2])))
