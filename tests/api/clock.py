"""The server's clock: it moves only when a test moves it, so that expiry is exact."""

from __future__ import annotations


class VirtualClock:
    """Seconds since the server started.  ``advance`` is the only thing that makes time pass."""

    def __init__(self) -> None:
        self._now = 0.0

    def now(self) -> float:
        return self._now

    def advance(self, seconds: float) -> None:
        if seconds < 0:
            raise ValueError("time does not go back")
        self._now += seconds
