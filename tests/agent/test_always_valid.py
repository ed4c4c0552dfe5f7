"""Whatever happens, in whatever order, every request is one that the API takes, and the file tells the same."""

from __future__ import annotations

import asyncio
import contextlib
import json
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from agentcli.agent import Limits
from agentcli.agent.state import SessionState
from agentcli.clock import SystemClock
from agentcli.errors import ApiError, TurnError
from agentcli.events import Notice
from agentcli.messages import ImageBlock, Json, Message, TextBlock, ThinkingBlock, message_to_api, repair
from agentcli.model.scripted import Answer, ScriptedClient, call, say
from agentcli.ports.display import TextDisplay
from agentcli.ports.frontend import UserInput
from agentcli.ports.model import ModelInfo, ModelRequest
from agentcli.ports.tools import ToolResult
from agentcli.sessions import FileJournal, load
from tests.agent.test_images import PIXEL
from tests.agent.world import FakeTool, World, make, standard_tools
from tests.messages.test_repair import assert_valid

WINDOW = ModelInfo("claude-sonnet-5-5", "Test", 12_000, 1_000, 512)


async def hop(input: Json) -> str:
    await asyncio.sleep(0)
    return "hopped"


def show(input: Json) -> ToolResult:
    return ToolResult((ImageBlock("image/png", PIXEL),), TextDisplay("image"))


@dataclass
class Life:
    """One session's life over several processes.  ``dice`` decides what the model answers."""

    path: Path
    dice: Random
    asked: list[tuple[Message, ...]] = field(default_factory=list)
    world: World = field(init=False)
    calls: int = 0

    def __post_init__(self) -> None:
        self.open()

    def open(self) -> None:
        """A new process takes the session on from its file."""
        tools = standard_tools() | {
            "Hop": FakeTool("Hop", hop),
            "Read": FakeTool("Read", lambda i: "a line\n" * self.dice.choice([1, 900])),
            "Show": FakeTool("Show", show),
        }
        state = SessionState("s1", "claude-sonnet-5-5", "2026-11-30", tools=tuple(t.spec for t in tools.values()))
        if self.path.exists():
            loaded = load(self.path)
            state.restore(loaded.messages, usage=loaded.usage, cost=loaded.cost, turn=loaded.turns)
            state.earlier = list(loaded.earlier)
        journal = FileJournal(self.path, clock=SystemClock())
        journal.append("start", {"session_id": "s1", "cwd": "/"})
        model = ScriptedClient([], delay=1e-9, otherwise=self.answer)
        limits = Limits(max_turns=6, clear_results=True)
        self.world = make(model, tools=tools, limits=limits, info=WINDOW, state=state, journal=journal)
        self.world.policy.denies.add("Put")

    def answer(self, request: ModelRequest) -> Any:
        assert_valid(request.messages)
        assert not repair(request.messages).notes
        self.asked.append(request.messages)
        if request.query_source == "compact":
            return self.dice.choice(["Summary.", "Summary.", Answer(()), "long " * 9_000])
        if self.dice.random() < 0.1:
            kind = self.dice.choice(["invalid_request", "prompt_too_long", "overloaded"])
            text = "messages.0.content.0: image is broken" if kind == "invalid_request" else kind
            return Answer((), error=ApiError(text, kind=kind, status=400))
        names = self.dice.choices(
            ["Read", "Read", "Show", "Put", "Broken", "Refusing", "Hop"], k=self.dice.randrange(4)
        )
        self.calls += len(names)
        ids = range(self.calls - len(names), self.calls)
        made = [call(n, id=f"t{i}", file_path=f"/{i % 3}") for n, i in zip(names, ids, strict=True)]
        thought = [ThinkingBlock("Hm.", "sig")] * self.dice.randrange(2)
        return say(*thought, f"Words {len(self.asked)}.", *made)

    async def prompt(self) -> None:
        await self.world.agent.run_turn(UserInput(f"Prompt {len(self.asked)} \ud83d"))

    async def interrupted(self) -> None:
        work = asyncio.create_task(self.prompt())
        await self._stopped(work)

    async def compacted(self) -> None:
        with contextlib.suppress(TurnError):  # told to the user; nothing has changed then
            await self.world.agent.compact()

    async def compaction_interrupted(self) -> None:
        await self._stopped(asyncio.create_task(self.compacted()))

    async def undone(self) -> None:
        self.world.agent.undo_compaction()

    async def rewound(self) -> None:
        starts = self.world.agent.prompt_starts()
        if starts:
            self.world.agent.rewind(*self.dice.choice(starts))

    async def cooled(self) -> None:
        self.world.clock.date = self.world.clock.date.replace(year=self.world.clock.date.year + 1)

    async def crashed(self) -> None:
        """The process ends, and the file's last bytes are lost."""
        data = self.path.read_bytes()
        self.path.write_bytes(data[: len(data) - self.dice.randrange(400)])
        self.open()

    async def edited(self) -> None:
        """Somebody has deleted, doubled or exchanged lines of the file."""
        lines = self.path.read_text(encoding="utf-8").splitlines()
        place = self.dice.randrange(len(lines))
        match self.dice.randrange(3):
            case 0:
                del lines[place]
            case 1:
                lines.insert(place, lines[self.dice.randrange(len(lines))])
            case _:
                lines[place], lines[-1] = lines[-1], lines[place]
        self.path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        self.open()

    async def reopened(self) -> None:
        before = list(self.world.state.messages)
        self.open()
        assert self.world.state.messages == list(repair(before).messages)

    async def _stopped(self, work: asyncio.Task[None]) -> None:
        for _ in range(self.dice.randrange(120)):
            await asyncio.sleep(0)
        self.world.agent.interrupt()
        await work


MOVES: dict[str, Callable[[Life], Awaitable[None]]] = {
    "prompt": Life.prompt,
    "interrupted": Life.interrupted,
    "compacted": Life.compacted,
    "compaction interrupted": Life.compaction_interrupted,
    "undone": Life.undone,
    "rewound": Life.rewound,
    "cooled": Life.cooled,
    "crashed": Life.crashed,
    "edited": Life.edited,
    "reopened": Life.reopened,
}


@given(st.integers(0, 2**32), st.lists(st.sampled_from(sorted(MOVES)), min_size=3, max_size=12))
@settings(max_examples=20, deadline=None)
def test_every_request_is_valid(seed: int, moves: Sequence[str]) -> None:
    async def live(path: Path) -> Life:
        life = Life(path, Random(seed))
        for move in ("prompt", *moves, "prompt"):
            await MOVES[move](life)
            assert [n.text for n in life.world.seen(Notice) if n.code == "bug"] == []
        return life

    with tempfile.TemporaryDirectory() as root:
        path = Path(root) / "s.jsonl"
        life = asyncio.run(live(path))
        messages = [message_to_api(m) for m in life.world.state.messages]
        json.dumps(messages, ensure_ascii=False).encode()
        assert not repair(life.world.state.messages).notes
        assert life.asked
        texts = [b for m in life.world.state.messages for b in m.content if isinstance(b, TextBlock)]
        assert all(b.text.strip() for b in texts)
        loaded = load(path)
        assert loaded.messages == tuple(life.world.state.messages)
