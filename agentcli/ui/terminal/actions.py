"""What the keys do."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

from agentcli.errors import SetupError, ToolError
from agentcli.ui.terminal import external
from agentcli.ui.terminal.controller import Controller
from agentcli.ui.terminal.screen import Screen
from agentcli.ui.terminal.turns import user_input

AGAIN_SECONDS = 2.0
"""Within this time a second Esc clears, a second Ctrl+C exits."""
IMAGE_SUFFIXES = frozenset({".png", ".jpg", ".jpeg", ".gif", ".webp"})


class TerminalActions:
    """``input.keys.Actions``.  The screen and the controller are set once both exist."""

    screen: Screen
    controller: Controller

    def __init__(self) -> None:
        self._escaped = self._cancelled = float("-inf")

    def connect(self, screen: Screen, controller: Controller) -> None:
        self.screen, self.controller = screen, controller

    def submit(self) -> None:
        buffer = self.screen.buffer
        expanded = self.screen.chips.expand(buffer.text)
        text = expanded.text.strip()
        if not text and not expanded.attachments:
            return
        if text == "?":
            text = "/help"
        first = len(expanded.text) - len(expanded.text.lstrip())
        pasted = any(begin <= first < end for begin, end in expanded.spans)  # a / or ! in it was not meant as a command
        if self.controller.send(user_input(text, expanded.attachments), literal=pasted):
            buffer.append_to_history()
            buffer.reset()
            self.screen.chips.next_message()
            self.screen.modals.sent()

    def escape(self) -> None:
        now = time.monotonic()
        if self.controller.interrupt():
            return
        again, self._escaped = now - self._escaped < AGAIN_SECONDS, now
        if not again:
            if self.screen.buffer.text:
                self.screen.hint(self.screen.texts("hint.escape"))
            return
        self._escaped = float("-inf")
        if self.screen.buffer.text:
            self._put_away()
        else:
            self.controller.rewind()

    def interrupt(self) -> None:
        now = time.monotonic()
        if self.controller.interrupt():
            return
        if self.screen.buffer.text:
            self._put_away()
            return
        again, self._cancelled = now - self._cancelled < AGAIN_SECONDS, now
        if again:
            self.controller.exit()
        else:
            self.screen.hint(self.screen.texts("hint.exit"))

    def type_ahead(self, text: str) -> None:
        if not self.screen.modals.disturb():
            return
        if text.isdecimal() and not self.screen.buffer.text:
            text = ""  # an answer to the question before that was repeated
        if text == "\b":
            self.screen.buffer.delete_before_cursor()
        elif text:
            self.screen.buffer.insert_text(text)
        self.screen.app.invalidate()

    def _put_away(self) -> None:
        """Clears the draft; Up brings it back."""
        self.screen.buffer.append_to_history()
        self.screen.buffer.reset()

    def end_of_file(self) -> None:
        """Leaves, whatever runs: closing ends it and keeps what was done."""
        self.controller.exit()

    def up(self) -> bool:
        taken = self.controller.take_back()
        if taken is None:
            return False
        self.screen.put_back(taken)
        return True

    def cycle_mode(self) -> None:
        if self.controller.session:
            self.controller.session.cycle_mode()
            self.screen.app.invalidate()

    def toggle_todos(self) -> None:
        activity = self.screen.view.activity
        activity.show_todos = not activity.show_todos
        if activity.show_todos and not activity.todos:
            self.screen.hint(self.screen.texts("todos.none"))
        self.screen.app.invalidate()

    def show_details(self) -> None:
        log = self.screen.view.log
        if log.empty:
            self.screen.hint(self.screen.texts("details.none"))
            return
        self.controller.spawn(external.page(log.text(), self.screen.options.env, self.screen.app.lent))

    def edit(self) -> None:
        self.controller.spawn(self._edit())

    async def _edit(self) -> None:
        buffer = self.screen.buffer
        expanded = self.screen.chips.expand(buffer.text)
        try:
            edited = await external.edit(expanded.text, self.screen.options.env, self.screen.app.lent)
        except SetupError as error:
            self.screen.view.note(str(error), "error")
            return
        if edited is not None and edited != expanded.text:
            marks = "".join(c for c in buffer.text if (chip := self.screen.chips.get(c)) and chip.block is not None)
            for chip_label in {self.screen.chips.shown(mark) for mark in marks}:
                edited = edited.replace(chip_label, "")
            buffer.text = marks + edited
            buffer.cursor_position = len(buffer.text)

    def focus(self, present: bool) -> None:
        if self.screen.on_focus is not None:
            self.screen.on_focus(present)

    def suspend(self) -> None:
        self.screen.app.suspend_to_background()

    def paste(self, text: str) -> None:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        path = image_path(text)
        if path:
            self.controller.spawn(self._paste_image(path, text))
        else:
            self.screen.buffer.insert_text(self.screen.chips.pasted(text))

    async def _paste_image(self, path: Path, text: str) -> None:
        from agentcli.media import image_block

        try:
            picture = await asyncio.to_thread(lambda: image_block(path.read_bytes(), path.name))
        except (OSError, ToolError) as error:
            self.screen.hint(str(error))
            self.screen.buffer.insert_text(text)
            return
        self.screen.buffer.insert_text(self.screen.chips.image(picture.block))
        self.screen.app.invalidate()


def image_path(text: str) -> Path | None:
    """The image file whose path was pasted (a file dragged into the terminal), if that is all the paste holds."""
    name = text.strip().strip("'\"").replace("\\ ", " ")
    if not name or "\n" in name or len(name) > 4_096:
        return None
    try:
        path = Path(name).expanduser() if name.startswith("~/") else Path(name)
        return path if path.suffix.lower() in IMAGE_SUFFIXES and path.is_file() else None
    except (OSError, ValueError, RuntimeError):  # no such place, no home
        return None
