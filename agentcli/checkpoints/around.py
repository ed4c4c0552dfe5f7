"""What is done before and after one call that may write."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from agentcli.checkpoints.commandline import LineFacts
from agentcli.checkpoints.log import Log
from agentcli.checkpoints.looking import Looking
from agentcli.checkpoints.objects import Objects
from agentcli.checkpoints.state import Change, FileState, read_state


@dataclass(frozen=True, slots=True)
class Copied:
    """A file in front of a call: what it was, and how many changes there were then."""

    path: Path
    state: FileState | None
    position: int


class Nothing:
    """A call that changes no file."""

    async def __aenter__(self) -> None:
        return None

    async def __aexit__(self, *_: object) -> None:
        return None


@dataclass(slots=True)
class Around:
    """``paths`` are real files, ``line`` the shell line if it is one.  ``failed`` is told what can't be stored."""

    log: Log
    objects: Objects
    looking: Looking
    failed: Callable[[OSError], None]
    paths: Sequence[Path]
    line: LineFacts | None = None
    background: bool = False
    _copied: list[Copied] | None = None
    _running: bool = False

    async def __aenter__(self) -> None:
        self._copied = []
        try:
            for path in dict.fromkeys(self.paths):
                self._copied.append(await asyncio.to_thread(self._copy, path))
            if self.line is not None:
                await self.looking.command_begins(self.line)
                self._running = True
        except OSError as error:
            self.failed(error)
        except BaseException:
            self._note()
            raise

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._note()
        if self._running:
            self.looking.command_ended(later=self.background or isinstance(error, asyncio.CancelledError))

    def _copy(self, path: Path) -> Copied:
        state, data = read_state(path)
        position = len(self.log.changes)
        if data is not None and not self._known(path, state):
            self.objects.write(data)
        self.log.before(path, state)
        return Copied(path, state, position)

    def _known(self, path: Path, state: FileState | None) -> bool:
        """Whether this is what the session itself made of the file in this turn: nobody goes back there."""
        turn = self.log.marks[-1].first if self.log.marks else 0
        return self.log.touched_since(path, turn) and self.log.left(path) == (True, state)

    def _note(self) -> None:
        copied, self._copied = self._copied or [], None
        try:
            for file in copied:
                before = self.log.since(file.path, file.position, file.state)
                self.log.after(Change(file.path, before, read_state(file.path)[0]))
        except OSError as error:
            self.failed(error)
