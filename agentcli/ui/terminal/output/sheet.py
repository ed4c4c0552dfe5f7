"""The growing sheet above the live part: what is put on it is the terminal's from then on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from rich.console import RenderableType

from agentcli.ui.terminal.output.pen import Pen

Kind = Literal["text", "user", "tool", "note"]


class Sheet:
    """Spaces what is put on it: a blank line between things of different kinds and where ``spaced`` asks for one.

    ``write`` takes ANSI text whose lines are all ended; ``width`` is asked at each call, so that a resize counts from
    the next line on.
    """

    def __init__(self, pen: Pen, write: Callable[[str], None], width: Callable[[], int]) -> None:
        self.pen = pen
        self._write = write
        self.width = width
        self._last: Kind | None = None

    def put(self, renderable: RenderableType, kind: Kind, *, spaced: bool = True, wrap: bool = True) -> None:
        ansi = self.pen.ansi(renderable, self.width(), wrap=wrap)
        gap = self.gap(kind, spaced=spaced)
        self._last = kind
        self._write("\n" + ansi if gap else ansi)

    def gap(self, kind: Kind, *, spaced: bool) -> bool:
        """Whether a blank line would stand in front of such a thing."""
        return self._last is not None and (spaced or kind != self._last)
