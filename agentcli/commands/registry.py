"""Finds slash commands: every module of this package with a ``COMMAND``, and what the session adds (custom ones).

Nothing is listed twice: the modules themselves are the table.  They are small and import nothing heavy, so that all
of them together cost a few milliseconds, paid when the first ``/`` is typed.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Callable, Iterable
from difflib import get_close_matches

import agentcli.commands
from agentcli.commands.base import Command

_NO_COMMANDS = frozenset({"base", "registry"})
_LINE = re.compile(r"/([A-Za-z][\w:.-]*)(?:\s+(.*))?", re.DOTALL)


def parse(text: str) -> tuple[str, str] | None:
    """(name, arguments) of a line that is a slash command; ``None`` for any other text, paths included."""
    found = _LINE.fullmatch(text.strip())
    return (found[1], (found[2] or "").strip()) if found else None


def built_in() -> tuple[Command, ...]:
    """The commands of this package by name.  ``AttributeError`` names a module that has no ``COMMAND``."""
    found = []
    for module in pkgutil.iter_modules(agentcli.commands.__path__):
        if module.name not in _NO_COMMANDS and not module.name.startswith("_"):
            command: Command = importlib.import_module(f"agentcli.commands.{module.name}").COMMAND
            found.append(command)
    return tuple(sorted(found, key=lambda c: c.name))


def _none(name: str) -> Command | None:
    return None


class Registry:
    """``extra`` is asked at each look-up; a command of this package wins over an extra one of the same name.  ``late``
    is asked last, for a name that can't be listed yet."""

    def __init__(
        self, extra: Callable[[], Iterable[Command]] = tuple, late: Callable[[str], Command | None] = _none
    ) -> None:
        self._extra = extra
        self._late = late
        self._built_in: tuple[Command, ...] | None = None

    def all(self) -> tuple[Command, ...]:
        if self._built_in is None:
            self._built_in = built_in()
        taken = {name for c in self._built_in for name in (c.name, *c.aliases)}
        return (*self._built_in, *(c for c in self._extra() if c.name not in taken))

    def find(self, name: str) -> Command | None:
        """By name or alias, exactly."""
        return next((c for c in self.all() if name == c.name or name in c.aliases), None) or self._late(name)

    def nearest(self, name: str) -> str | None:
        """The name or alias that was probably meant."""
        known = [n for c in self.all() for n in (c.name, *c.aliases)]
        close = get_close_matches(name, known, n=1, cutoff=0.6)
        return next(iter([*close, *(n for n in known if n.startswith(name))]), None)
