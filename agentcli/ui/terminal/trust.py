"""What a project wants that its files may not do unasked: settings that act, memory files from elsewhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.console import Group
from rich.padding import Padding
from rich.text import Text

from agentcli.i18n import Texts
from agentcli.runtime.trusting import TrustQuestion
from agentcli.settings.bring import Brought
from agentcli.ui.terminal.modal import Modal, Option, Picked
from agentcli.ui.terminal.output.pen import Fragments, safe
from agentcli.ui.terminal.screen import Screen

if TYPE_CHECKING:
    from agentcli.memory import AskOutside, Outside

AskTrust = Callable[[TrustQuestion], Awaitable[bool | None]]
"""Asks the person; ``None`` when they would rather leave."""
YES, NO = "yes", "no"
OTHER_ROWS = 12
"""Rows of the dialog that are not the list."""


async def settle_trust(question: TrustQuestion, ask: AskTrust, texts: Texts) -> tuple[bool | None, str]:
    """Asks and keeps a yes.  The answer, and a line that says what follows from it (empty: nothing to say)."""
    answer = await ask(question)
    if answer:
        why = question.accept()
        return True, texts("trust.session", why=why) if why else ""
    return answer, texts("trust.without", things=summary(question, texts)) if answer is False else ""


def summary(question: TrustQuestion, texts: Texts) -> str:
    """How many of each kind: ``hook ×2, MCP server ×1``."""
    counts = Counter(_kind(b, texts) for b in question.brought)
    return ", ".join(f"{kind} ×{count}" for kind, count in counts.items())


def _kind(brought: Brought, texts: Texts) -> str:
    return texts.optional(f"brought.{brought.kind}", brought.kind)


def listing(question: TrustQuestion, texts: Texts) -> list[str]:
    """Everything that would be brought, by the file that brings it."""
    lines: list[str] = []
    for path in dict.fromkeys(b.path for b in question.brought):
        lines.append(safe(path).replace("\n", " "))
        lines += [f"  {_kind(b, texts)}: {safe(b.text)}" for b in question.brought if b.path == path]
    return lines


def trust_dialog(screen: Screen) -> AskTrust:
    """Asks in the live part; no is the answer that Enter and Esc give, Ctrl+C leaves."""

    async def ask(question: TrustQuestion) -> bool | None:
        texts = screen.texts
        head = f"{safe(str(question.project.key))}\n{texts('trust.brings')}"
        short = texts("trust.above", things=summary(question, texts))
        words = _Words(texts("trust.title"), head, listing(question, texts), short)
        picked = await _ask(screen, words, [Option(NO, texts("trust.no")), Option(YES, texts("trust.yes"))])
        return None if picked.hard or picked.value is None else picked.value == YES

    return ask


def outside_dialog(screen: Screen) -> AskOutside:
    """Asks whether memory files from outside the project may be loaded; Esc leaves it open."""

    async def ask(files: Sequence[Outside]) -> bool | None:
        texts = screen.texts
        lines = outside_listing(files, texts)
        words = _Words(texts("outside.title"), texts("outside.why"), lines, texts("outside.above", count=len(lines)))
        screen.alert(texts("alert.question"))
        options = [Option(NO, texts("outside.no")), Option(YES, texts("outside.yes"))]
        picked = await _ask(screen, words, options, escape=None)
        return None if picked.value is None else picked.value == YES

    return ask


def outside_listing(files: Sequence[Outside], texts: Texts) -> list[str]:
    places = [f"{f.wanted_by}:{f.line}" if f.line else str(f.wanted_by) for f in files]
    found = zip(files, places, strict=True)
    return [safe(texts("outside.file", target=f.target, by=place)).replace("\n", " ") for f, place in found]


@dataclass(frozen=True, slots=True)
class _Words:
    """``short`` stands for the lines where they are printed above the dialog."""

    title: str
    head: str
    lines: Sequence[str]
    short: str


async def _ask(screen: Screen, words: _Words, options: list[Option], *, escape: str | None = NO) -> Picked:
    long = len(words.lines) > max(3, screen.rows() - OTHER_ROWS)

    def body(width: int, height: int) -> list[Fragments]:
        head = Padding(Text(words.head, style="dim"), (0, 0, 0, 2), expand=False)
        shown = Text("\n".join([words.short] if long else words.lines))
        rows = (Text(words.title, style="warning"), head, Padding(shown, (0, 0, 0, 4), expand=False))
        return screen.view.sheet.pen.fragments(Group(*rows), width)

    def print_whole() -> None:
        screen.view.sheet.put(Group(*(Text(line) for line in words.lines)), "note", wrap=False)

    before = print_whole if long else None
    return await screen.modals.ask(Modal(body, options, escape, sudden=True, guarded=True, before=before))
