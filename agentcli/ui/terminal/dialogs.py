"""Questions of slash commands, asked in the live part."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group
from rich.padding import Padding
from rich.text import Text

from agentcli.errors import SetupError
from agentcli.ports.frontend import Choice
from agentcli.ui.terminal import external
from agentcli.ui.terminal.modal import Body, Modal, Option
from agentcli.ui.terminal.output.pen import Fragments, safe
from agentcli.ui.terminal.screen import Screen

YES, NO = "yes", "no"


class TerminalDialogs:
    """``ports.frontend.Dialogs``."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen

    async def choose(self, title: str, choices: Sequence[Choice], *, current: str | None = None) -> str | None:
        options = [Option(c.value, f"{c.label}  {c.description}".rstrip()) for c in choices]
        if not options:
            return None
        selected = next((n for n, c in enumerate(choices) if c.value == current), 0)
        modal = Modal(self._body(title), options, selected=selected)
        if any(c.preview for c in choices):
            modal.body = self._with_preview(self._body(title), modal, choices)
        return (await self._screen.modals.ask(modal)).value

    async def confirm(self, question: str, *, detail: str = "") -> bool:
        texts = self._screen.texts
        options = [Option(YES, texts("dialog.yes")), Option(NO, texts("dialog.no"))]
        picked = await self._screen.modals.ask(Modal(self._body(question, detail), options, NO, selected=1))
        return picked.value == YES

    async def edit(self, text: str, *, suffix: str = ".md") -> str | None:
        try:
            return await external.edit(text, self._screen.options.env, self._screen.app.lent, suffix=suffix)
        except SetupError as error:
            self._screen.view.note(str(error), "error")
            return None

    async def show(self, text: str) -> None:
        self._screen.view.markdown(text)

    def _with_preview(self, head: Body, modal: Modal, choices: Sequence[Choice]) -> Body:
        """The title, and below it what the chosen option is about, each read once."""
        read: dict[int, Sequence[str]] = {}

        def body(width: int, height: int) -> list[Fragments]:
            preview = choices[modal.selected].preview
            if modal.selected not in read:
                read[modal.selected] = preview() if preview else ()
            lines = [
                Text(f"  {safe(line)}", style="dim", no_wrap=True, overflow="ellipsis") for line in read[modal.selected]
            ]
            below = self._screen.view.sheet.pen.fragments(Group(*lines), width) if lines else []
            return [*head(width, height), *below]

        return body

    def _body(self, title: str, detail: str = "") -> Body:
        head = Text(safe(title), style="accent")
        about = Padding(Text(safe(detail)), (0, 0, 0, 2), expand=False)
        lines = Group(head, about) if detail else Group(head)

        def body(width: int, height: int) -> list[Fragments]:
            return self._screen.view.sheet.pen.fragments(lines, width)

        return body
