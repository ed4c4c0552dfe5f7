"""Pieces of an answer as renderables.  rich.markdown and pygments are loaded at the first use."""

from __future__ import annotations

from copy import copy
from functools import lru_cache
from typing import Any, ClassVar

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.segment import Segment
from rich.text import Text

from agentcli.ports.display import GRID
from agentcli.ui.terminal.output.blocks import BlockSplitter, Piece
from agentcli.ui.terminal.output.pen import safe
from agentcli.ui.terminal.output.records import fits, records
from agentcli.ui.terminal.theme import AGENT_COLORS, Theme

CONTEXT_LINES = 40
"""Lines of a fence in front of a piece that are highlighted with it, so that a string over several lines keeps its
colour."""
_HUES = tuple(AGENT_COLORS)


class Trimmed:
    """A renderable without the blank lines around it; spacing is decided between pieces."""

    def __init__(self, inner: RenderableType) -> None:
        self._inner = inner

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        lines = console.render_lines(self._inner, options, pad=False)
        while lines and _blank(lines[0]):
            lines.pop(0)
        while lines and _blank(lines[-1]):
            lines.pop()
        for line in lines:
            yield from line
            yield Segment.line()


def _blank(line: list[Segment]) -> bool:
    return not any(segment.text.strip() for segment in line)


class MarkdownRenderer:
    """Turns pieces into renderables, one after the other (a fence's later pieces need what stood before)."""

    def __init__(self, theme: Theme, *, links: bool = False) -> None:
        self._theme = theme
        self._links = links
        self._before: list[str] = []

    def render(self, piece: Piece, *, final: bool = True) -> RenderableType:
        """``final=False`` draws without remembering: for what is still being written."""
        if piece.kind != "code":
            return Trimmed(_markdown(safe(piece.text), self._theme.code, self._links))
        return self._code(piece, final)

    def _code(self, piece: Piece, final: bool) -> RenderableType:
        if piece.language == GRID:
            return Group(*map(_signs, safe(piece.text).split("\n")))
        lines = safe(piece.text).expandtabs(4).split("\n")
        before = [] if piece.first else self._before
        shown = _highlight("\n".join([*before, *lines]), piece.language, self._theme.code)[len(before) :]
        if final:
            self._before = [*before, *lines][-CONTEXT_LINES:]
        label = [Text(f"┄ {piece.language}", style="dim")] if piece.first and piece.language else []
        return Group(*label, *shown)


def whole(text: str, theme: Theme, *, links: bool = False) -> list[tuple[Piece, RenderableType]]:
    """A complete Markdown text, piece by piece."""
    splitter, renderer = BlockSplitter(), MarkdownRenderer(theme, links=links)
    return [(piece, renderer.render(piece)) for piece in [*splitter.feed(text), *splitter.finish()]]


def _signs(line: str) -> Text:
    """A line of ``/context``'s grid: each sign in a colour of its own, so that hue only adds to the shape."""
    text = Text()
    for sign in line:
        look = "dim" if sign in "·×" else f"agent_{_HUES[ord(sign) % len(_HUES)]}"
        text.append(sign, style=look)
    return text


def _highlight(code: str, language: str, style: str) -> list[Text]:
    """The code's lines, coloured; without a known language plain."""
    lines = code.split("\n")
    lexer = _lexer(language) if language and len(code) <= 200_000 else None
    if lexer is None:
        return [Text(line) for line in lines]
    from rich.syntax import Syntax

    found = list(Syntax("", lexer, theme=style).highlight(code).split("\n"))
    while len(found) < len(lines):
        found.append(Text(""))
    for text in found:
        text.end = "\n"
        text.no_wrap = None
    return found[: len(lines)]


@lru_cache(maxsize=32)
def _lexer(language: str) -> Any:
    """The language's lexer, ``None`` for an unknown one (finding it costs more than lexing a few lines)."""
    from rich.syntax import Syntax

    return Syntax("", language, tab_size=4).lexer


def _markdown(source: str, code_theme: str, links: bool) -> RenderableType:
    blank, parser = _machinery()
    made = copy(blank)
    made.markup, made.parsed = source, parser.parse(source)
    made.code_theme = made.inline_code_theme = code_theme
    made.hyperlinks = links
    for token in made.parsed:
        for child in token.children or ():
            if child.type == "image":
                child.content = f"[{child.content or 'image'}: {child.attrs.get('src', '')}]"
                child.type, child.tag, child.children = "text", "", None
    renderable: RenderableType = made
    return renderable


def _dotted_item() -> Any:
    """An item of a numbered list whose number has its dot."""
    from rich import markdown as m

    class DottedItem(m.ListItem):
        def render_number(
            self, console: Console, options: ConsoleOptions, number: int, last_number: int
        ) -> RenderResult:
            head = f"{number}. ".rjust(len(str(last_number)) + 3)
            style = console.get_style("markdown.item.number", default="none")
            inner = options.update(width=options.max_width - len(head))
            for row, line in enumerate(console.render_lines(self.elements, inner, style=self.style)):
                yield Segment(" " * len(head) if row else head, style)
                yield from line
                yield Segment.line()

    return DottedItem


@lru_cache(maxsize=1)
def _machinery() -> tuple[Any, Any]:
    """An empty rich Markdown of our kind, to be copied, and its parser (making either anew for each block would cost
    more than drawing it).  Raw HTML is text here: an answer may speak of ``Vec<T>``."""
    from markdown_it import MarkdownIt
    from rich import markdown as m

    class LeftHeading(m.Heading):
        LEVEL_ALIGN: ClassVar[dict[str, Any]] = {}

    class PlainCode(m.CodeBlock):
        def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
            yield from _highlight(str(self.text).rstrip("\n"), self.lexer_name, self.theme)

    class ThinRule(m.HorizontalRule):
        def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
            yield Text("─" * min(options.max_width, 40), style="dim")

    class FittingTable(m.TableElement):
        def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
            header = self.header.row if self.header is not None else None
            heads = [cell.content for cell in header.cells] if header is not None else []
            rows = [[cell.content for cell in row.cells] for row in self.body.rows] if self.body is not None else []
            if fits(heads, rows, options.max_width):
                yield from super().__rich_console__(console, options)
            else:
                yield from records(heads, rows, options.max_width)

    class OurMarkdown(m.Markdown):
        elements: ClassVar[dict[str, Any]] = {
            **m.Markdown.elements,
            "heading_open": LeftHeading,
            "fence": PlainCode,
            "code_block": PlainCode,
            "hr": ThinRule,
            "list_item_open": _dotted_item(),
            "table_open": FittingTable,
        }

    return OurMarkdown(""), MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])


def preload() -> None:
    """Loads what Markdown needs (55 ms of CPU): call it when nobody waits."""
    _machinery()
    _highlight("x = 1", "python", "ansi_dark")
