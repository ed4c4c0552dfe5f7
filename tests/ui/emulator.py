"""A terminal emulator for tests: pyte's screen with a scrollback that behaves like a plain (not re-flowing) xterm."""

from __future__ import annotations

from collections.abc import Callable

import pyte


class Emulator(pyte.Screen):
    """Screen, cursor and scrollback.  ``answer`` receives what the terminal itself sends back (cursor reports)."""

    def __init__(self, columns: int = 80, rows: int = 24, *, answer: Callable[[str], None] | None = None) -> None:
        self.scrollback: list[str] = []
        self._answer = answer
        self._shown: str | None = None
        super().__init__(columns, rows)
        self._stream = pyte.Stream(self)

    def feed(self, text: str) -> None:
        self._shown = None
        self._stream.feed(text)

    def write_process_input(self, data: str) -> None:
        if self._answer:
            self._answer(data)

    def index(self) -> None:
        top, bottom = self.margins or (0, self.lines - 1)
        if self.cursor.y == bottom and top == 0:
            self.scrollback.append(self._row(0))
        super().index()

    def resize(self, lines: int | None = None, columns: int | None = None) -> None:
        """Shrinking first gives up blank rows below the cursor, then pushes rows into the scrollback."""
        self._shown = None
        rows = lines or self.lines
        while self.cursor.y >= rows:
            self.scrollback.append(self._row(0))
            y, x = self.cursor.y, self.cursor.x
            self.cursor_position(1, 1)
            self.delete_lines(1)
            self.cursor.y, self.cursor.x = y - 1, x
        for y in range(rows, self.lines):
            self.buffer.pop(y, None)
        self.lines = rows
        self.margins = None
        super().resize(rows, columns or self.columns)
        self.cursor.x = min(self.cursor.x, self.columns - 1)

    def _row(self, y: int) -> str:
        return "".join(self.buffer[y][x].data for x in range(self.columns)).rstrip()

    def screen(self) -> str:
        """The visible rows without trailing blanks; blank rows at the end left out."""
        if self._shown is None:
            self._shown = self._visible()
        return self._shown

    def _visible(self) -> str:
        rows = [self._row(y) for y in range(self.lines)]
        while rows and not rows[-1]:
            rows.pop()
        return "\n".join(rows)

    def everything(self) -> str:
        """Scrollback and screen."""
        return "\n".join([*self.scrollback, self.screen()])

    def caret(self) -> tuple[int, int]:
        """(row, column) of the terminal's own cursor."""
        return self.cursor.y, self.cursor.x

    def styled(self) -> str:
        """The screen with ``{colour,bold|text}`` around what is not plain, for goldens of colour."""
        out = []
        for y in range(self.lines):
            row, last = [], ""
            for x in range(self.columns):
                cell = self.buffer[y][x]
                look = ",".join(
                    [cell.fg] * (cell.fg != "default")
                    + [f"on {cell.bg}"] * (cell.bg != "default")
                    + [n for n in ("bold", "italics", "underscore", "reverse", "strikethrough") if getattr(cell, n)]
                )
                if look != last:
                    row.append(("}" if last else "") + (f"{{{look}|" if look else ""))
                    last = look
                row.append(cell.data)
            out.append("".join(row).rstrip() + ("}" if last else ""))
        while out and not out[-1]:
            out.pop()
        return "\n".join(out)
