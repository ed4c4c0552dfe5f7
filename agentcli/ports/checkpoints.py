"""Between the engine, which says what is about to change files, and the room that keeps what they were."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from agentcli.ports.tools import ToolCall, Workspace

Step = Literal["created", "changed", "removed", "mode"]
"""What going back does to a file."""
Refusal = Literal["", "foreign", "between", "content", "place"]
"""Why a file stays as it is: somebody else changed it since; somebody else changed it between two changes of the
session; its old content was not kept (too big, unreadable, lost); another kind of thing stands in its way."""


@dataclass(frozen=True, slots=True)
class FileStep:
    """One file of a plan.  ``added`` and ``removed`` are lines (``None``: not a text)."""

    path: Path
    step: Step
    added: int | None = 0
    removed: int | None = 0
    refusal: Refusal = ""


@dataclass(frozen=True, slots=True)
class RewindPlan:
    """What going back would do, file by file; ``position`` is where it goes back to."""

    position: int
    steps: tuple[FileStep, ...] = ()

    @property
    def doing(self) -> tuple[FileStep, ...]:
        return tuple(s for s in self.steps if not s.refusal)

    @property
    def refused(self) -> tuple[FileStep, ...]:
        return tuple(s for s in self.steps if s.refusal)


@dataclass(frozen=True, slots=True)
class Rewound:
    """What was done: the files that were restored, and those that could not be, with the reason in words."""

    done: tuple[FileStep, ...] = ()
    failed: tuple[tuple[Path, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Point:
    """A place to go back to: before a turn (``prompt`` began it) or before an earlier restoring of files.

    ``message_id`` is the front end's name of the prompt (``Undo.name_turn``), ``time`` local (ISO 8601), ``files`` how
    many files the session has changed since.  ``in_conversation``: the prompt is still part of what is sent.
    """

    position: int
    kind: Literal["turn", "restore"]
    prompt: str
    time: str
    message_id: str = ""
    files: int = 0
    in_conversation: bool = True


@dataclass(frozen=True, slots=True)
class FileDifference:
    """What became of a file: a unified diff without its head (``lines``), ``added`` and ``removed`` lines.

    ``note`` says why there are no lines: a binary file, or one whose content was not kept.  ``mode`` is the change of
    the permission bits (octal), if there is one.  ``foreign``: somebody else changed it too.
    """

    path: Path
    step: Step
    lines: tuple[str, ...] = ()
    added: int | None = 0
    removed: int | None = 0
    note: Literal["", "binary", "content"] = ""
    mode: tuple[str, str] | None = None
    foreign: bool = False


class Checkpoints(Protocol):
    """The engine's side."""

    def around(self, call: ToolCall, paths: Sequence[Path], workspace: Workspace) -> AbstractAsyncContextManager[None]:
        """To be held while a call runs that may write: ``paths`` are those that its input names.  Never raises of its
        own, but for cancellation."""


class Undo(Protocol):
    """The front ends' side."""

    def points(self) -> tuple[Point, ...]:
        """Oldest first."""

    def name_turn(self, message_id: str) -> None:
        """Gives the latest turn the front end's name for its prompt, for ``Point.message_id``."""

    async def plan(self, position: int) -> RewindPlan:
        """What going back to a point would do now.  ``UserError`` for a position that is none."""

    async def restore(self, plan: RewindPlan) -> Rewound:
        """Does it, for every file that still is what the plan found.  Can itself be taken back."""

    async def differences(self, position: int | None = None) -> tuple[FileDifference, ...]:
        """What the files that the session changed since the point (or its beginning) were, against what they are."""
