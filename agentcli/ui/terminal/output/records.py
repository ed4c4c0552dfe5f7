"""Tables that are too wide for the terminal, row by row: a line for what the row is about, its values below."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.cells import cell_len
from rich.padding import Padding
from rich.text import Text

GAP = 2
"""Cells beside each column."""
INDENT = 2


def fits(heads: Sequence[Text], rows: Sequence[Sequence[Text]], width: int) -> bool:
    """Whether every column can be as wide as its longest word."""
    need = 0
    for number in range(len(heads)):
        cells = [heads[number], *(row[number] for row in rows if number < len(row))]
        need += max((cell_len(word) for cell in cells for word in cell.plain.split()), default=0) + GAP
    return need <= width


def records(heads: Sequence[Text], rows: Sequence[Sequence[Text]], width: int) -> Iterator[Text | Padding]:
    """The rows one below the other.  Cells without a value are left out; a name stays on one line with its value."""
    for row in rows:
        named = [(h, c) for h, c in zip(heads, row, strict=False) if c.plain.strip()]
        if not named:
            continue
        (head, first), rest = named[0], named[1:]
        yield Text.assemble(head.plain, " " if head.plain else "", first, style="bold")
        for line in _packed([_pair(h, c) for h, c in rest], width - INDENT - 1):
            yield Padding(line, (0, 0, 0, INDENT), expand=False)


def _packed(pairs: Sequence[Text], width: int) -> Iterator[Text]:
    """As many on a line as fit; one that is too long alone is wrapped."""
    line = Text()
    for pair in pairs:
        longer = Text.assemble(line, ", ", pair) if line else pair
        if line and longer.cell_len > width:
            yield Text.assemble(line, ",")
            longer = pair
        line = longer
    if line:
        yield line


def _pair(head: Text, cell: Text) -> Text:
    return Text.assemble((f"{head.plain} " if head.plain else "", "dim"), cell)
