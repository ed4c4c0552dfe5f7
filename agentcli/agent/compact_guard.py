"""When a conversation is compacted by itself, and when that is stopped."""

from __future__ import annotations

from dataclasses import dataclass

from agentcli.agent.measure import largest_results, used
from agentcli.agent.rooms import Limits, Rooms
from agentcli.agent.state import SessionState
from agentcli.errors import TurnError
from agentcli.events import Notice

BUFFER = 13_000
"""Tokens kept free beside the longest answer."""
WARNING = 20_000
"""So many tokens before the threshold the user is told."""
TRIES = 3
REFILLS = 3
"""So many compactions in quick succession are the last automatic ones."""
QUICK = 3
"""Steps between two compactions that follow each other quickly."""


@dataclass(slots=True)
class Guard:
    """Says when the automatic compaction is due.  Three failures in a row stop it, and so does a window that fills up
    at once after each of three compactions; a conversation that is under the threshold again starts it anew."""

    state: SessionState
    rooms: Rooms
    limits: Limits
    failures: int = 0
    refills: int = 0
    last_step: int | None = None
    warned: bool = False
    stopped: bool = False

    def threshold(self) -> int | None:
        """Used tokens from which the automatic compaction is due; ``None`` where it is off or the window unknown."""
        if not self.limits.auto_compact or self.rooms.model_info is None:
            return None
        info = self.rooms.model_info(self.state.model)
        window = min(info.window, self.limits.compact_window or info.window)
        # A small local window may be smaller than its own reserve: half of it is always used.
        room = max(window - info.max_output - BUFFER, window // 2)
        if self.limits.compact_percent:
            return min(room, window * min(self.limits.compact_percent, 100) // 100)
        return room

    def due(self) -> bool:
        """Whether the automatic compaction has to run before the next request; warns once when it is near."""
        threshold = self.threshold()
        if threshold is None:
            return False
        now = used(self.state)
        if now < threshold:
            self.failures, self.stopped = 0, False
        near = threshold - min(WARNING, threshold // 10)
        if now < near:
            self.warned = False
        elif not self.warned:
            self.warned = True
            text = f"The context is nearly full ({now:,} tokens); at {threshold:,} it is compacted. Or now: /compact."
            self.rooms.emit(Notice("info", text, "context_low"))
        if now < threshold or self.failures >= TRIES or self.stopped:
            return False
        if self._quick() and self.refills >= REFILLS - 1:
            self._stop(now)
            return False
        return True

    def failed(self, error: TurnError) -> None:
        """An automatic compaction failed; the turn goes on."""
        self.failures += 1
        more = "" if self.failures < TRIES else " No further automatic compaction is tried; use /compact or /clear."
        self.rooms.emit(Notice("warning", f"The automatic compaction failed: {error}{more}", "compaction_failed"))

    def done(self, *, automatic: bool) -> None:
        self.refills = self.refills + 1 if automatic and self._quick() else 0
        self.last_step = self.state.steps if automatic else None
        self.failures = 0
        self.warned = self.stopped = False

    def _quick(self) -> bool:
        return self.last_step is not None and self.state.steps - self.last_step <= QUICK

    def _stop(self, now: int) -> None:
        self.stopped = True
        large = [f"{title} ({count:,} tokens)" for title, count in largest_results(self.state.messages, 3)]
        what = f" What fills it: {', '.join(large)}." if large else ""
        text = (
            f"The context was full again ({now:,} tokens) at once after each of {REFILLS} compactions, so it is not "
            f"compacted by itself any more.{what} Ask for smaller parts, or begin anew with /clear."
        )
        self.rooms.emit(Notice("warning", text, "compaction_loop"))
