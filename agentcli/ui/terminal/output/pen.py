"""Renderables to lines: as ANSI text for the scrollback, as fragments for the live part.  One pipeline for both."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TypeAlias

from rich.cells import cell_len
from rich.color import Color, ColorSystem, ColorType
from rich.console import Console, RenderableType
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from rich.theme import Theme as RichTheme

from agentcli.text import strip_ansi
from agentcli.ui.terminal.capabilities import Capabilities
from agentcli.ui.terminal.theme import SHAPES, Theme

Fragments: TypeAlias = list[tuple[str, str]]
"""One line for prompt_toolkit: (style, text)."""

MIN_WIDTH = 10
"""Narrower windows get lines of this width, which the terminal wraps or clips."""
UNWRAPPED = 1_000_000
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_SGR = re.compile(r"(\x1b\[[0-9;]*m)")
_SYSTEMS = {"standard": ColorSystem.STANDARD, "256": ColorSystem.EIGHT_BIT, "truecolor": ColorSystem.TRUECOLOR}
_ANSI_NAMES = (
    *("ansiblack", "ansired", "ansigreen", "ansiyellow", "ansiblue", "ansimagenta", "ansicyan", "ansigray"),
    *("ansibrightblack", "ansibrightred", "ansibrightgreen", "ansibrightyellow"),
    *("ansibrightblue", "ansibrightmagenta", "ansibrightcyan", "ansiwhite"),
)
_MARKDOWN_LOOKS = {
    "markdown.code": "code",
    "markdown.h1": "heading1",
    "markdown.h2": "heading",
    "markdown.h3": "heading",
    "markdown.h4": "heading",
    "markdown.h5": "heading",
    "markdown.h6": "heading",
    "markdown.h7": "heading",
    "markdown.block_quote": "quote",
    "markdown.item.bullet": "accent",
    "markdown.item.number": "accent",
    "markdown.link": "link",
    "markdown.link_url": "link",
    "markdown.hr": "dim",
    "markdown.table.border": "dim",
    "markdown.table.header": "accent",
}


def safe(text: str) -> str:
    """Text of a model or a tool without anything that a terminal would obey: escape sequences and controls are out,
    line ends and tabs stay."""
    if "\x1b" in text:
        text = strip_ansi(text)
    text = text.replace("\r\n", "\n")
    return _CONTROL.sub("", text) if _CONTROL.search(text) else text


def sgr_only(text: str) -> str:
    """Text with its colours and shapes, without anything else that a terminal would obey."""
    parts = _SGR.split(text)
    return "".join(part if number % 2 else safe(part) for number, part in enumerate(parts))


class Pen:
    """Draws with one theme and one set of colours.  Widths are in terminal cells."""

    def __init__(self, theme: Theme, capabilities: Capabilities) -> None:
        self.theme = theme
        self.links = capabilities.links
        self._system = _SYSTEMS[capabilities.color] if capabilities.color and theme.name != "none" else None
        styles = {look: theme.rich(look) for look in SHAPES}
        styles.update({name: theme.rich(look) for name, look in _MARKDOWN_LOOKS.items()})
        self._console = Console(
            force_terminal=True,
            legacy_windows=False,
            color_system=capabilities.color,
            no_color=self._system is None,
            markup=False,
            highlight=False,
            emoji=False,
            soft_wrap=False,
            theme=RichTheme(styles),
            width=80,
            _environ={},
        )

    def segments(self, renderable: RenderableType, width: int, *, wrap: bool = True) -> list[list[Segment]]:
        """The renderable as lines of segments, blanks at line ends removed.  ``wrap=False`` keeps long lines whole, so
        that the terminal wraps them and copying gives one line."""
        options = self._console.options.update(width=max(width, MIN_WIDTH), height=None)
        if not wrap:
            options = options.update(width=UNWRAPPED, no_wrap=True, overflow="ignore")
        return [_trim(line) for line in self._console.render_lines(renderable, options, pad=False)]

    def ansi(self, renderable: RenderableType, width: int, *, wrap: bool = True) -> str:
        """Text for the scrollback; every line ends in a newline."""
        return "".join(self._line(line) + "\n" for line in self.segments(renderable, width, wrap=wrap))

    def _line(self, line: list[Segment]) -> str:
        out = []
        for segment in line:
            style = segment.style
            if style and self._system is None:
                style = style.without_color
            if style and self.links is False and style.link:
                style = style.update_link(None)
            if style:
                shapes = ColorSystem.STANDARD if self._system is None else self._system
                out.append(style.render(segment.text, color_system=shapes, legacy_windows=False))
            else:
                out.append(segment.text)
        return "".join(out)

    def fragments(self, renderable: RenderableType, width: int) -> list[Fragments]:
        """Lines for the live part."""
        return [
            [(_ptk(s.style, self._system is not None), s.text) for s in line]
            for line in self.segments(renderable, width)
        ]

    def text(self, text: str, look: str = "") -> Text:
        return Text(text, style=look)


def cut(text: str, width: int) -> str:
    """The text on at most ``width`` cells, with an ellipsis where it was longer."""
    if cell_len(text) <= width:
        return text
    shown = Text(text)
    shown.truncate(max(width, 1), overflow="ellipsis")
    return shown.plain


def _trim(line: list[Segment]) -> list[Segment]:
    kept = [s for s in line if s.text and not s.control]
    while kept:
        last = kept[-1]
        if last.style and (last.style.bgcolor or last.style.reverse or last.style.underline):
            break
        text = last.text.rstrip(" \n")
        if text:
            kept[-1] = Segment(text, last.style)
            break
        kept.pop()
    return kept


@lru_cache(maxsize=512)
def _ptk(style: Style | None, color: bool) -> str:
    """A rich style as a prompt_toolkit style string."""
    if style is None:
        return ""
    words = [
        *(["bold"] if style.bold else []),
        *(["dim"] if style.dim else []),
        *(["italic"] if style.italic else []),
        *(["underline"] if style.underline else []),
        *(["strike"] if style.strike else []),
        *(["reverse"] if style.reverse else []),
    ]
    if color and style.color and not style.color.is_default:
        words.append("fg:" + _color(style.color))
    if color and style.bgcolor and not style.bgcolor.is_default:
        words.append("bg:" + _color(style.bgcolor))
    return " ".join(words)


def _color(color: Color) -> str:
    if color.type == ColorType.STANDARD and color.number is not None:
        return _ANSI_NAMES[color.number]
    return color.get_truecolor().hex
