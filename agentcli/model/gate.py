"""Parallel requests with one prefix: the first goes, the others wait until its answer has begun.

An entry of the prompt cache can be read only once the response that wrote it has begun to stream (prompt-caching
page); siblings that start before pay for the whole prefix each.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from agentcli.clock import SystemClock
from agentcli.ports.sessions import Clock

PATIENCE = 10.0
"""Seconds that the others wait at most for the first one."""
WARM = 240.0
"""Seconds for which a prefix counts as written: less than the shortest TTL (300 s)."""


class Pass:
    """Leave to send.  ``begun`` when the answer has begun, ``failed`` when the attempt ended without one; either may
    be called again and does nothing then."""

    def __init__(self, gate: PrefixGate, key: str, *, leader: bool) -> None:
        self._gate = gate
        self._key = key
        self._leader = leader

    def begun(self) -> None:
        self._gate.open(self._key)
        self._leader = False

    def failed(self) -> None:
        if self._leader:
            self._leader = False
            self._gate.promote(self._key)


@dataclass(slots=True)
class PrefixGate:
    """``enter(key)`` returns when the caller may send a request whose prefix is ``key``."""

    clock: Clock = field(default_factory=SystemClock)
    patience: float = PATIENCE
    _warm: dict[str, float] = field(default_factory=dict)
    _waiting: dict[str, list[asyncio.Future[bool]]] = field(default_factory=dict)

    async def enter(self, key: str) -> Pass:
        if self._is_warm(key):
            return Pass(self, key, leader=False)
        if key not in self._waiting:
            self._waiting[key] = []
            return Pass(self, key, leader=True)
        turn: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._waiting[key].append(turn)
        try:
            async with asyncio.timeout(self.patience):
                leader = await turn
        except TimeoutError:
            leader = _won(turn)
        except asyncio.CancelledError:
            if _won(turn):
                self.promote(key)
            raise
        finally:
            if turn in self._waiting.get(key, ()):
                self._waiting[key].remove(turn)
        return Pass(self, key, leader=leader)

    def _is_warm(self, key: str) -> bool:
        since = self._warm.get(key)
        if since is None:
            return False
        if self.clock.monotonic() - since < WARM:
            return True
        del self._warm[key]
        return False

    def open(self, key: str) -> None:
        """The prefix is written: all who wait go."""
        self._warm[key] = self.clock.monotonic()
        for turn in self._waiting.pop(key, []):
            if not turn.done():
                turn.set_result(False)

    def promote(self, key: str) -> None:
        """The first one failed: the next one takes its place."""
        waiting = self._waiting.get(key, [])
        while waiting:
            turn = waiting.pop(0)
            if not turn.done():
                turn.set_result(True)
                return
        self._waiting.pop(key, None)


def _won(turn: asyncio.Future[bool]) -> bool:
    """Whether the lead was handed over in the very moment in which waiting ended."""
    return turn.done() and not turn.cancelled() and turn.result()
