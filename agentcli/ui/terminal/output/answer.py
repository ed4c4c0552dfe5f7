"""The model's text on its way to the sheet: finished blocks are put there, the tail stays live."""

from __future__ import annotations

from rich.text import Text

from agentcli.ui.terminal.output.blocks import BlockSplitter, Piece
from agentcli.ui.terminal.output.markdown import MarkdownRenderer
from agentcli.ui.terminal.output.pen import Fragments, safe
from agentcli.ui.terminal.output.sheet import Sheet

TAIL_SOURCE = 6_000
"""Characters of an unfinished block that are drawn as Markdown; of a longer one only its end is shown, as it is."""


class AnswerStream:
    def __init__(self, sheet: Sheet) -> None:
        self._sheet = sheet
        self._renderer = MarkdownRenderer(sheet.pen.theme, links=sheet.pen.links)
        self._splitter = BlockSplitter()
        self._drawn: tuple[Piece, int, list[Fragments]] | None = None
        self.started = False

    def feed(self, text: str) -> None:
        self.started = True
        for piece in self._splitter.feed(text):
            self._put(piece)

    def flush(self) -> None:
        """The text is over (a tool call follows, the turn ends): the tail is put on the sheet too."""
        for piece in self._splitter.finish():
            self._put(piece)
        self.started = False

    def discard(self) -> None:
        """The text that is not on the sheet yet is void."""
        self._splitter = BlockSplitter()
        self.started = False

    def _put(self, piece: Piece) -> None:
        self._sheet.put(self._renderer.render(piece), "text", spaced=piece.spaced, wrap=piece.kind != "code")

    def tail(self, width: int, height: int) -> list[Fragments]:
        """The unfinished block, at most ``height`` lines of its end."""
        piece = self._splitter.tail
        if piece is None or height <= 0:
            return []
        if self._drawn is None or self._drawn[:2] != (piece, width):
            self._drawn = (piece, width, self._draw(piece, width))
        return self._drawn[2][-height:]

    def _draw(self, piece: Piece, width: int) -> list[Fragments]:
        pen = self._sheet.pen
        if len(piece.text) > TAIL_SOURCE:
            return pen.fragments(Text(safe(piece.text[-TAIL_SOURCE // 3 :])), width)
        return pen.fragments(self._renderer.render(piece, final=False), width)
