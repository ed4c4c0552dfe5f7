"""The real clock behind ``ports.sessions.Clock``."""

from __future__ import annotations

import asyncio
import time
from datetime import datetime


class SystemClock:
    def now(self) -> datetime:
        return datetime.now().astimezone()

    def monotonic(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
