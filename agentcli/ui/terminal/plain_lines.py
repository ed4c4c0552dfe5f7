"""Lines in, lines out: reading, drawing and asking where the terminal obeys no control sequence."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TextIO

from agentcli.events import (
    AttemptDiscarded,
    Event,
    FromSubagent,
    Notice,
    RetryScheduled,
    TextDelta,
    ToolFinished,
    ToolStarted,
    TurnFinished,
)
from agentcli.i18n import Texts
from agentcli.ports.frontend import Choice
from agentcli.ports.tools import Question
from agentcli.text import clean, one_line
from agentcli.ui.terminal.output.activity import retry_words
from agentcli.ui.terminal.output.glyphs import ASCII
from agentcli.ui.terminal.output.pen import safe
from agentcli.ui.terminal.output.tools import CallPainter
from agentcli.ui.terminal.trust import listing, outside_listing

if TYPE_CHECKING:
    from agentcli.memory import Outside
    from agentcli.runtime.trusting import TrustQuestion


class Lines:
    """Reads lines in a thread, as they come; writes text that holds no control sequence."""

    def __init__(self, source: TextIO, sink: TextIO) -> None:
        self._source = source
        self._sink = sink
        self._read: asyncio.Queue[str | None] = asyncio.Queue()
        self._ended = False
        loop = asyncio.get_running_loop()
        threading.Thread(target=self._reader, args=(loop,), name="standard input", daemon=True).start()

    def _reader(self, loop: asyncio.AbstractEventLoop) -> None:
        while True:
            try:
                line = self._source.readline()
            except (OSError, ValueError):  # the terminal is gone, or the stream was closed
                line = ""
            try:
                loop.call_soon_threadsafe(self._read.put_nowait, line or None)
            except RuntimeError:  # the loop is closed: nobody listens any more
                return
            if not line:
                return

    async def ask(self, prompt: str) -> str | None:
        """The next line without its end; ``None`` at the end of the input."""
        self.write(prompt)
        line = None if self._ended else await self._read.get()
        self._ended = line is None
        return None if line is None else clean(line.rstrip("\r\n"))

    def write(self, text: str) -> None:
        data = safe(text)
        encoding = self._sink.encoding or "ascii"
        self._sink.write(data.encode(encoding, "replace").decode(encoding))
        self._sink.flush()


class PlainView:
    """Draws events as lines."""

    def __init__(self, lines: Lines, texts: Texts) -> None:
        self._lines = lines
        self._texts = texts
        self._painter = CallPainter(ASCII, texts)
        self._open = False

    def line(self, text: str) -> None:
        self._lines.write(("\n" if self._open else "") + text + "\n")
        self._open = False

    def handle(self, event: Event) -> None:
        """Most events are for screens that redraw; a line-oriented one shows what is final."""
        match event:
            case TextDelta(text):
                self._lines.write(text)
                self._open = not text.endswith("\n")
            case ToolStarted(name=name, title=title):
                self.line(f"> {name} {one_line(safe(title))}")
            case ToolFinished():
                for row in self._painter.finished(event):
                    self.line(row.plain)
            case AttemptDiscarded(reason):
                self.line(self._texts("stream.discarded", reason=one_line(reason)))
            case RetryScheduled(delay=delay):
                self.line(retry_words(event, self._texts, f"{delay:.0f} s"))
            case Notice(text=text):
                self.line(text)
            case FromSubagent(event=Notice(text=text)):
                self.line(text)
            case TurnFinished():
                self._finish(event)
            case _:
                pass

    def _finish(self, event: TurnFinished) -> None:
        if event.outcome != "completed":
            key = "turn.interrupted" if event.outcome == "interrupted" else f"outcome.{event.outcome}"
            words = self._texts(key)
            self.line(f"{words}: {event.error}" if event.error else words)
        elif self._open:
            self.line("")


class PlainDialogs:
    """``ports.frontend.Dialogs`` by numbers."""

    def __init__(self, lines: Lines, view: PlainView, texts: Texts) -> None:
        self._lines = lines
        self._view = view
        self._texts = texts

    async def pick(self, title: str, labels: Sequence[str]) -> int | None:
        if title:
            self._view.line(title)
        for number, label in enumerate(labels, 1):
            self._view.line(f"  {number}. {label}")
        while True:
            line = await self._lines.ask(self._texts("plain.number", count=len(labels)) + " ")
            if line is None or not line.strip():
                return None
            if line.strip().isdecimal() and 1 <= int(line) <= len(labels):
                return int(line) - 1

    async def choose(self, title: str, choices: Sequence[Choice], *, current: str | None = None) -> str | None:
        labels = [f"{c.label}  {c.description}".rstrip() for c in choices]
        picked = await self.pick(title, labels) if choices else None
        return None if picked is None else choices[picked].value

    async def confirm(self, question: str, *, detail: str = "") -> bool:
        words = f"{question}\n{detail}" if detail else question
        return await self.pick(words, [self._texts("dialog.yes"), self._texts("dialog.no")]) == 0

    async def edit(self, text: str, *, suffix: str = ".md") -> str | None:
        """An editor needs a terminal that it can draw on."""
        return None

    async def show(self, text: str) -> None:
        self._view.line(text)

    async def trust(self, question: TrustQuestion) -> bool:
        """No is the default."""
        t = self._texts
        self._view.line(f"{t('trust.title')}\n  {question.project.key}\n  {t('trust.brings')}")
        for line in listing(question, t):
            self._view.line(f"    {line}")
        return await self.pick("", [t("trust.no"), t("trust.yes")]) == 1

    async def outside(self, files: Sequence[Outside]) -> bool | None:
        """Whether memory files from elsewhere may be loaded; ``None`` leaves it open."""
        t = self._texts
        self._view.line(f"{t('outside.title')}\n  {t('outside.why')}")
        for line in outside_listing(files, t):
            self._view.line(f"    {line}")
        picked = await self.pick("", [t("outside.no"), t("outside.yes")])
        return None if picked is None else picked == 1

    async def ask(self, questions: Sequence[Question]) -> Mapping[str, Any]:
        """``ports.tools.Questioner``: numbers choose (several, with commas between them, where that is offered), any
        other text is an answer of its own, an empty line none."""
        replies: dict[str, Any] = {}
        for question in questions:
            if question.about:
                self._view.line(safe(question.about))
            self._view.line(f"{question.header}: {question.question}")
            for number, (label, about) in enumerate(question.options, 1):
                self._view.line(f"  {number}. {label}  {about}".rstrip())
            key = "plain.numbers" if question.multiple else "plain.answer"
            line = await self._lines.ask(self._texts(key, count=len(question.options)) + " ")
            replies[question.question] = _reply(question, (line or "").strip())
        return replies


def _reply(question: Question, line: str) -> str | list[str]:
    words = [w.strip() for w in line.split(",")] if question.multiple else [line]
    known = {str(n): label for n, (label, _) in enumerate(question.options, 1)}
    if question.multiple:
        return [known[w] for w in words] if all(w in known for w in words) else [line] if line else []
    return known.get(line, line)
