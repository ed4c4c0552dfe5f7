"""The terminal as an output device: whole frames in one write each, and no errors when it disappears."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TextIO

from prompt_toolkit.data_structures import Size
from prompt_toolkit.output.color_depth import ColorDepth
from prompt_toolkit.output.vt100 import Vt100_Output

_BEGIN, _END = "\x1b[?2026h", "\x1b[?2026l"
"""Synchronised output: terminals that know it show the frame at once, the others ignore it."""
_FOCUS = {True: "\x1b[?1004h", False: "\x1b[?1004l"}
"""Reports of the window's focus, on and off."""


class FrameOutput(Vt100_Output):
    """Inside ``frame()`` nothing is written; at its end everything is, in one write.

    ``gone`` turns true when the terminal no longer takes anything (hang-up); from then on output is dropped.
    """

    def __init__(self, stdout: TextIO, get_size: Callable[[], Size], term: str, depth: ColorDepth) -> None:
        super().__init__(stdout, get_size, term=term, default_color_depth=depth, enable_cpr=False)
        self._frames = 0
        self._focus = self._ours = False
        self.gone = False

    def flush(self) -> None:
        if self._frames:
            return
        try:
            super().flush()
        except (OSError, ValueError):
            # The file descriptor is dead or closed: there is nobody left to show anything to.
            self._buffer.clear()
            if not self.gone:
                self.gone = True
                _lead_to_nowhere(self.stdout)

    def report_focus(self, wanted: bool) -> None:
        """Whether the terminal is to report that its window gains or loses the focus, while it is ours."""
        if wanted != self._focus and self._ours:
            self.write_raw(_FOCUS[wanted])
            self.flush()
        self._focus = wanted

    # Bracketed paste goes on where the terminal becomes ours and off where it is handed on: the reports go with it.

    def enable_bracketed_paste(self) -> None:
        super().enable_bracketed_paste()
        self._ours = True
        if self._focus:
            self.write_raw(_FOCUS[True])

    def disable_bracketed_paste(self) -> None:
        super().disable_bracketed_paste()
        if self._focus and self._ours:
            self.write_raw(_FOCUS[False])
        self._ours = False

    def erase_down(self) -> None:
        """Erases from the cursor to the end of the screen.  Never with one sequence from the top left corner: some
        multiplexers take that for clearing the whole screen, and copy what stood there into the scrollback."""
        self.write_raw("\x1b7\x1b[K\x1b[B\x1b[J\x1b8")

    @contextmanager
    def frame(self) -> Iterator[None]:
        if not self._frames:
            self.write_raw(_BEGIN)
        self._frames += 1
        try:
            yield
        finally:
            self._frames -= 1
            if not self._frames:
                self.write_raw(_END)
                self.flush()


def _lead_to_nowhere(stream: TextIO) -> None:
    """What the stream still holds must not fail again when the interpreter ends (it would change the exit code)."""
    with suppress(OSError, ValueError):  # no file descriptor, or none that is open
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stream.fileno())
        os.close(null)


def terminal_size(descriptor: int) -> Size:
    """Rows and columns; 24 and 80 where the terminal says nothing or zero."""
    try:
        found = os.get_terminal_size(descriptor)
    except (OSError, ValueError):
        return Size(rows=24, columns=80)
    return Size(rows=found.lines or 24, columns=found.columns or 80)
