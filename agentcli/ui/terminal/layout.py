"""What stands where in the live part: what goes on, a question or the input line, the menu, the status line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from prompt_toolkit.application import get_app
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.data_structures import Point
from prompt_toolkit.filters import Condition
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.layout import (
    BufferControl,
    ConditionalContainer,
    Dimension,
    FormattedTextControl,
    HSplit,
    Layout,
    Window,
)
from prompt_toolkit.styles import Style
from prompt_toolkit.utils import get_cwidth
from prompt_toolkit.widgets import SearchToolbar

from agentcli.ui.terminal.input.chips import ChipProcessor, Chips
from agentcli.ui.terminal.modal import Modal, ModalQueue
from agentcli.ui.terminal.output.glyphs import Glyphs
from agentcli.ui.terminal.output.pen import Fragments
from agentcli.ui.terminal.theme import SHAPES, Theme

MENU_ROWS = 8
SMALL_ROWS = 5
"""A window with fewer rows shows the input line and nothing else."""


@dataclass(slots=True)
class Parts:
    """What the layout draws; the callables are asked at each drawing with (width, height)."""

    buffer: Buffer
    reason: Buffer
    chips: Chips
    glyphs: Glyphs
    modals: ModalQueue
    live: Callable[[int, int], list[Fragments]]
    status: Callable[[int], StyleAndTextTuples]
    status_rows: Callable[[], int]
    keys_hint: Callable[[int], list[Fragments]]


class Stage:
    """The layout and the windows that can have the focus."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        search = SearchToolbar()
        self.input = Window(
            BufferControl(
                parts.buffer,
                input_processors=[ChipProcessor(parts.chips)],
                search_buffer_control=search.control,
                preview_search=True,
            ),
            get_line_prefix=self._prefix,
            wrap_lines=True,
            dont_extend_height=True,
            height=lambda: Dimension(min=1, max=max(1, _rows() // 2)),
        )
        self.reason = Window(
            BufferControl(parts.reason),
            get_line_prefix=self._reason_prefix,
            wrap_lines=True,
            dont_extend_height=True,
            height=lambda: Dimension(min=1, max=5),
        )
        self.question = Window(
            FormattedTextControl(self._question, focusable=True, show_cursor=True, get_cursor_position=self._pointer),
            wrap_lines=False,
            dont_extend_height=True,
        )
        roomy = Condition(lambda: _rows() >= SMALL_ROWS)
        asking = Condition(lambda: parts.modals.current is not None)
        typing = Condition(lambda: bool(parts.modals.current and parts.modals.current.asking))
        live = Window(FormattedTextControl(self._live), wrap_lines=False, dont_extend_height=True)
        menu = Window(FormattedTextControl(self._menu), wrap_lines=False, dont_extend_height=True)
        status = Window(
            FormattedTextControl(self._status), wrap_lines=False, dont_extend_height=True, height=parts.status_rows
        )
        self.layout = Layout(
            HSplit(
                [
                    ConditionalContainer(live, roomy),
                    ConditionalContainer(self.question, asking),
                    ConditionalContainer(self.reason, typing),
                    ConditionalContainer(self.input, ~asking),
                    search,
                    ConditionalContainer(menu, roomy & ~asking & Condition(lambda: bool(parts.buffer.complete_state))),
                    ConditionalContainer(status, roomy),
                    Window(),
                ]
            ),
            focused_element=self.input,
        )

    def focus(self) -> None:
        """Gives the focus to what can be answered now."""
        modal = self._parts.modals.current
        target = self.input if modal is None else self.reason if modal.asking else self.question
        if modal is None or not modal.asking:
            self._parts.reason.reset()
        self.layout.focus(target)

    def _prefix(self, line: int, wrapped: int) -> StyleAndTextTuples:
        first = line == 0 and wrapped == 0
        return [("class:accent", f"{self._parts.glyphs.prompt} " if first else "  ")]

    def _reason_prefix(self, line: int, wrapped: int) -> StyleAndTextTuples:
        modal = self._parts.modals.current
        words = modal.asking.asks if modal and modal.asking else ""
        return [("class:accent", f"  {words} " if line == 0 and wrapped == 0 else "  ")]

    def _live(self) -> StyleAndTextTuples:
        rows, width = _rows(), _columns()
        modal = self._parts.modals.current
        if modal:
            body, options = self._sheet_of(modal)
            used = len(body) + sum(len(lines) for lines in options) + max(1, len(self._hint_of(modal))) + 1
        else:
            used = 1 + (MENU_ROWS if self._parts.buffer.complete_state else 0)
            used += min(self._parts.buffer.document.line_count, max(1, rows // 2))
        lines = self._parts.live(width, max(0, rows - used - self._parts.status_rows()))
        return flatten([*lines, *([[]] if len(lines) > 1 else [])])

    def _status(self) -> StyleAndTextTuples:
        return self._parts.status(_columns() - 1)

    def _menu(self) -> StyleAndTextTuples:
        state = self._parts.buffer.complete_state
        if state is None:
            return []
        at = state.complete_index
        start = max(0, min((at or 0) - MENU_ROWS // 2, len(state.completions) - MENU_ROWS))
        shown = state.completions[start : start + MENU_ROWS]
        name_width = min(max((get_cwidth(c.display_text) for c in shown), default=0), max(10, _columns() * 2 // 3))
        rows: list[Fragments] = []
        for number, completion in enumerate(shown, start):
            chosen = number == at
            name = _fit(completion.display_text, name_width)
            meta = _fit(completion.display_meta_text, _columns() - name_width - 6).rstrip()
            mark = f"{self._parts.glyphs.pointer} " if chosen else "  "
            rows.append([("class:selected" if chosen else "", f"{mark}{name}"), ("class:dim", f"  {meta}")])
        return flatten(rows)

    def _question(self) -> StyleAndTextTuples:
        modal = self._parts.modals.current
        if modal is None:
            return []
        body, options = self._sheet_of(modal)
        return flatten([*body, *(line for option in options for line in option), *self._hint_of(modal)])

    def _hint_of(self, modal: Modal) -> list[Fragments]:
        return [] if modal.asking else self._parts.keys_hint(_columns())

    def _sheet_of(self, modal: Modal) -> tuple[list[Fragments], list[list[Fragments]]]:
        """The lines above the options, cut where the window is too low for them, and the lines of each option."""
        width, rows = _columns(), _rows()
        options = [self._option(modal, number, width) for number in range(len(modal.options))]
        others = sum(len(lines) for lines in options) + max(1, len(self._hint_of(modal))) + self._parts.status_rows()
        room = max(1, rows - others - 1)
        return modal.body(width, rows)[:room], options

    def _option(self, modal: Modal, number: int, width: int) -> list[Fragments]:
        """An option whole, wrapped under its number: it says exactly what it does."""
        chosen = number == modal.selected
        mark = self._parts.glyphs.pointer if chosen else " "
        digit = f"{number + 1}." if number < 9 else "  "
        box = "" if modal.marked is None or modal.options[number].asks else self._box(number in modal.marked)
        rows = wrap(box + modal.options[number].label, max(8, width - 6))
        heads = [f"{mark} {digit} ", *["     "] * (len(rows) - 1)]
        return [[("class:selected" if chosen else "", head + row)] for head, row in zip(heads, rows, strict=True)]

    def _box(self, marked: bool) -> str:
        return f"{self._parts.glyphs.done if marked else self._parts.glyphs.pending} "

    def _pointer(self) -> Point:
        """The terminal's own cursor stands on the chosen option, where magnifiers and screen readers look."""
        modal = self._parts.modals.current
        if modal is None:
            return Point(0, 0)
        body, options = self._sheet_of(modal)
        return Point(0, len(body) + sum(len(lines) for lines in options[: modal.selected]))


def tail_of(text: str, width: int) -> str:
    """The end of the text on at most ``width`` cells, with an ellipsis where its beginning is missing."""
    if get_cwidth(text) <= width:
        return text
    while text and get_cwidth(text) > width - 1:
        text = text[1:]
    return "…" + text


def wrap(text: str, width: int) -> list[str]:
    """The text in rows of at most ``width`` cells, broken at blanks where there are any."""
    rows, row = [], ""
    for word in text.split(" "):
        joined = f"{row} {word}" if row else word
        if get_cwidth(joined) <= width:
            row = joined
            continue
        if row:
            rows.append(row)
        row = word
        while get_cwidth(row) > width:
            head = _fit(row, width).rstrip()
            rows.append(head)
            row = row[len(head) :]
    return [*rows, row]


def flatten(lines: list[Fragments]) -> StyleAndTextTuples:
    out: StyleAndTextTuples = []
    for number, line in enumerate(lines):
        if number:
            out.append(("", "\n"))
        out += line
    return out


def style(theme: Theme) -> Style:
    """The theme's looks as prompt_toolkit classes; nothing of its default looks remains where they would colour."""
    rules = {look: theme.ptk(look) for look in SHAPES if look != "plain"}
    return Style.from_dict(
        {**rules, "search": "noinherit", "search-toolbar": "noinherit", "bottom-toolbar": "noinherit"}
    )


def _fit(text: str, width: int) -> str:
    """The text padded or cut to exactly ``width`` cells."""
    out, used = [], 0
    for character in text.replace("\n", " "):
        cells = get_cwidth(character)
        if used + cells > width:
            break
        out.append(character)
        used += cells
    return "".join(out) + " " * (width - used)


def _rows() -> int:
    return get_app().output.get_size().rows


def _columns() -> int:
    return get_app().output.get_size().columns
