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
        self._streamed = self._shown = False

    def begin(self) -> None:
        """A new answer begins."""
        self.flush()
        self._renderer = MarkdownRenderer(self._sheet.pen.theme, links=self._sheet.pen.links)
        self._streamed = self._shown = False

    def feed(self, text: str) -> None:
        self._streamed = True
        for piece in self._splitter.feed(text):
            self._put(piece)

    def flush(self) -> None:
        """The text is over for now (a tool call follows, the turn ends): the tail is put on the sheet too."""
        for piece in self._splitter.finish():
            self._put(piece)

    def complete(self, text: str) -> None:
        """The answer's whole text is known: it is shown here unless it was streamed before."""
        if not self._streamed:
            self.feed(text)
        self.flush()

    def discard(self) -> bool:
        """The answer is void.  True when a part of it stands on the sheet already."""
        shown, self._streamed, self._shown = self._shown, False, False
        self._splitter = BlockSplitter()
        return shown

    def _put(self, piece: Piece) -> None:
        self._shown = True
        self._sheet.put(self._renderer.render(piece), "text", spaced=piece.spaced, wrap=piece.kind != "code")

    def tail(self, width: int, height: int) -> list[Fragments]:
        """The unfinished block, at most ``height`` lines of its end."""
        piece = self._splitter.tail
        if piece is None or height <= 0:
            return []
        if self._drawn is None or self._drawn[:2] != (piece, width):
            self._drawn = (piece, width, self._draw(piece, width))
        return self._drawn[2][-height:]

    @property
    def tail_spaced(self) -> bool:
        """Whether a blank line belongs in front of the tail."""
        piece = self._splitter.tail
        return piece is None or self._sheet.gap("text", spaced=piece.spaced)

    def _draw(self, piece: Piece, width: int) -> list[Fragments]:
        pen = self._sheet.pen
        if len(piece.text) > TAIL_SOURCE:
            return pen.fragments(Text(safe(piece.text[-TAIL_SOURCE // 3 :])), width)
        return pen.fragments(self._renderer.render(piece, final=False), width)
