"""Questions of MCP servers (``ports.elicitation.Elicitor``): one field after the other, then all of it before it is
sent; an address is shown whole and opened only after a yes.  Esc gives everything up."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from rich.console import Group
from rich.padding import Padding
from rich.text import Text

from agentcli.errors import UserError
from agentcli.i18n import Texts
from agentcli.messages import Json
from agentcli.ports.elicitation import Elicitation, ElicitField, ElicitReply
from agentcli.ui.terminal.elicit_values import chosen_values, is_web, open_address, shown, typed_value
from agentcli.ui.terminal.modal import Body, Modal, Option, Picked
from agentcli.ui.terminal.output.pen import Fragments, safe
from agentcli.ui.terminal.screen import Screen

TYPE, DEFAULT, SKIP, DECLINE, SEND, AGAIN, OPEN = "type", "default", "skip", "decline", "send", "again", "open"
YES, NO = "yes", "no"


class TerminalElicitor:
    """``interrupt`` is called for Ctrl+C."""

    def __init__(self, screen: Screen, interrupt: Callable[[], object]) -> None:
        self._screen = screen
        self._interrupt = interrupt
        self._one = asyncio.Lock()

    async def elicit(self, request: Elicitation) -> ElicitReply:
        async with self._one:  # the fields of one form stay together
            self._screen.alert(self._screen.texts("alert.question"))
            return await (self._address(request) if request.url else self._form(request))

    async def _address(self, request: Elicitation) -> ElicitReply:
        t, server, url = self._screen.texts, request.server, request.url
        if not is_web(url):
            self._screen.view.note(t("elicit.refused", server=safe(server), url=safe(url)), "warning")
            return ElicitReply("decline")
        options = [Option(OPEN, t("elicit.open")), Option(DECLINE, t("elicit.decline"))]
        picked = await self._ask(Modal(self._body(request, [Text(safe(url))]), options, selected=1, sudden=True))
        if isinstance(picked, ElicitReply):
            return picked
        opened = await open_address(url, self._screen.options.env)
        key = "elicit.opened" if opened else "elicit.unopened"
        self._screen.view.note(t(key, server=safe(server), url=safe(url)), "dim" if opened else "warning")
        return ElicitReply("accept")

    async def _form(self, request: Elicitation) -> ElicitReply:
        values: Json = {}
        while True:
            before, values = values, {}
            for number, field in enumerate(request.fields, 1):
                place = f" ({number}/{len(request.fields)})" if len(request.fields) > 1 else ""
                known = replace(field, default=before.get(field.name, field.default))
                given = await self._field(request, known, place)
                if isinstance(given, ElicitReply):
                    return given
                values = {**values, **given}
            picked = await self._ask(self._review(request, values))
            if isinstance(picked, ElicitReply):
                return picked
            if picked.value == SEND:
                return ElicitReply("accept", values)

    async def _field(self, request: Elicitation, field: ElicitField, place: str) -> Json | ElicitReply:
        """The value by its name; empty where it was left out."""
        problem, retry = "", False
        while True:
            modal = self._modal(request, field, place, problem)
            if retry:
                modal.asking = modal.options[0]
            picked = await self._ask(modal)
            if isinstance(picked, ElicitReply):
                return picked
            try:
                return _taken(field, picked, self._screen.texts)
            except UserError as error:
                problem, retry = str(error), picked.value == TYPE

    async def _ask(self, modal: Modal) -> Picked | ElicitReply:
        picked = await self._screen.modals.ask(modal)
        if picked.value is None:
            if picked.hard:
                self._interrupt()
            return ElicitReply("cancel")
        return ElicitReply("decline") if DECLINE in (picked.value, *picked.values) else picked

    def _modal(self, request: Elicitation, field: ElicitField, place: str, problem: str) -> Modal:
        t = self._screen.texts
        options, selected, marked = _options(field, t)
        if not field.required:
            options.append(Option(SKIP, t("elicit.skip")))
        options.append(Option(DECLINE, t("elicit.decline")))
        lines = [Text(safe(field.label)).append(place, style="dim")]
        lines += [Text(safe(field.description), "dim")] if field.description else []
        lines += [Text(safe(problem), "warning")] if problem else []
        return Modal(self._body(request, lines), options, selected=selected, sudden=True, marked=marked)

    def _review(self, request: Elicitation, values: Json) -> Modal:
        t = self._screen.texts
        known = [f for f in request.fields if f.name in values]
        lines = [Text(safe(f"{f.label}: {_words(f, values[f.name], t)}")) for f in known]
        options = [Option(SEND, t("elicit.send", server=request.server)), Option(DECLINE, t("elicit.decline"))]
        if request.fields:
            options.insert(1, Option(AGAIN, t("elicit.again")))
        return Modal(self._body(request, lines), options, sudden=True)

    def _body(self, request: Elicitation, lines: Sequence[Text]) -> Body:
        head = Text(self._screen.texts("elicit.title", server=safe(request.server)), "accent")
        words = Padding(Group(Text(safe(request.message)), *lines), (0, 0, 0, 2), expand=False)

        def body(width: int, height: int) -> list[Fragments]:
            return self._screen.view.sheet.pen.fragments(Group(head, words), width)

        return body


def _options(field: ElicitField, texts: Texts) -> tuple[list[Option], int, set[int] | None]:
    """What can be chosen, which of it is proposed, and what is marked where several may be."""
    default = field.default
    match field.kind:
        case "boolean":
            return [Option(YES, texts("dialog.yes")), Option(NO, texts("dialog.no"))], int(default is False), None
        case "choice" | "choices":
            options = [Option(str(n), safe(label)) for n, (_, label) in enumerate(field.options)]
            given = default if isinstance(default, list) else [default]
            proposed = {n for n, (value, _) in enumerate(field.options) if value in map(str, given)}
            first = min(proposed, default=0)
            return options, first, proposed if field.kind == "choices" else None
        case _:
            options = [Option(TYPE, texts("elicit.type"), asks=texts("elicit.value"))]
            if default is not None:
                options.append(Option(DEFAULT, texts("elicit.default", value=safe(str(default)))))
            return options, int(default is not None), None


def _taken(field: ElicitField, picked: Picked, texts: Texts) -> Json:
    """The value by its name.  ``UserError`` if the server would not take it."""
    value: Any
    if picked.value == SKIP or SKIP in picked.values:
        return {}
    if picked.value == DEFAULT:
        value = field.default
    elif picked.value == TYPE:
        value = typed_value(field, picked.text, texts)
    elif field.kind == "boolean":
        value = picked.value == YES
    elif field.kind == "choices":
        value = chosen_values(field, [int(n) for n in picked.values], texts)
    else:
        value = field.options[int(picked.value or 0)][0]
    return {field.name: value}


def _words(field: ElicitField, value: Any, texts: Texts) -> str:
    if isinstance(value, bool):
        return texts("dialog.yes" if value else "dialog.no")
    return shown(field, value)
