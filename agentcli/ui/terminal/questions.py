"""Questions of the model to the person (``ports.tools.Questioner``): one after the other, with room for another answer
than those that are offered."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rich.console import Group
from rich.padding import Padding
from rich.text import Text

from agentcli.ports.tools import Question
from agentcli.ui.terminal.modal import Modal, Option, Picked
from agentcli.ui.terminal.output.pen import Fragments, safe
from agentcli.ui.terminal.screen import Screen

OTHER = "other"


class TerminalQuestions:
    """``interrupt`` is called for Ctrl+C."""

    def __init__(self, screen: Screen, interrupt: Callable[[], object]) -> None:
        self._screen = screen
        self._interrupt = interrupt

    async def ask(self, questions: Sequence[Question]) -> Mapping[str, Any]:
        """The answers by question: a text, or a list of them where several may be chosen; empty where none was given.
        After Esc nothing more is asked."""
        replies: dict[str, Any] = {q.question: "" for q in questions}
        self._screen.alert(self._screen.texts("alert.question"))
        for number, question in enumerate(questions, 1):
            place = f" ({number}/{len(questions)})" if len(questions) > 1 else ""
            picked = await self._screen.modals.ask(self._modal(question, place))
            if picked.value is None:
                if picked.hard:
                    self._interrupt()
                break
            replies[question.question] = reply(question, picked)
        return replies

    def _modal(self, question: Question, place: str) -> Modal:
        texts = self._screen.texts
        labels = [f"{safe(label)}  {safe(about)}".rstrip() for label, about in question.options]
        options = [Option(str(n), label) for n, label in enumerate(labels)]
        options.append(Option(OTHER, texts("question.other"), asks=texts("question.type")))

        def body(width: int, height: int) -> list[Fragments]:
            head = Text(safe(question.header), style="accent").append(place, style="dim")
            words = Padding(Text(safe(question.question)), (0, 0, 0, 2), expand=False)
            return self._screen.view.sheet.pen.fragments(Group(head, words), width)

        before = (lambda: self._screen.view.markdown(question.about)) if question.about else None
        return Modal(body, options, before=before, sudden=True, marked=set() if question.multiple else None)


def reply(question: Question, picked: Picked) -> str | list[str]:
    """What was answered, in the words of the options."""
    if not question.multiple:
        return picked.text.strip() if picked.value == OTHER else question.options[int(picked.value or 0)][0]
    chosen = [question.options[int(n)][0] for n in picked.values]
    return [*chosen, *([picked.text.strip()] if picked.value == OTHER and picked.text.strip() else [])]
