"""Which key does what."""

from __future__ import annotations

from typing import Protocol

from prompt_toolkit.application.current import get_app
from prompt_toolkit.filters import Condition, Filter, emacs_mode, is_searching, vi_navigation_mode
from prompt_toolkit.input.ansi_escape_sequences import ANSI_SEQUENCES
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.key_binding.key_processor import KeyPressEvent
from prompt_toolkit.keys import Keys

from agentcli.ui.terminal.modal import ModalQueue

SHIFT_ENTER = ("\x1b[27;2;13~", "\x1b[13;2u")
"""How terminals report Shift+Enter, where they do."""
FOCUS = {"\x1b[I": Keys.ControlF24, "\x1b[O": Keys.ControlF23}
"""The window gained or lost the focus: no keys, so they stand in for ones that no keyboard has."""


class Actions(Protocol):
    """What keys ask of the program."""

    def submit(self) -> None: ...

    def escape(self) -> None: ...

    def interrupt(self) -> None:
        """Ctrl+C."""

    def end_of_file(self) -> None:
        """Ctrl+D on an empty line."""

    def up(self) -> bool:
        """Takes a queued message back into the empty line.  False when there is none."""

    def cycle_mode(self) -> None: ...

    def toggle_todos(self) -> None: ...

    def show_details(self) -> None: ...

    def edit(self) -> None: ...

    def suspend(self) -> None: ...

    def paste(self, text: str) -> None: ...

    def focus(self, present: bool) -> None:
        """The terminal's window gained or lost the focus."""

    def type_ahead(self, text: str) -> None:
        """Typed while a question that came by itself waits: it goes into the input line (``"\b"`` deletes there)."""


def bindings(actions: Actions, modals: ModalQueue) -> KeyBindings:
    for sequence in SHIFT_ENTER:
        ANSI_SEQUENCES[sequence] = (Keys.Escape, Keys.ControlM)
    ANSI_SEQUENCES.update(FOCUS)
    keys = KeyBindings()
    asking = Condition(lambda: modals.current is not None)
    typing = Condition(lambda: bool(modals.current and modals.current.asking))
    _dialog(keys, actions, modals, asking, typing)
    _type_ahead(keys, actions, modals, asking & ~typing)
    here = ~asking & ~is_searching
    _writing(keys, actions, here)
    _moving(keys, actions, here)
    _stopping(keys, actions, here)
    _everywhere(keys, actions)
    return keys


def _dialog(keys: KeyBindings, actions: Actions, modals: ModalQueue, asking: Filter, typing: Filter) -> None:
    choosing = asking & ~typing

    @keys.add("up", filter=choosing)
    @keys.add("s-tab", filter=choosing)
    @keys.add("c-p", filter=choosing)
    def _(event: KeyPressEvent) -> None:
        modals.move(-1)

    @keys.add("down", filter=choosing)
    @keys.add("tab", filter=choosing)
    @keys.add("c-n", filter=choosing)
    def _(event: KeyPressEvent) -> None:
        modals.move(1)

    @keys.add("enter", filter=choosing)
    def _(event: KeyPressEvent) -> None:
        if modals.answerable():
            modals.pick()
        else:
            actions.type_ahead("")

    @keys.add("enter", filter=typing)
    def _(event: KeyPressEvent) -> None:
        modals.type(event.current_buffer.text)

    for digit in "123456789":

        @keys.add(digit, filter=choosing)
        def _(event: KeyPressEvent) -> None:
            digit = event.key_sequence[0].data
            if modals.answerable(digit=True):
                modals.mark(int(digit) - 1)
            else:
                actions.type_ahead(digit)

    @keys.add("escape", filter=asking)
    def _(event: KeyPressEvent) -> None:
        modals.escape()

    @keys.add("c-c", filter=asking)
    def _(event: KeyPressEvent) -> None:
        modals.escape(hard=True)


def _type_ahead(keys: KeyBindings, actions: Actions, modals: ModalQueue, choosing: Filter) -> None:
    """Keys that are no answer."""

    @keys.add(" ", filter=choosing & Condition(lambda: bool(modals.current and modals.current.marked is not None)))
    def _(event: KeyPressEvent) -> None:
        if modals.answerable(digit=True):
            modals.mark()
        else:
            actions.type_ahead(" ")

    @keys.add("<any>", filter=choosing)
    def _(event: KeyPressEvent) -> None:
        data = event.key_sequence[0].data
        if data.isprintable():
            actions.type_ahead(data)

    @keys.add("backspace", filter=choosing)
    def _(event: KeyPressEvent) -> None:
        actions.type_ahead("\b")

    @keys.add("c-j", filter=choosing)
    @keys.add("escape", "enter", filter=choosing)
    def _(event: KeyPressEvent) -> None:
        actions.type_ahead("\n")

    @keys.add(Keys.BracketedPaste, filter=choosing)
    def _(event: KeyPressEvent) -> None:
        if modals.disturb():
            actions.paste(event.data)


def _writing(keys: KeyBindings, actions: Actions, here: Filter) -> None:
    @keys.add("enter", filter=here)
    def _(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if buffer.document.text_before_cursor.endswith("\\") and not buffer.document.text_after_cursor.strip():
            buffer.delete_before_cursor()
            buffer.insert_text("\n")
        else:
            actions.submit()

    @keys.add("escape", "enter", filter=here)
    @keys.add("c-j", filter=here)
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    @keys.add(Keys.BracketedPaste, filter=here)
    def _(event: KeyPressEvent) -> None:
        actions.paste(event.data)

    @keys.add("c-g", filter=here)
    def _(event: KeyPressEvent) -> None:
        actions.edit()


def _moving(keys: KeyBindings, actions: Actions, here: Filter) -> None:
    @keys.add("tab", filter=here)
    def _(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if buffer.complete_state:
            if len(buffer.complete_state.completions) > 1:
                buffer.complete_next()
            else:
                _accept(event)
        else:
            buffer.start_completion(select_first=True)

    @keys.add("s-tab", filter=here)
    def _(event: KeyPressEvent) -> None:
        if event.current_buffer.complete_state:
            event.current_buffer.complete_previous()
        else:
            actions.cycle_mode()

    @keys.add("up", filter=here)
    def _(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if buffer.complete_state or buffer.text or not actions.up():
            buffer.auto_up(count=event.arg)

    @keys.add("down", filter=here)
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.auto_down(count=event.arg)


def _stopping(keys: KeyBindings, actions: Actions, here: Filter) -> None:
    @keys.add("escape", filter=here & (emacs_mode | vi_navigation_mode))  # from vi's others it leads there first
    def _(event: KeyPressEvent) -> None:
        if event.current_buffer.complete_state:
            event.current_buffer.cancel_completion()
        else:
            actions.escape()

    @keys.add("c-c", filter=here)
    def _(event: KeyPressEvent) -> None:
        actions.interrupt()

    @keys.add("c-d", filter=here & Condition(lambda: not get_app().current_buffer.text))
    def _(event: KeyPressEvent) -> None:
        actions.end_of_file()


def _accept(event: KeyPressEvent) -> None:
    buffer = event.current_buffer
    state = buffer.complete_state
    if state and state.completions:
        buffer.apply_completion(state.current_completion or state.completions[0])


def _everywhere(keys: KeyBindings, actions: Actions) -> None:
    @keys.add("c-t")
    def _(event: KeyPressEvent) -> None:
        actions.toggle_todos()

    @keys.add("c-o")
    def _(event: KeyPressEvent) -> None:
        actions.show_details()

    @keys.add("c-z")
    def _(event: KeyPressEvent) -> None:
        actions.suspend()

    @keys.add("c-l")
    def _(event: KeyPressEvent) -> None:
        event.app.renderer.clear()

    @keys.add(Keys.ControlF24, eager=True)
    @keys.add(Keys.ControlF23, eager=True)
    def _(event: KeyPressEvent) -> None:
        actions.focus(event.key_sequence[0].key == Keys.ControlF24)

    @keys.add("<sigint>")
    def _(event: KeyPressEvent) -> None:
        actions.interrupt()
