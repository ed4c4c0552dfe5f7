"""A tool result's second face: what a person sees.  Front ends draw these; the model never gets them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

GRID = "grid"
"""The language of a fence whose signs each have a colour of their own (``/context``)."""
TodoStatus = Literal["pending", "in_progress", "completed"]


@dataclass(frozen=True, slots=True)
class Todo:
    content: str
    status: TodoStatus
    active_form: str = ""
    """The item while it is being done ("Running tests")."""


@dataclass(frozen=True, slots=True)
class TextDisplay:
    """``summary`` is one line ("214 lines", "exit code 1"); ``detail`` is shown folded."""

    summary: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class DiffDisplay:
    """A change of one file, whole texts; the front end makes the diff.  ``before`` is ``None`` for a new file."""

    path: str
    before: str | None
    after: str
    summary: str = ""


@dataclass(frozen=True, slots=True)
class CommandDisplay:
    """A shell command and what came of it (``exit_code`` is ``None`` while it has none)."""

    command: str
    output: str = ""
    exit_code: int | None = None
    summary: str = ""


@dataclass(frozen=True, slots=True)
class TodoDisplay:
    todos: tuple[Todo, ...]


Display: TypeAlias = TextDisplay | DiffDisplay | CommandDisplay | TodoDisplay
