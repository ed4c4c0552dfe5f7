"""Whole sessions in this process: real rooms, the real SDK, the strict server, and one clock for both sides.

Time passes only where a test or an answer lets it pass, so that expiry, midnight and prices are exact.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from agentcli.events import Event, TurnFinished
from agentcli.messages import Block
from agentcli.ports.frontend import UserInput
from agentcli.runtime.build import open_session
from agentcli.runtime.options import Resume, SessionOptions
from agentcli.runtime.session import Session
from tests.api import ApiServer, Request
from tests.api.render import without_marks
from tests.api.script import Step

MORNING = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)
NEWEST = Resume(newest=True)
FIRST_PARTY = "AGENTCLI_FIRST_PARTY_GATEWAY"
KEPT_ENVIRONMENT = ("PATH", "LANG", "LC_ALL", "TMPDIR", "VIRTUAL_ENV")
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


class SharedClock:
    """``ports.sessions.Clock`` over the server's virtual clock.  Sleeping moves it."""

    def __init__(self, api: ApiServer, start: datetime) -> None:
        self._api = api
        self._start = start

    def now(self) -> datetime:
        return self._start + timedelta(seconds=self._api.clock.now())

    def monotonic(self) -> float:
        return self._api.clock.now()

    def advance(self, seconds: float) -> None:
        self._api.clock.advance(seconds)

    async def sleep(self, seconds: float) -> None:
        self.advance(seconds)
        await asyncio.sleep(0)


@dataclass
class Stage:
    """One server, one HOME and one project directory, in which sessions are opened one after the other or together.

    ``tick`` seconds pass before each answer.  ``environment`` is added to every session's own.
    """

    api: ApiServer
    home: Path
    project: Path
    start: datetime = MORNING
    first_party: bool = True
    tick: float = 10.0
    environment: dict[str, str] = field(default_factory=dict)
    heard: list[Event] = field(default_factory=list)
    """Events of every session of the stage."""
    sessions: list[Session] = field(default_factory=list)
    """Every session that was opened here, closed ones too."""

    def __post_init__(self) -> None:
        self.clock = SharedClock(self.api, self.start)
        self._sessions = 0

    def options(self, **given: Any) -> SessionOptions:
        own = {
            "HOME": str(self.home),
            "ANTHROPIC_BASE_URL": self.api.url,
            "ANTHROPIC_API_KEY": self.api.key,
            **({FIRST_PARTY: "1"} if self.first_party else {}),
            **self.environment,
        }
        if given.get("resume") is None and "session_id" not in given:
            self._sessions += 1
            given["session_id"] = f"00000000-0000-4000-8000-{self._sessions:012}"
        values: dict[str, Any] = {
            "cwd": self.project,
            "permission_mode": "bypassPermissions",
            "allow_bypass": True,
            "environment": own,
            **given,
        }
        return SessionOptions(**values)

    async def open(self, **given: Any) -> Session:
        """A session.  Close it with ``session.close()``, or use ``session`` below."""
        session = await open_session(self.options(**given), clock=self.clock)
        session.events.subscribe(self.heard.append)
        self.sessions.append(session)
        return session

    @asynccontextmanager
    async def session(self, **given: Any) -> AsyncIterator[Session]:
        session = await self.open(**given)
        try:
            yield session
        finally:
            await session.close()

    def play(self, *steps: Step) -> None:
        """Adds answers to the server's script; ``tick`` seconds pass before each."""
        self.api.play(*(self._ticking(s) for s in steps))

    async def say(self, session: Session, words: str, *steps: Step, attach: Sequence[Block] = ()) -> TurnFinished:
        """One turn with these answers, to its good end."""
        self.play(*steps)
        finished = await session.run(UserInput(words, tuple(attach)))
        assert finished.outcome == "completed", (finished.outcome, finished.error, self.refusals())
        return finished

    def refusals(self) -> list[Any]:
        return [r.error for r in self.api.refused]

    @property
    def requests(self) -> list[Request]:
        """Requests that were answered, in order."""
        return [r for r in self.api.requests if r.finished]

    def _ticking(self, step: Step) -> Step:
        def later(request: Request) -> Step:
            self.clock.advance(self.tick)
            return step

        return later


def blocks(request: Request) -> list[str]:
    """Every block of the messages with its role, as it was sent, without cache marks."""
    return [
        json.dumps([message["role"], without_marks(block)], ensure_ascii=False)
        for message in request.messages
        for block in message["content"]
    ]


def front(request: Request) -> str:
    """Tools and system prompt as they were sent, without cache marks."""
    return json.dumps(without_marks([request.tools, request.json.get("system")]), ensure_ascii=False)


def appended(before: Request, after: Request) -> list[str]:
    """The blocks that came behind what ``before`` had sent.  ``AssertionError`` where anything of it was changed."""
    old, new = blocks(before), blocks(after)
    for number, (was, now) in enumerate(zip(old, new, strict=False)):
        assert was == now, f"block {number} was rewritten"
    assert len(new) >= len(old), "blocks are missing"
    return new[len(old) :]


@contextmanager
def plain_environment(home: Path) -> Iterator[None]:
    """The process's environment without anything of the machine's but paths, as the tests have it."""
    before = dict(os.environ)
    for name in list(os.environ):
        if name not in KEPT_ENVIRONMENT:
            del os.environ[name]
    os.environ.update(HOME=str(home), SHELL="/bin/bash", GIT_CONFIG_NOSYSTEM="1")
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


async def until(true: Callable[[], bool], *, seconds: float = 60.0) -> None:
    """Polls.  ``TimeoutError`` if it does not become true."""
    async with asyncio.timeout(seconds):
        while not true():
            await asyncio.sleep(0.01)
