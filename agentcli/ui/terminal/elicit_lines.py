"""Questions of MCP servers by lines."""

from __future__ import annotations

import asyncio
import os
from dataclasses import replace

from agentcli.errors import UserError
from agentcli.i18n import Texts
from agentcli.messages import Json
from agentcli.ports.elicitation import Elicitation, ElicitField, ElicitReply
from agentcli.ui.terminal.elicit_values import chosen_values, is_web, open_address, shown, typed_value
from agentcli.ui.terminal.plain_lines import Lines, PlainDialogs


class PlainElicitor:
    """``ports.elicitation.Elicitor``; ``one`` is held while a question stands."""

    def __init__(self, lines: Lines, dialogs: PlainDialogs, texts: Texts, one: asyncio.Lock) -> None:
        self._lines = lines
        self._dialogs = dialogs
        self._texts = texts
        self._one = one

    async def elicit(self, request: Elicitation) -> ElicitReply:
        async with self._one:
            return await (self._address(request) if request.url else self._form(request))

    async def _address(self, request: Elicitation) -> ElicitReply:
        t, server, url = self._texts, request.server, request.url
        if not is_web(url):
            await self._dialogs.show(t("elicit.refused", server=server, url=url))
            return ElicitReply("decline")
        refusal = await self._agreed(request, t("elicit.open"), url)
        if refusal is not None:
            return refusal
        opened = await open_address(url, os.environ)
        await self._dialogs.show(t("elicit.opened" if opened else "elicit.unopened", server=server, url=url))
        return ElicitReply("accept")

    async def _agreed(self, request: Elicitation, yes: str, about: str = "") -> ElicitReply | None:
        """``None`` for a yes."""
        head = self._texts("elicit.title", server=request.server)
        title = "\n  ".join(line for line in (head, request.message, about) if line)
        picked = await self._dialogs.pick(title, [yes, self._texts("elicit.decline")])
        return None if picked == 0 else ElicitReply("cancel" if picked is None else "decline")

    async def _form(self, request: Elicitation) -> ElicitReply:
        key = "elicit.fill" if request.fields else "elicit.send"
        refusal = await self._agreed(request, self._texts(key, server=request.server))
        if refusal is not None:
            return refusal
        values: Json = {}
        for field in request.fields:
            given = await self._field(field)
            if given is None:
                return ElicitReply("cancel")
            values = {**values, **given}
        return ElicitReply("accept", values)

    async def _field(self, field: ElicitField) -> Json | None:
        """The value by its name, empty where it was left out; ``None`` at the end of the input."""
        t = self._texts
        field = _with_options(field, t)
        rows = [f"{field.label}  {field.description}".rstrip()]
        rows += [f"  {n}. {label}" for n, (_, label) in enumerate(field.options, 1)]
        while True:
            await self._dialogs.show("\n".join(rows))
            line = await self._lines.ask(self._prompt(field) + " ")
            if line is None:
                return None
            try:
                return self._taken(field, line.strip())
            except UserError as error:
                await self._dialogs.show(str(error))

    def _prompt(self, field: ElicitField) -> str:
        if field.default is not None:
            return self._texts("elicit.line.default", value=shown(field, field.default))
        if field.required:
            return self._texts("elicit.numbers" if field.kind == "choices" else "elicit.value")
        return self._texts("elicit.line")

    def _taken(self, field: ElicitField, line: str) -> Json:
        if not line and field.default is not None:
            return {field.name: field.default}
        if not line and not field.required:
            return {}
        if not field.options:
            return {field.name: typed_value(field, line, self._texts)}
        words = [w.strip() for w in line.split(",")] if field.kind == "choices" else [line]
        chosen = chosen_values(field, [self._place(field, w) for w in words], self._texts)
        if field.kind == "boolean":
            return {field.name: chosen[0] == str(True)}
        return {field.name: chosen if field.kind == "choices" else chosen[0]}

    def _place(self, field: ElicitField, word: str) -> int:
        if word.isdecimal() and 1 <= int(word) <= len(field.options):
            return int(word) - 1
        raise UserError(self._texts("elicit.unknown", value=word))


def _with_options(field: ElicitField, texts: Texts) -> ElicitField:
    """A yes or no as a choice between two."""
    if field.kind != "boolean":
        return field
    return replace(field, options=((str(True), texts("dialog.yes")), (str(False), texts("dialog.no"))))
