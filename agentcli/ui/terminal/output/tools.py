"""Tool calls: one line that becomes its result, and what of the result is worth a look."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import assert_never

from rich.text import Text

from agentcli.events import ToolFinished
from agentcli.i18n import Texts
from agentcli.ports.display import CommandDisplay, DiffDisplay, Display, TextDisplay, Todo, TodoDisplay
from agentcli.text import cluster_start, collapse_progress, one_line
from agentcli.ui.terminal.output.diff import compare, draw
from agentcli.ui.terminal.output.glyphs import Glyphs
from agentcli.ui.terminal.output.pen import safe

OUTPUT_LINES = 4
"""Lines of a command's output that stay visible (its end)."""
ERROR_LINES = 6
DIFF_LINES = 40
TITLE_WIDTH = 100
LINE_WIDTH = 400
"""Characters of one line of output."""


@dataclass(slots=True)
class RunningCall:
    """A call between its start and its result.  ``last`` is the last line of its live output."""

    tool_use_id: str
    name: str
    title: str
    since: float
    last: str = ""
    _partial: str = field(default="", repr=False)

    def output(self, text: str) -> None:
        lines = (self._partial + text).split("\n")
        self._partial = lines[-1][-2_000:]
        for line in reversed(lines):
            shown = one_line(safe(collapse_progress(line)))
            if shown:
                self.last = shown
                break


class CallPainter:
    """Draws calls with one set of glyphs and texts."""

    def __init__(self, glyphs: Glyphs, texts: Texts) -> None:
        self._glyphs = glyphs
        self._texts = texts
        self.root = ""
        """Paths below this directory are shown relative to it."""

    def title(self, text: str) -> str:
        """A call's telling argument on one line."""
        short = text.removeprefix(self.root + "/") if self.root else text
        return one_line(safe(short), TITLE_WIDTH)

    def running(self, call: RunningCall, now: float, frame: int, *, prefix: str = "") -> Text:
        text = Text(no_wrap=True, overflow="ellipsis")
        text.append(prefix + self._glyphs.spinner[frame % len(self._glyphs.spinner)] + " ", style="accent")
        text.append(call.name, style="tool").append(f" {self.title(call.title)}")
        text.append(f" {self._glyphs.dot} {seconds(now - call.since)}", style="dim")
        if call.last:
            text.append(f" {self._glyphs.dot} {call.last}", style="dim")
        return text

    def finished(self, event: ToolFinished, *, prefix: str = "") -> list[Text]:
        """The line that stays, and below it what is shown of the result."""
        sign, look = self._sign(event)
        line = Text(no_wrap=True, overflow="ellipsis")
        line.append(f"{prefix}{sign} ", style=look).append(event.name, style="tool")
        if event.title:
            line.append(f" {self.title(event.title)}")
        for part in (self._outcome(event), seconds(event.duration) if event.duration >= 0.05 else ""):
            if part:
                line.append(f" {self._glyphs.dot} {part}", style="dim")
        return [line, *(Text("  " + prefix).append_text(t) for t in self._detail(event))]

    def _sign(self, event: ToolFinished) -> tuple[str, str]:
        if event.denied:
            return self._glyphs.denied, "warning"
        if event.interrupted:
            return self._glyphs.stopped, "warning"
        return (self._glyphs.failed, "error") if event.is_error else (self._glyphs.ok, "ok")

    def _outcome(self, event: ToolFinished) -> str:
        if event.denied:
            return self._texts("tool.denied")
        if event.interrupted:
            return self._texts("tool.interrupted")
        display = event.display
        match display:
            case TextDisplay(summary):
                return one_line(safe(summary))
            case DiffDisplay(summary=summary):
                diff = compare(display.before, display.after)
                return one_line(safe(summary)) or f"+{diff.added} -{diff.removed}"
            case CommandDisplay(exit_code=code, summary=summary):
                return one_line(safe(summary)) or (self._texts("tool.exit", code=code) if code else "")
            case TodoDisplay(todos):
                return f"{sum(t.status == 'completed' for t in todos)}/{len(todos)}"
            case _:
                assert_never(display)

    def _detail(self, event: ToolFinished) -> list[Text]:
        if event.denied:
            return self._head(event.display.detail, ERROR_LINES) if isinstance(event.display, TextDisplay) else []
        match event.display:
            case TextDisplay(_, detail):
                return self._head(detail, ERROR_LINES) if event.is_error else []
            case DiffDisplay():
                return self.diff(event.display, limit=DIFF_LINES)
            case CommandDisplay(output=output):
                return self._tail(output, ERROR_LINES if event.is_error else OUTPUT_LINES)
            case TodoDisplay(todos):
                return todo_lines(todos, self._glyphs)
            case _:
                assert_never(event.display)

    def diff(self, display: DiffDisplay, *, limit: int | None) -> list[Text]:
        diff = compare(display.before, display.after)
        return draw(diff, limit=limit, more=self._texts("diff.more"))

    def preview(self, display: Display, *, limit: int | None = None) -> list[Text]:
        """What a permission dialog shows: all of it (``limit`` lines at most, the rest counted)."""
        match display:
            case DiffDisplay():
                return self.diff(display, limit=limit)
            case CommandDisplay(command=command):
                return self._head(command, limit, look="code")
            case TextDisplay(summary, detail):
                return self._head(detail or summary, limit)
            case TodoDisplay(todos):
                return todo_lines(todos, self._glyphs)
            case _:
                assert_never(display)

    def _head(self, text: str, limit: int | None, *, look: str = "dim") -> list[Text]:
        lines = safe(collapse_progress(text)).rstrip("\n").split("\n") if text.strip() else []
        if limit is None or len(lines) <= limit + 1:
            return [Text(line, style=look) for line in lines]
        more = self._texts("tool.more", count=len(lines) - limit)
        return [*(Text(line, style=look) for line in lines[:limit]), Text(more, style="dim")]

    def _short(self, line: str) -> Text:
        """A line of output: what has no end is for the whole transcript (Ctrl+O), not for the screen."""
        shown = line if len(line) <= LINE_WIDTH else f"{line[: cluster_start(line, LINE_WIDTH)]}…"
        return Text(shown, style="dim")

    def _tail(self, text: str, limit: int) -> list[Text]:
        lines = [line for line in safe(collapse_progress(text)).rstrip("\n").split("\n") if line.strip()]
        if len(lines) <= limit + 1:
            return [self._short(line) for line in lines]
        more = self._texts("tool.earlier", count=len(lines) - limit)
        return [Text(more, style="dim"), *(self._short(line) for line in lines[-limit:])]


def todo_lines(todos: Sequence[Todo], glyphs: Glyphs) -> list[Text]:
    signs = {"pending": glyphs.pending, "in_progress": glyphs.active, "completed": glyphs.done}
    looks = {"pending": "", "in_progress": "accent", "completed": "dim"}
    lines = []
    for todo in todos:
        words = todo.active_form if todo.status == "in_progress" and todo.active_form else todo.content
        lines.append(Text(f"{signs[todo.status]} {one_line(safe(words))}", style=looks[todo.status]))
    return lines


def seconds(value: float) -> str:
    """``0.4 s``, ``12 s``, ``3 m 05 s``, ``2 h 04 m``."""
    if value < 10:
        return f"{max(value, 0):.1f} s"
    whole = int(value)
    if whole < 60:
        return f"{whole} s"
    return f"{whole // 60} m {whole % 60:02} s" if whole < 3600 else f"{whole // 3600} h {whole % 3600 // 60:02} m"
