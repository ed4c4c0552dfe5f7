"""Questions in the live part: one at a time, the others wait in line.  Answered by digit, arrows, Enter or Esc.

A question that comes by itself may come while the person types.  What is typed then is text for the input line, never
an answer: Enter counts once the question has stood for a moment with nothing typed, a digit once the typing paused.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from agentcli.ui.terminal.output.pen import Fragments

STOOD_SECONDS = 0.4
"""A question that came by itself has to stand so long before Enter answers it."""
FLOW_SECONDS = 0.7
"""Within this time after a typed character the next key belongs to the same text."""
Body = Callable[[int, int], list[Fragments]]
"""Lines above the options, for a width and a height."""


@dataclass(frozen=True, slots=True)
class Option:
    """``asks`` is the prompt of a line of text that choosing this option asks for (empty: none)."""

    value: str
    label: str
    asks: str = ""


@dataclass(frozen=True, slots=True)
class Picked:
    """``value`` of the option; ``text`` what was typed where it asked for something; ``hard`` for Ctrl+C; ``values``
    those of the marked options where several may be taken."""

    value: str | None
    text: str = ""
    hard: bool = False
    values: tuple[str, ...] = ()


@dataclass(slots=True, eq=False)
class Modal:
    """``escape`` is the value that Esc stands for; ``None`` gives the question up without one."""

    body: Body
    options: Sequence[Option]
    escape: str | None = None
    selected: int = 0
    asking: Option | None = None
    done: asyncio.Future[Picked] = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    before: Callable[[], None] | None = None
    """Called once when the question comes up (prints what is too long for the live part)."""
    marked: set[int] | None = None
    """Options that are taken so far, where several may be; ``None``: only one."""
    sudden: bool = False
    """It comes by itself, not because the person asked for it."""
    shown: float = 0.0
    guarded: bool = False
    """It came into typing, or at once behind another question: a digit has to wait too."""
    disturbed: bool = False
    """Something was typed since it came up: Enter needs an arrow key first."""


class ModalQueue:
    """``changed`` is called when another question is shown, or none.  ``now`` gives monotonic seconds, ``draft`` what
    stands in the input line."""

    def __init__(
        self,
        changed: Callable[[], None],
        *,
        now: Callable[[], float] = time.monotonic,
        draft: Callable[[], str] = str,
    ) -> None:
        self._modals: list[Modal] = []
        self._changed = changed
        self._now = now
        self._draft = draft
        self._typed = float("-inf")

    @property
    def current(self) -> Modal | None:
        return self._modals[0] if self._modals else None

    @property
    def waiting(self) -> int:
        """Questions behind the one that is shown."""
        return max(0, len(self._modals) - 1)

    async def ask(self, modal: Modal) -> Picked:
        """Shows the question when its turn comes and returns the answer.  Cancelled, it disappears."""
        self._modals.append(modal)
        if len(self._modals) == 1:
            self._show()
        try:
            return await modal.done
        finally:
            self.remove(modal)

    def remove(self, modal: Modal) -> None:
        """Takes the question away, wherever it stands; an unanswered one counts as given up."""
        if modal not in self._modals:
            return
        shown = self._modals[0] is modal
        self._modals.remove(modal)
        if not modal.done.done():
            modal.done.set_result(Picked(None))
        if shown:
            self._show(follows=True)

    def _show(self, *, follows: bool = False) -> None:
        current = self.current
        if current:
            current.shown = self._now()
            current.guarded = current.guarded or follows or bool(self._draft()) or self._in_flow()
        if current and current.before:
            before, current.before = current.before, None
            before()
        self._changed()

    def seen_again(self) -> None:
        """The terminal was lent to another program: the question is seen only now."""
        if self.current:
            self.current.shown, self.current.guarded = self._now(), True

    def typed(self) -> None:
        """A character came into the input line."""
        self._typed = self._now()

    def sent(self) -> None:
        """The typing ended with a message: what comes next is not a part of it."""
        self._typed = float("-inf")

    def _in_flow(self) -> bool:
        return self._now() - self._typed < FLOW_SECONDS

    def answerable(self, *, digit: bool = False) -> bool:
        """Whether Enter (a digit) answers the question now."""
        modal = self.current
        if modal is None or not modal.sudden:
            return modal is not None
        stood = self._now() - modal.shown >= STOOD_SECONDS
        if digit:
            return not self._in_flow() and (stood or not modal.guarded)
        return stood and not modal.disturbed and not self._in_flow()

    def disturb(self) -> bool:
        """A key that is no answer.  True where it is text for the input line; false where it means nothing."""
        modal = self.current
        if modal is None or not modal.sudden:
            return False
        modal.disturbed = True
        return True

    def move(self, step: Literal[-1, 1]) -> None:
        if self.current:
            self.current.disturbed = False
            self.current.selected = (self.current.selected + step) % len(self.current.options)

    def pick(self, index: int | None = None) -> None:
        """Takes the option at ``index``, by default the selected one."""
        modal = self.current
        if modal is None:
            return
        index = modal.selected if index is None else index
        if index >= len(modal.options):
            return
        modal.selected = index
        option = modal.options[index]
        if option.asks:
            modal.asking = option
            self._changed()
        elif modal.marked is not None:
            self._finish(modal, Picked(option.value, values=_marked(modal) or (option.value,)))
        else:
            self._finish(modal, Picked(option.value))

    def mark(self, index: int | None = None) -> None:
        """Takes the option among those that are marked, or out of them; where only one can be taken, ``pick``."""
        modal = self.current
        if modal is None:
            return
        index = modal.selected if index is None else index
        if index >= len(modal.options):
            return
        if modal.marked is None or modal.options[index].asks:
            self.pick(index)
            return
        modal.selected = index
        modal.marked ^= {index}

    def type(self, text: str) -> None:
        """The line of text that the chosen option asked for."""
        modal = self.current
        if modal and modal.asking:
            self._finish(modal, Picked(modal.asking.value, text, values=_marked(modal)))

    def escape(self, *, hard: bool = False) -> None:
        modal = self.current
        if modal is None:
            return
        option = next((o for o in modal.options if o.value == modal.escape), None)
        if option and option.asks and not modal.asking and not hard:
            self.pick(modal.options.index(option))
        else:
            self._finish(modal, Picked(modal.escape, hard=hard))

    def _finish(self, modal: Modal, picked: Picked) -> None:
        if not modal.done.done():
            modal.done.set_result(picked)
        self.remove(modal)


def _marked(modal: Modal) -> tuple[str, ...]:
    return tuple(modal.options[n].value for n in sorted(modal.marked or ()))
