"""Every tool that this conversation knows, and what of it the model has been given.

A definition that was sent stays as it was sent: a deferred one is rendered where it was referenced, in the middle of
the conversation, so that another text there would cost everything behind it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from agentcli.mcp.connection import Connection
from agentcli.mcp.results import Desk
from agentcli.mcp.schema import Repaired, UnusableSchema, repair_schema
from agentcli.mcp.tools import McpTool
from agentcli.mcp.values import ServerTool
from agentcli.ports.model import ToolSpec
from agentcli.ports.toolnames import order, server_parts, tool_name

Warn = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Changes:
    """Full names; ``changed`` are tools whose description or schema is another."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed)


class Known(Mapping[str, McpTool]):
    """Full name → tool, sorted by name; tools that are gone are still there and say so when they are called.

    ``connection`` gives a server's connection by name, ``in_front`` says whether a server's tools are rendered in
    front of the prompt.
    """

    def __init__(
        self,
        servers: Sequence[str],
        *,
        desk: Desk,
        connection: Callable[[str], Connection | None],
        in_front: Callable[[str], bool],
        warn: Warn,
    ) -> None:
        self._parts = server_parts(list(servers))
        self._desk = desk
        self._connection = connection
        self._in_front = in_front
        self._warn = warn
        self._tools: dict[str, McpTool] = {}
        self._names: dict[tuple[str, str], str] = {}
        self._seen: dict[str, tuple[ServerTool, ...]] = {}
        self._given: dict[str, ToolSpec] = {}
        self._left_out: set[tuple[str, str]] = set()

    # --- the mapping ------------------------------------------------------------------------------------------------

    def __getitem__(self, name: str) -> McpTool:
        return self._tools[name]

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._tools))

    def __len__(self) -> int:
        return len(self._tools)

    def names_of(self, server: str) -> tuple[str, ...]:
        """The tools that can be called now, sorted."""
        return tuple(sorted(n for n, t in self._tools.items() if t.server == server and not t.gone))

    def specs(self, *, deferred: bool = True) -> list[ToolSpec]:
        """Of the tools that can be called now, as the server describes them."""
        found = (t for _, t in sorted(self._tools.items()) if not t.gone)
        return [t.spec for t in found if deferred or not t.deferred]

    # --- what servers say -------------------------------------------------------------------------------------------

    def adopt(self, server: str, tools: tuple[ServerTool, ...]) -> Changes:
        """Takes over a server's list.  Returns what is different from the one before."""
        if self._seen.get(server) == tools:
            return Changes()
        self._seen[server] = tools
        by_name = {t.name: t for t in tools}
        added: list[str] = []
        changed: list[str] = []
        here: set[str] = set()
        for raw in order(list(by_name)):
            made = self._make(server, by_name[raw])
            if made is None:
                continue
            before = self._tools.get(made.name)
            here.add(made.name)
            self._tools[made.name] = made
            if before is None or before.gone:
                added.append(made.name)
            elif before.spec != made.spec:
                changed.append(made.name)
        removed = [n for n, t in self._tools.items() if t.server == server and not t.gone and n not in here]
        for name in removed:
            gone = f"The MCP server {server} no longer offers the tool {name}."
            self._tools[name] = replace(self._tools[name], gone=gone)
        return Changes(tuple(sorted(added)), tuple(sorted(removed)), tuple(sorted(changed)))

    def _make(self, server: str, tool: ServerTool) -> McpTool | None:
        key = (server, tool.name)
        try:
            repaired = repair_schema(tool.input_schema)
        except UnusableSchema as error:
            if key not in self._left_out:
                self._left_out.add(key)
                self._warn(f"MCP server {server}: the tool {tool.name} is left out: {error}.")
            return None
        if key not in self._names:
            part = self._parts.get(server, "")
            self._names[key] = tool_name(server, tool.name, part=part, taken=self._tools)
        return McpTool(
            name=self._names[key],
            server=server,
            tool=tool,
            repaired=repaired,
            connection=lambda: self._connection(server),
            desk=self._desk,
            deferred=not self._in_front(server),
        )

    # --- what the model has -----------------------------------------------------------------------------------------

    def give(self, names: Iterable[str]) -> None:
        """The model is being given these definitions."""
        for name in names:
            tool = self._tools.get(name)
            if tool is not None and not tool.gone:
                self._given.setdefault(name, tool.spec)

    def given(self, name: str) -> ToolSpec | None:
        return self._given.get(name)

    def late(self) -> tuple[ToolSpec, ...]:
        """Definitions that belong into the next request: those rendered in front as they are now (those of a server
        that is gone as they were), deferred ones that the model was given as it was given them."""
        for name, tool in self._tools.items():
            if not tool.deferred and not tool.gone:
                self._given[name] = tool.spec
        return tuple(self._given[name] for name in sorted(self._given))

    def restore(self, specs: Iterable[ToolSpec]) -> None:
        """What a resumed conversation has sent: stays defined, whether its server is there or not."""
        for spec in specs:
            if spec.mcp and spec.raw is None:
                self._given[spec.name] = spec
                self._tools.setdefault(spec.name, self._orphan(spec))

    def _orphan(self, spec: ToolSpec) -> McpTool:
        server = spec.name.removeprefix("mcp__").partition("__")[0]
        tool = ServerTool(spec.name, spec.description, spec.input_schema)
        gone = f"The MCP server {server} is not connected in this session: its tools can't be called. Do without it."
        return McpTool(
            name=spec.name,
            server=server,
            tool=tool,
            repaired=Repaired(dict(spec.input_schema)),
            connection=lambda: None,
            desk=self._desk,
            deferred=spec.deferred,
            gone=gone,
        )

    def forget_given(self) -> None:
        """A new conversation: nothing has been given yet."""
        self._given.clear()
