"""The question of trust: what an untrusted project would bring, and from where."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable

from rich.console import Group
from rich.text import Text

from agentcli.i18n import Texts
from agentcli.runtime.trusting import TrustQuestion
from agentcli.settings.bring import Brought
from agentcli.ui.terminal.modal import Modal, Option
from agentcli.ui.terminal.output.pen import Fragments, safe
from agentcli.ui.terminal.screen import Screen

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
        lines = listing(question, texts)
        long = len(lines) > max(3, screen.rows() - OTHER_ROWS)

        def body(width: int, height: int) -> list[Fragments]:
            head = [Text(texts("trust.title"), style="warning"), Text(f"  {safe(str(question.project.key))}")]
            shown = [texts("trust.above", things=summary(question, texts))] if long else lines
            rows = [*head, Text("  " + texts("trust.brings"), style="dim"), *(Text(f"    {line}") for line in shown)]
            return screen.view.sheet.pen.fragments(Group(*rows), width)

        def print_whole() -> None:
            screen.view.sheet.put(Group(*(Text(line) for line in lines)), "note", wrap=False)

        options = [Option(NO, texts("trust.no")), Option(YES, texts("trust.yes"))]
        modal = Modal(body, options, NO, sudden=True, guarded=True, before=print_whole if long else None)
        picked = await screen.modals.ask(modal)
        return None if picked.hard or picked.value is None else picked.value == YES

    return ask
