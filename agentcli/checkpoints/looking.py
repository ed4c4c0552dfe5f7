"""When the project is looked at, and whose doing it is what a look finds different.

Before a command that may write: what is different since the last look was somebody else's doing.  After it (while the
model thinks on): what is different is the command's.  Where a look takes long, one before a turn's first command and
one at the turn's end have to do; a command that may destroy has always one before it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from agentcli.checkpoints.bounds import GaveUp, TooSlow
from agentcli.checkpoints.commandline import LineFacts
from agentcli.checkpoints.log import Log
from agentcli.checkpoints.state import Change

if TYPE_CHECKING:
    from agentcli.checkpoints.shadow import Shadow

CLOSE_WITHIN = 2.0
"""Seconds that the end of a session waits for a look."""
Tell = Callable[[str, str], None]
"""``tell(what, text)`` shows a warning, once for each ``what``."""


class Looking:
    """``off`` says why the project is not looked at (any more); empty while it is."""

    def __init__(self, log: Callable[[], Log], make_shadow: Callable[[], Shadow], tell: Tell) -> None:
        self.off = ""
        self._log = log
        self._make_shadow = make_shadow
        self._tell = tell
        self._shadow: Shadow | None = None
        self._lock = asyncio.Lock()
        self._active = 0
        self._ended = 0
        """Commands that have ended, in all."""
        self._seen = 0
        """Those of them whose changes are known."""
        self._position = -1
        """How many changes there were at the last look; -1: there was none."""
        self._in_turn = False
        self._task: asyncio.Task[None] | None = None
        self._copying: asyncio.Task[None] | None = None

    @property
    def shadow(self) -> Shadow:
        if self._shadow is None:
            self._shadow = self._make_shadow()
        return self._shadow

    def turn_begins(self) -> None:
        self._in_turn = False

    async def command_begins(self, line: LineFacts) -> None:
        told = not self.off
        if line.destroys or not self.shadow.slow or not self._in_turn:
            await self._look()
        if self.off:
            if line.destroys and not told:
                self._tell(f"destroys {self._ended}", f"The project was not copied before this command: {self.off}.")
            return
        self._log().runs(True)
        self._active += 1

    def command_ended(self, *, later: bool) -> None:
        """``later``: its changes are looked at when the turn ends, or before the next command."""
        self._active = max(0, self._active - 1)
        self._ended += 1
        if not later and not self.off and not self.shadow.slow and self._task is None:
            self._task = asyncio.create_task(self._settle())
            self._task.add_done_callback(self._was_settled)

    async def settled(self) -> None:
        """Until everything that ended commands changed is known."""
        if self._task is not None:
            await asyncio.wait({self._task})
        if self._seen < self._ended or self._log().running:
            await self._settle()

    async def close(self) -> None:
        if self._copying is not None:
            self._copying.cancel()
        tasks = {t for t in (self._task, self._copying) if t is not None}
        if tasks:
            await asyncio.wait(tasks, timeout=CLOSE_WITHIN)
        left = [task for task in tasks if not task.done()]
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)

    async def _settle(self) -> None:
        while True:
            ended = self._ended
            await self._look()
            if ended == self._ended or self.off:
                break
        if self._active == 0:
            self._log().runs(False)

    def _was_settled(self, task: asyncio.Task[None]) -> None:
        self._task = None
        if not task.cancelled() and (error := task.exception()) is not None:
            self._tell("look", f"Looking at the project for /rewind failed: {error}")

    async def _look(self) -> None:
        async with self._lock:
            if self.off:
                self._seen = self._ended
                return
            if self.shadow.missing:
                self._give_up("git was not found")
                return
            log = self._log()
            own = self._active > 0 or self._seen < self._ended or log.running
            ended, position = self._ended, self._position
            self._position = len(log.changes)
            try:
                found = await self.shadow.look()
            except TooSlow as error:
                self._go_on_alone(str(error))
                return
            except GaveUp as error:
                self._give_up(str(error))
                return
            self._in_turn = True
            self._seen = ended
            for change in found if own else ():
                self._found(change, position)

    def _found(self, change: Change, position: int) -> None:
        """What the session noted of the file since the last look (of a process that was killed: at all) stands."""
        if position < 0 and self._log().left(change.path) == (True, change.after):
            return
        position = position if position >= 0 else len(self._log().changes)
        before = self._log().since(change.path, position, change.before)
        if before != change.after:
            self._log().found(Change(change.path, before, change.after))

    def _go_on_alone(self, reason: str) -> None:
        """Commands don't wait for a large project to be copied; it is copied beside them, and counts from then on."""
        self._stop(reason)
        self._tell(
            "slow",
            f"{reason[:1].upper()}{reason[1:]}; it goes on in the background. What shell commands change until then "
            "can't be taken back by /rewind. Files that edit tools change, or that a command names, can.",
        )
        self._copying = asyncio.create_task(self._copy())

    async def _copy(self) -> None:
        try:
            await self.shadow.look(patient=True)
        except GaveUp as error:
            self._give_up(str(error))
            return
        self.off = ""
        self._seen, self._position = self._ended, len(self._log().changes)

    def _stop(self, reason: str) -> None:
        self.off = reason
        self._seen = self._ended
        self._log().runs(False)

    def _give_up(self, reason: str) -> None:
        self._stop(reason)
        self._tell(
            "shadow",
            f"What shell commands change can't be taken back by /rewind in this session: {reason}. Files that edit "
            "tools change, or that a command names, still can.",
        )
