"""Tools that one conversation has beside those in front: found by ToolSearch, defined once they were given."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Protocol, cast

from agentcli.conversation import ConversationCache
from agentcli.mcp.search import SELECT, find
from agentcli.ports.model import ToolSpec
from agentcli.ports.tools import Tool, ToolDirectory

WAY = "mcp_way"
"""Decided once per conversation, for all deferred tools alike."""


class ServerTools(ToolDirectory, Protocol):
    """The tools of the session's servers; its books (what was given) are those of the main conversation."""

    @property
    def tools(self) -> Mapping[str, Tool]:
        """Every tool by its full name, as it is now."""

    def late_tools(self) -> tuple[ToolSpec, ...]: ...


class ServerView:
    """``ServerTools`` as a subagent has them: what it may use, with books of its own.

    ``in_front``: its definition names its tools, so they are defined from the start; else ToolSearch brings them.
    """

    def __init__(self, servers: ServerTools, wanted: Callable[[str], bool], *, in_front: bool) -> None:
        self._servers = servers
        self._wanted = wanted
        self._in_front = in_front
        self._found: dict[str, ToolSpec] = {}
        self._given: dict[str, ToolSpec] = {}
        self.tools: Mapping[str, Tool] = Allowed(servers.tools, wanted)

    def search(self, query: str, limit: int = 5) -> list[ToolSpec]:
        found = [s for s in self._servers.search(query, limit * 4) if self._wanted(s.name)][:limit]
        self._found |= {spec.name: spec for spec in found}
        return found

    def names(self) -> tuple[str, ...]:
        return tuple(n for n in self._servers.names() if self._wanted(n))

    @property
    def references(self) -> bool:
        return self._servers.references

    def give(self, names: Sequence[str]) -> None:
        for name in names:
            if name in self._found:
                self._given.setdefault(name, self._found[name])

    async def complete(self) -> tuple[str, ...]:
        return await self._servers.complete()

    def late_tools(self) -> tuple[ToolSpec, ...]:
        """What was sent stays as it was sent."""
        for name, tool in self.tools.items():
            if self._in_front or not tool.spec.deferred:
                self._given.setdefault(name, replace(tool.spec, deferred=False))
        return tuple(self._given.values())


class BothServers:
    """``ServerTools`` of an agent with servers of its own, which come first, beside those of the session."""

    def __init__(self, own: ServerTools, shared: ServerTools) -> None:
        self._own = own
        self._shared = shared
        self.tools: Mapping[str, Tool] = ChainMap(
            cast("MutableMapping[str, Tool]", own.tools), cast("MutableMapping[str, Tool]", shared.tools)
        )

    def search(self, query: str, limit: int = 5) -> list[ToolSpec]:
        return [*self._own.search(query, limit), *self._shared.search(query, limit)][:limit]

    def names(self) -> tuple[str, ...]:
        return (*self._own.names(), *self._shared.names())

    @property
    def references(self) -> bool:
        return self._shared.references

    def give(self, names: Sequence[str]) -> None:
        self._own.give(names)
        self._shared.give(names)

    async def complete(self) -> tuple[str, ...]:
        return (*await self._own.complete(), *await self._shared.complete())

    def late_tools(self) -> tuple[ToolSpec, ...]:
        own = self._own.late_tools()
        taken = {spec.name for spec in own}
        return (*own, *(spec for spec in self._shared.late_tools() if spec.name not in taken))


class Allowed(Mapping[str, Tool]):
    """A live view of some of the tools."""

    def __init__(self, tools: Mapping[str, Tool], wanted: Callable[[str], bool]) -> None:
        self._tools = tools
        self._wanted = wanted

    def __getitem__(self, name: str) -> Tool:
        if not self._wanted(name):
            raise KeyError(name)
        return self._tools[name]

    def __iter__(self) -> Iterator[str]:
        return (name for name in self._tools if self._wanted(name))

    def __len__(self) -> int:
        return sum(1 for _ in self)


class DeferredTools:
    """``ports.tools.ToolDirectory`` of one conversation: the built-in deferred tools, and those of ``other``.

    ``cache`` is the conversation's; ``takes_references`` says whether the model's server takes tool references now.
    """

    def __init__(
        self,
        specs: Iterable[ToolSpec],
        cache: Callable[[], ConversationCache],
        takes_references: Callable[[], bool],
        *,
        other: ServerTools | None = None,
    ) -> None:
        self._specs = {spec.name: spec for spec in specs}
        self._cache = cache
        self._takes_references = takes_references
        self._other = other
        self._given: dict[str, ToolSpec] = {}

    def search(self, query: str, limit: int = 5) -> list[ToolSpec]:
        found = find(self._specs.values(), query, limit)
        theirs = self._other.search(query, limit) if self._other else []
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
        for name in names:
            if name in self._specs:
                self._given.setdefault(name, self._specs[name])
        if self._other is not None:
            self._other.give([n for n in names if n not in self._specs])

    async def complete(self) -> tuple[str, ...]:
        return await self._other.complete() if self._other else ()

    # --- for the engine ---------------------------------------------------------------------------------------------

    def late_tools(self) -> tuple[ToolSpec, ...]:
        """``Rooms.late_tools``: what has been given so far, in that order."""
        return (*self._given.values(), *(self._other.late_tools() if self._other else ()))

    def restore(self, sent: Iterable[ToolSpec]) -> None:
        """The tool array of a resumed conversation: what was given stays defined."""
        self.give([spec.name for spec in sent if spec.name in self._specs])

    def attach(self, other: ServerTools) -> None:
        """Servers' tools are found here too, from now on."""
        self._other = other

    def begin_anew(self) -> None:
        """A new conversation: nothing has been given."""
        self._given.clear()


def listed(name: str, rules: Sequence[str]) -> bool:
    """Whether a list of tools names a server's tool: by itself, as a whole server (``mcp__NAME``), or by a pattern."""
    servers = [rule for rule in rules if rule.startswith("mcp__")]
    return any(fnmatchcase(name, rule) or name.startswith(f"{rule}__") for rule in servers)
