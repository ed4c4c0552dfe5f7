"""Tools that one conversation has beside those in front: found by ToolSearch, defined once they were given."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from agentcli.conversation import ConversationCache
from agentcli.mcp.search import SELECT, find
from agentcli.ports.model import ToolSpec
from agentcli.ports.tools import ToolDirectory

WAY = "mcp_way"
"""Decided once per conversation, for all deferred tools alike."""


class OtherTools(ToolDirectory, Protocol):
    """The deferred tools of servers."""

    def late_tools(self) -> tuple[ToolSpec, ...]: ...


class DeferredTools:
    """``ports.tools.ToolDirectory`` of one conversation: the built-in deferred tools, and those of ``other``.

    ``other`` keeps the books of the main conversation; for a subagent's (``keeps_books``) they are kept here.
    ``cache`` is the conversation's; ``takes_references`` says whether the model's server takes tool references now.
    """

    def __init__(
        self,
        specs: Iterable[ToolSpec],
        cache: Callable[[], ConversationCache],
        takes_references: Callable[[], bool],
        *,
        other: OtherTools | None = None,
        keeps_books: bool = False,
    ) -> None:
        self._specs = {spec.name: spec for spec in specs}
        self._cache = cache
        self._takes_references = takes_references
        self._other = other
        self._keeps_books = keeps_books
        self._found: dict[str, ToolSpec] = {}
        self._given: dict[str, ToolSpec] = {}

    def search(self, query: str, limit: int = 5) -> list[ToolSpec]:
        found = find(self._specs.values(), query, limit)
        theirs = self._other.search(query, limit) if self._other else []
        self._found |= {spec.name: spec for spec in theirs}
        together = {spec.name: spec for spec in (*found, *theirs)}
        exact = query.strip().lower().startswith(SELECT)
        return list(together.values()) if exact else list(together.values())[:limit]

    def names(self) -> tuple[str, ...]:
        return tuple(sorted({*self._specs, *(self._other.names() if self._other else ())}))

    @property
    def references(self) -> bool:
        if self._other is not None:
            return self._other.references
        usual = "references" if self._takes_references() else "dispatcher"
        return bool(self._cache().latch(WAY, usual) == "references")

    def give(self, names: Sequence[str]) -> None:
        known = self._specs | (self._found if self._keeps_books else {})
        for name in names:
            if name in known:
                self._given.setdefault(name, known[name])
        if self._other is not None and not self._keeps_books:
            self._other.give([n for n in names if n not in self._specs])

    async def complete(self) -> tuple[str, ...]:
        return await self._other.complete() if self._other else ()

    # --- for the engine ---------------------------------------------------------------------------------------------

    def late_tools(self) -> tuple[ToolSpec, ...]:
        """``Rooms.late_tools``: what has been given so far, in that order."""
        theirs = self._other.late_tools() if self._other and not self._keeps_books else ()
        return (*self._given.values(), *theirs)

    def restore(self, sent: Iterable[ToolSpec]) -> None:
        """The tool array of a resumed conversation: what was given stays defined."""
        self.give([spec.name for spec in sent if spec.name in self._specs])

    def begin_anew(self) -> None:
        """A new conversation: nothing has been given."""
        self._given.clear()
