"""Everything that one terminal holds: the live part, the sheet above it, the input with its history and chips."""

from __future__ import annotations

import time
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from prompt_toolkit.auto_suggest import DummyAutoSuggest
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.input import Input
from prompt_toolkit.key_binding.vi_state import InputMode
from prompt_toolkit.output.color_depth import ColorDepth
from prompt_toolkit.selection import SelectionType

from agentcli.i18n import Texts
from agentcli.ports.frontend import SessionStatus, UserInput
from agentcli.text import one_line
from agentcli.ui.terminal.capabilities import Capabilities
from agentcli.ui.terminal.device import FrameOutput
from agentcli.ui.terminal.input.chips import Chips
from agentcli.ui.terminal.input.complete import CommandEntry, InputCompleter, MentionEntry
from agentcli.ui.terminal.input.files import FileIndex
from agentcli.ui.terminal.input.history import PromptHistory
from agentcli.ui.terminal.input.keys import Actions, bindings
from agentcli.ui.terminal.layout import Parts, Stage, flatten, style, tail_of
from agentcli.ui.terminal.live import LiveApplication
from agentcli.ui.terminal.modal import ModalQueue
from agentcli.ui.terminal.output.glyphs import ASCII, UNICODE
from agentcli.ui.terminal.output.pen import Fragments, Pen
from agentcli.ui.terminal.output.sheet import Sheet
from agentcli.ui.terminal.preferences import Notify
from agentcli.ui.terminal.status import line, parts
from agentcli.ui.terminal.theme import theme
from agentcli.ui.terminal.view import View

HINT_SECONDS = 3.0
_VI_MODES = {InputMode.NAVIGATION: "NORMAL", InputMode.REPLACE: "REPLACE", InputMode.REPLACE_SINGLE: "REPLACE"}


@dataclass(frozen=True, slots=True, kw_only=True)
class TerminalOptions:
    """How the terminal is to look and where it keeps its history (``None``: nowhere).  ``now``: monotonic seconds."""

    theme: str = "dark"
    language: str = "en"
    vi: bool = False
    notify: Notify = "auto"
    history: Path | None = None
    root: Path = field(default_factory=Path.cwd)
    env: Mapping[str, str] = field(default_factory=dict)
    now: Callable[[], float] = time.monotonic


@dataclass(slots=True)
class Sources:
    """What the screen asks the rest for while it draws."""

    status: Callable[[], SessionStatus | None] = lambda: None
    commands: Callable[[], Sequence[CommandEntry]] = tuple
    mentions: Callable[[], Sequence[MentionEntry]] = tuple
    status_lines: Callable[[], list[Fragments]] | None = None
    """Takes the place of the built-in status line."""


class Screen:
    """Built before the session exists; ``sources`` are filled in when it does."""

    def __init__(
        self,
        options: TerminalOptions,
        capabilities: Capabilities,
        actions: Actions,
        *,
        input: Input,
        output: FrameOutput,
    ) -> None:
        self.options = options
        self.texts = Texts(options.language)
        self.glyphs = UNICODE if capabilities.unicode else ASCII
        self.sources = Sources()
        self.on_focus: Callable[[bool], None] | None = None
        self._capabilities = capabilities
        self._theme = theme(options.theme, color=capabilities.color is not None)
        self._hint: tuple[str, float] = ("", 0.0)
        self.chips = Chips(self.texts)
        self.files = FileIndex(options.root)
        self.modals = ModalQueue(self._modal_changed, now=options.now, draft=lambda: self.buffer.text)
        self.history = PromptHistory(options.history, self.chips, self._history_trouble)
        self.buffer = self._input_line()
        self.reason = Buffer(multiline=False)
        pen = Pen(self._theme, capabilities)
        sheet = Sheet(pen, self._print, lambda: output.get_size().columns)
        self.view = View(sheet, self.texts, self.glyphs, changed=self._changed, alert=self.alert, now=options.now)
        self.view.asking = self._asking
        self.stage = self._stage()
        self.app = LiveApplication(
            layout=self.stage.layout,
            bindings=bindings(actions, self.modals),
            style=style(self._theme),
            input=input,
            output=output,
            reflow=capabilities.reflow,
            busy=lambda: self.view.activity.moving or bool(self._hint[0]),
            regained=self.modals.seen_again,
        )
        if options.vi:
            from prompt_toolkit.enums import EditingMode

            self.app.editing_mode = EditingMode.VI

    def _input_line(self) -> Buffer:
        buffer = Buffer(
            multiline=True,
            history=self.history,
            completer=InputCompleter(self._commands, self.files, self._mentions),
            complete_while_typing=True,
            auto_suggest=DummyAutoSuggest(),
        )
        buffer.on_text_insert += lambda _: self.modals.typed()
        return buffer

    def _stage(self) -> Stage:
        return Stage(
            Parts(
                buffer=self.buffer,
                reason=self.reason,
                chips=self.chips,
                glyphs=self.glyphs,
                modals=self.modals,
                live=self._live,
                status=self._status,
                status_rows=self._status_rows,
                keys_hint=self._keys_hint,
            )
        )

    def rows(self) -> int:
        """The window's height."""
        return self.app.output.get_size().rows

    def size(self) -> tuple[int, int]:
        """Columns and rows."""
        found = self.app.output.get_size()
        return found.columns, found.rows

    def vim_mode(self) -> str:
        """The input line's mode as vi names it; empty where it is not edited like vi."""
        if not self.options.vi:
            return ""
        if self.buffer.selection_state is not None:
            return "VISUAL LINE" if self.buffer.selection_state.type == SelectionType.LINES else "VISUAL"
        return _VI_MODES.get(self.app.vi_state.input_mode, "INSERT")

    def put_back(self, prompt: UserInput) -> None:
        """Puts a message into the input line, in front of what stands there."""
        marks = "".join(self.chips.image(block) for block in prompt.attachments)
        text = marks + self.chips.pasted(prompt.text)
        self.buffer.cursor_position = 0
        self.buffer.insert_text(f"{text}\n" if self.buffer.text else text)
        self.buffer.cursor_position = len(self.buffer.text)

    def hint(self, text: str) -> None:
        """Says something in place of the status line for a moment."""
        self._hint = (text, time.monotonic() + HINT_SECONDS)
        self._changed()

    def _commands(self) -> Sequence[CommandEntry]:
        return self.sources.commands()

    def _mentions(self) -> Sequence[MentionEntry]:
        return self.sources.mentions()

    def _print(self, ansi: str) -> None:
        self.app.print_above(ansi)

    def _changed(self) -> None:
        self.app.refresh()

    def _asking(self) -> bool:
        return self.modals.current is not None and self.modals.current.sudden

    def _modal_changed(self) -> None:
        self.stage.focus()
        self.app.invalidate()

    def _keys_hint(self, width: int) -> list[Fragments]:
        """What the keys do, and the draft where something was typed since the question came."""
        modal = self.modals.current
        if modal is None or not modal.disturbed:
            several = modal is not None and modal.marked is not None
            return [[("class:dim", self.texts("dialog.keys.several" if several else "dialog.keys"))]]
        lines: list[Fragments] = [[("class:warning", self.texts("dialog.typed"))]]
        draft = one_line(self.chips.shown(self.buffer.text), 10_000)
        if draft:
            lines.append([("class:dim", "  " + self.glyphs.prompt + " " + tail_of(draft, width - 5))])
        return lines

    def _history_trouble(self, text: str) -> None:
        self.view.note(self.texts("history.trouble", error=text), "warning")

    def _live(self, width: int, height: int) -> list[Fragments]:
        return self.view.live(width, height)

    def _status(self, width: int) -> StyleAndTextTuples:
        hint, until = self._hint
        if hint and time.monotonic() < until:
            return [("class:warning", hint[:width])]
        self._hint = ("", 0.0)
        if self.sources.status_lines is not None:
            return flatten(self.sources.status_lines())
        status = self.sources.status()
        if status is None:
            return [("class:dim", self.texts("status.starting"))]
        return line(parts(status, self.texts, self.glyphs), width, self.glyphs)

    def _status_rows(self) -> int:
        lines = self.sources.status_lines
        return 1 if lines is None else max(1, len(lines()))

    def alert(self, text: str) -> None:
        """Rings; where the terminal can show notifications it gets one."""
        output, wanted = self.app.device, self.options.notify
        if wanted == "none":
            return
        if self._capabilities.notices and wanted == "auto":
            output.write_raw(f"\x1b]9;{text}\x07")
        output.bell()
        output.flush()

    def copy(self, text: str) -> None:
        """Puts the text on the clipboard by way of the terminal (OSC 52; it may refuse silently)."""
        self.app.device.write_raw(f"\x1b]52;c;{b64encode(text.encode('utf-8', 'replace')).decode()}\x07")
        self.app.device.flush()
        self.hint(self.texts("copied", count=f"{len(text):,}"))

    def watch_focus(self, listener: Callable[[bool], None] | None) -> None:
        """Has the terminal say whether its window has the focus, where somebody wants to know (``None``: nobody)."""
        self.on_focus = listener
        self.app.device.report_focus(listener is not None)

    def use_theme(self, name: str) -> None:
        """Changes the colours of everything that is drawn from now on."""
        self._theme = theme(name, color=self._capabilities.color is not None)
        self.view.sheet.pen = Pen(self._theme, self._capabilities)
        self.app.style = style(self._theme)
        self.app.invalidate()

    def title(self, text: str) -> None:
        """The window's title; empty gives it back."""
        if self.options.env.get("CLAUDE_CODE_DISABLE_TERMINAL_TITLE"):
            return
        self.app.device.set_title(text)
        self.app.device.flush()


def color_depth(capabilities: Capabilities) -> ColorDepth:
    if capabilities.color is None:
        return ColorDepth.DEPTH_1_BIT
    return {
        "standard": ColorDepth.DEPTH_4_BIT,
        "256": ColorDepth.DEPTH_8_BIT,
        "truecolor": ColorDepth.DEPTH_24_BIT,
    }[capabilities.color]
