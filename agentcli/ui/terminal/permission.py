"""Permission questions: what would be done, why it is asked, and exactly what each answer saves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from rich.console import Group
from rich.padding import Padding
from rich.text import Text

from agentcli.events import PermissionAsked, PermissionResolved
from agentcli.i18n import Texts
from agentcli.ports.frontend import SessionHandle
from agentcli.ports.permissions import Answer, PermissionUpdate
from agentcli.text import one_line
from agentcli.ui.terminal.modal import Modal, ModalQueue, Option, Picked
from agentcli.ui.terminal.output.pen import Fragments, safe
from agentcli.ui.terminal.view import View

YES, NO = "yes", "no"
PREVIEW_ROWS = 12
"""A command or diff of more rows is printed whole above the dialog."""
OTHER_ROWS = 11
"""Rows of the dialog that are not the preview."""


class PermissionDialogs:
    """Turns ``PermissionAsked`` into a modal and its answer into ``SessionHandle.answer``."""

    def __init__(self, modals: ModalQueue, view: View, texts: Texts, rows: Callable[[], int]) -> None:
        self._modals = modals
        self._view = view
        self._texts = texts
        self._rows = rows
        self._open: dict[str, Modal] = {}

    async def ask(self, event: PermissionAsked, session: SessionHandle) -> None:
        """Asks the person and hands the answer down.  Ends without one when somebody else answered."""
        updates = [u for s in event.suggestions if (u := update_from(s))]
        long = self._long(event)
        modal = Modal(*self._content(event, updates, long), sudden=True)
        self._open[event.request_id] = modal
        if long:
            modal.before = lambda: self._print(event)
        try:
            picked = await self._modals.ask(modal)
        finally:
            self._open.pop(event.request_id, None)
        if picked.value is None:
            return
        session.answer(event.request_id, answer_for(picked, updates))

    def resolved(self, event: PermissionResolved) -> None:
        """Somebody answered, or the question was withdrawn."""
        modal = self._open.get(event.request_id)
        if modal:
            self._modals.remove(modal)

    def _content(
        self, event: PermissionAsked, updates: list[PermissionUpdate], long: bool
    ) -> tuple[Callable[[int, int], list[Fragments]], list[Option], str]:
        t = self._texts
        options = [Option(YES, t("permission.yes"))]
        options += [Option(f"save{n}", saves(u, t)) for n, u in enumerate(updates)]
        options.append(Option(NO, t("permission.no"), asks=t("permission.why")))
        return (lambda width, height: self._body(event, width, long)), options, NO

    def _long(self, event: PermissionAsked) -> bool:
        """Whether the preview has no place in the dialog.  Decided once, when the question comes up."""
        if event.preview is None:
            return False
        sheet = self._view.sheet
        drawn = sheet.pen.fragments(Group(*self._view.painter.preview(event.preview)), sheet.width())
        return len(drawn) > min(PREVIEW_ROWS, self._rows() - OTHER_ROWS)

    def _print(self, event: PermissionAsked) -> None:
        if event.preview is not None:
            head = Text(
                self._texts("permission.preview", tool=event.name, title=self._view.painter.title(event.title)),
                "accent",
            )
            self._view.sheet.put(head, "note")
            lines = self._view.painter.preview(event.preview)
            self._view.sheet.put(Group(*lines), "note", spaced=False, wrap=False)

    def _body(self, event: PermissionAsked, width: int, long: bool) -> list[Fragments]:
        t = self._texts
        asker = ": ".join(safe(one_line(w)) for w in (event.agent, event.task) if w)
        who = t("permission.agent", agent=asker) if asker else ""
        head = Text().append(t("permission.title", tool=event.name), style="warning").append(who, style="dim")
        if self._modals.waiting:
            head.append("  " + t("permission.waiting", count=self._modals.waiting), style="dim")
        lines: list[Text] = []
        if event.title and (event.preview is None or long):
            lines.append(Text(safe(event.title)))
        elif event.title and type(event.preview).__name__ == "DiffDisplay":
            lines.append(Text(self._view.painter.title(event.title)))
        if event.preview is not None and not long:
            lines += self._view.painter.preview(event.preview)
        if event.reason:
            lines.append(Text(safe(reason(event)), style="dim"))
        inside = Padding(Group(*lines), (0, 0, 0, 2), expand=False)
        return self._view.sheet.pen.fragments(Group(head, inside) if lines else head, width)


def reason(event: PermissionAsked) -> str:
    """Why it is asked, without the name of what stands above it anyway."""
    for shown in (event.title, event.blocked_path, event.name):
        if shown and event.reason.startswith(f"{shown}: "):
            return event.reason.removeprefix(f"{shown}: ")
    return event.reason


def saves(update: PermissionUpdate, texts: Texts) -> str:
    """What the answer changes, and where it is kept."""
    where = texts(f"destination.{update.destination}")
    match update.type:
        case "setMode":
            return texts("permission.mode", mode=texts(f"mode.{update.mode}"))
        case "addDirectories":
            return texts("permission.directory", directories=", ".join(update.directories), where=where)
        case _:
            return texts("permission.rule", rules=", ".join(update.rules), where=where)


def update_from(suggestion: Mapping[str, Any]) -> PermissionUpdate | None:
    """A suggestion of the event as a value; rules may be strings or ``{"toolName", "ruleContent"}``.  ``None`` where it
    is of a kind that can't be offered."""
    kind = suggestion.get("type", "addRules")
    if kind not in ("addRules", "setMode", "addDirectories"):
        return None
    rules = tuple(r if isinstance(r, str) else _rule(r) for r in suggestion.get("rules") or ())
    return PermissionUpdate(
        kind,
        rules=rules,
        behavior=suggestion.get("behavior", "allow"),
        mode=suggestion.get("mode"),
        directories=tuple(suggestion.get("directories") or ()),
        destination=suggestion.get("destination", "session"),
    )


def _rule(rule: Mapping[str, Any]) -> str:
    content = rule.get("ruleContent")
    return f"{rule.get('toolName', '')}({content})" if content else str(rule.get("toolName", ""))


def answer_for(picked: Picked, updates: list[PermissionUpdate]) -> Answer:
    if picked.value == YES:
        return Answer(True)
    if picked.value and picked.value.startswith("save"):
        return Answer(True, updates=(updates[int(picked.value[4:])],))
    return Answer(False, message=picked.text.strip(), interrupt=picked.hard)
