"""A clock that moves only when it is slept on or advanced."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta


class VirtualClock:
    """``slept`` keeps every wait; ``sleep`` returns at once (after one turn of the event loop)."""

    def __init__(self, start: datetime = datetime(2026, 11, 30, 12, tzinfo=UTC)) -> None:
        self._start = start
        self._passed = 0.0
        self.slept: list[float] = []

    def now(self) -> datetime:
        return self._start + timedelta(seconds=self._passed)

    def monotonic(self) -> float:
        return self._passed

    def advance(self, seconds: float) -> None:
        self._passed += seconds

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self._passed += seconds
        await asyncio.sleep(0)
