"""The room's door: what is about to change is kept, what changed is noted, and all of it can be taken back."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TYPE_CHECKING

from agentcli.checkpoints.around import Around, Nothing
from agentcli.checkpoints.commandline import facts
from agentcli.checkpoints.log import Log, Mark
from agentcli.checkpoints.looking import Looking
from agentcli.checkpoints.objects import Objects
from agentcli.checkpoints.state import Change
from agentcli.errors import UserError
from agentcli.events import Emit, Notice
from agentcli.files import target_of
from agentcli.ports.checkpoints import FileDifference, Point, RewindPlan, Rewound
from agentcli.ports.sessions import Clock
from agentcli.ports.tools import ToolCall, Workspace

if TYPE_CHECKING:
    from agentcli.checkpoints.shadow import Shadow

SHELL = "Bash"
PROMPT = 500
"""Characters of a prompt that are kept with its mark."""
LOG, STORE = "log.jsonl", "store"
MEANWHILE = "somebody else changed it meanwhile"


class CheckpointRoom:
    """One per session; subagents share it (``ports.checkpoints.Checkpoints`` and ``Undo``).

    ``folder`` is where everything is kept (made with the first change), ``make_shadow`` gives the repository below it;
    ``own`` is the directory whose files are the session's own business.  ``enabled`` is asked at each call.
    """

    def __init__(
        self,
        folder: Callable[[], Path],
        make_shadow: Callable[[Path], Shadow],
        *,
        emit: Emit,
        clock: Clock,
        own: Callable[[], Path],
        enabled: Callable[[], bool] = lambda: True,
    ) -> None:
        self._make_shadow = make_shadow
        self._emit = emit
        self._clock = clock
        self._own = own
        self._enabled = enabled
        self._told: set[str] = set()
        self._restoring = asyncio.Lock()
        self._folder = folder
        self._log: Log | None = None
        self._looking = self._new_looking()

    # --- the engine's side --------------------------------------------------------------------------------------------

    def turn_begins(self, prompt: str) -> None:
        self._looking.turn_begins()
        self._kept(lambda: self.log.mark("turn", self._now(), prompt.strip()[:PROMPT]))

    async def turn_ended(self) -> None:
        """Waits until what the turn's commands changed is known."""
        await self._settled()

    def around(self, call: ToolCall, paths: Sequence[Path], workspace: Workspace) -> AbstractAsyncContextManager[None]:
        if not self._enabled():
            return Nothing()
        command = call.input.get("command")
        line = facts(command, workspace.cwd) if call.name == SHELL and isinstance(command, str) else None
        if line is not None and line.reads:
            return Nothing()
        named = (self._real(path) for path in (*paths, *(line.files if line else ())))
        return Around(
            self.log,
            self.objects,
            self._looking,
            self._failed,
            [path for path in named if path is not None],
            line,
            background=bool(call.input.get("run_in_background")),
        )

    @property
    def waiting(self) -> str:
        """Why commands are not covered (yet): the project is still being copied, or can't be; empty otherwise."""
        return self._looking.off

    async def begin_anew(self, folder: Callable[[], Path]) -> None:
        """A new conversation: its changes are kept in another folder."""
        await self.close()
        self._folder = folder
        self._log = None
        self._looking = self._new_looking()

    async def close(self) -> None:
        await self._looking.close()
        if self._log is not None:
            self._log.close()

    # --- the front ends' side -----------------------------------------------------------------------------------------

    def points(self) -> tuple[Point, ...]:
        log = self.log
        seen: set[Path] = set()
        found: list[Point] = []
        end = len(log.changes)
        for number, mark in reversed(list(enumerate(log.marks))):
            seen.update(c.path for c in log.changes[mark.first : end])
            end = min(end, mark.first)
            found.append(_point(number, mark, len(seen)))
        return tuple(reversed(found))

    def name_turn(self, message_id: str) -> None:
        self._kept(lambda: self.log.name(message_id))

    def conversation_cut(self, position: int) -> None:
        """The conversation went back to a point: the turns since are no longer in it."""
        self._kept(lambda: self.log.cut(position))

    async def plan(self, position: int) -> RewindPlan:
        from agentcli.checkpoints.plan import targets

        await self._settled()
        found = await asyncio.to_thread(targets, self._changes(position), self.objects)
        return RewindPlan(position, tuple(t.step for t in found))

    async def restore(self, plan: RewindPlan) -> Rewound:
        from agentcli.checkpoints.plan import targets
        from agentcli.checkpoints.restore import restore

        async with self._restoring:
            await self._settled()
            agreed = {s.path for s in plan.doing}
            found = await asyncio.to_thread(targets, self._changes(plan.position), self.objects)
            wanted = [t for t in found if t.step.path in agreed and not t.step.refusal]
            changed = tuple((p, MEANWHILE) for p in sorted(agreed - {t.step.path for t in wanted}))
            if not wanted:
                return Rewound((), changed)
            try:
                self.log.mark("restore", self._now())
                done = await asyncio.to_thread(restore, wanted, self.log, self.objects, self._looking.shadow.root)
            except OSError as error:
                raise UserError(f"Nothing can be restored: {error.strerror or error} ({self.log.path})") from error
            return Rewound(done.done, (*done.failed, *changed))

    async def differences(self, position: int | None = None) -> tuple[FileDifference, ...]:
        from agentcli.checkpoints.plan import differences

        await self._settled()
        changes = self.log.changes if position is None else self._changes(position)
        return await asyncio.to_thread(lambda: tuple(differences(changes, self.objects)))

    # --- inside -------------------------------------------------------------------------------------------------------

    @property
    def log(self) -> Log:
        """What was noted, by earlier processes too; read when it is first needed."""
        if self._log is None:
            self._log = Log.load(self._folder() / LOG)
        return self._log

    @property
    def objects(self) -> Objects:
        return Objects(self._folder() / STORE / "objects")

    def _new_looking(self) -> Looking:
        return Looking(lambda: self.log, lambda: self._make_shadow(self._folder() / STORE), self._tell)

    async def _settled(self) -> None:
        try:
            await self._looking.settled()
        except OSError as error:
            self._failed(error)

    def _changes(self, position: int) -> list[Change]:
        marks = self.log.marks
        if not 0 <= position < len(marks):
            raise UserError(f"There is no checkpoint {position}; there are {len(marks)}, counted from 0.")
        return self.log.changes[marks[position].first :]

    def _real(self, path: Path) -> Path | None:
        """The file that is meant, links followed; ``None`` for what is the session's own business."""
        try:
            real = target_of(path)
        except (OSError, ValueError):  # no name that a file can have: the call says so
            return None
        return None if real.is_relative_to(self._own()) else real

    def _now(self) -> str:
        return self._clock.now().isoformat(timespec="seconds")

    def _kept(self, write: Callable[[], object]) -> None:
        if not self._enabled():
            return
        try:
            write()
        except OSError as error:
            self._failed(error)

    def _failed(self, error: OSError) -> None:
        where = error.filename or self.log.path
        self._tell("store", f"Changes of files can't be kept for /rewind: {error.strerror or error} ({where})")

    def _tell(self, what: str, text: str) -> None:
        if what not in self._told:
            self._told.add(what)
            self._emit(Notice("warning", text, "checkpoints"))


def _point(number: int, mark: Mark, files: int) -> Point:
    return Point(number, mark.kind, mark.prompt, mark.time, mark.message_id, files, mark.live)
