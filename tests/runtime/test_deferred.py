"""Deferred tools of one conversation: what is found, what is defined, and whose books say so."""

from __future__ import annotations

from agentcli.conversation import ConversationCache
from agentcli.ports.model import ToolSpec
from agentcli.ports.tools import Tool
from agentcli.runtime.deferred import DeferredTools, ServerView
from tests.agent.world import FakeTool

SCHEMA = {"type": "object", "properties": {}}


def spec(name: str, *, mcp: bool = False) -> ToolSpec:
    return ToolSpec(name, f"Does {name}.", SCHEMA, deferred=True, mcp=mcp)


class Server:
    """The tools of a session's servers, with the books of the main conversation."""

    references = True

    def __init__(self, *names: str) -> None:
        self.tools: dict[str, Tool] = {name: FakeTool(name, lambda given: "done") for name in names}
        self.given: list[str] = []

    def search(self, query: str, limit: int = 5) -> list[ToolSpec]:
        return [spec(n, mcp=True) for n in self.tools if query in n][:limit]

    def names(self) -> tuple[str, ...]:
        return tuple(self.tools)

    def give(self, names: object) -> None:
        self.given += list(names)  # type: ignore[call-overload]  # a sequence of names

    async def complete(self) -> tuple[str, ...]:
        return ("slow (pending)",)

    def late_tools(self) -> tuple[ToolSpec, ...]:
        return tuple(spec(n, mcp=True) for n in self.given)


async def test_own_and_server_tools_are_found_together_and_given_apart() -> None:
    server = Server("mcp__git__log")
    found = DeferredTools([spec("Log"), spec("Sum")], ConversationCache, lambda: True, other=server)
    assert found.names() == ("Log", "Sum", "mcp__git__log")
    assert [s.name for s in found.search("log")] == ["Log", "mcp__git__log"]
    found.give(["Log", "mcp__git__log", "Log"])
    assert [s.name for s in found.late_tools()] == ["Log", "mcp__git__log"]
    assert server.given == ["mcp__git__log"]
    assert await found.complete() == ("slow (pending)",)


def test_what_was_given_is_known_again_after_a_resume_and_gone_in_a_new_conversation() -> None:
    found = DeferredTools([spec("Log"), spec("Sum")], ConversationCache, lambda: True)
    found.restore([spec("Bash"), spec("Sum")])
    assert [s.name for s in found.late_tools()] == ["Sum"]
    found.begin_anew()
    assert found.late_tools() == ()


def test_the_way_is_decided_once_per_conversation() -> None:
    cache, takes = ConversationCache(), [True]
    found = DeferredTools([spec("Log")], lambda: cache, lambda: takes[0])
    assert found.references
    takes[0] = False
    assert found.references
    assert not DeferredTools([spec("Log")], ConversationCache, lambda: False).references


def test_a_subagent_has_books_of_its_own() -> None:
    server = Server("mcp__git__log", "mcp__git__push", "mcp__web__get")
    view = ServerView(server, lambda name: name != "mcp__git__push", in_front=False)
    assert view.names() == ("mcp__git__log", "mcp__web__get")
    assert sorted(view.tools) == ["mcp__git__log", "mcp__web__get"]
    assert "mcp__git__push" not in view.tools
    assert [s.name for s in view.search("git")] == ["mcp__git__log"]
    view.give(["mcp__git__log", "mcp__git__push"])
    assert server.given == []
    assert "mcp__git__log" in [s.name for s in view.late_tools()]
    assert "mcp__git__push" not in [s.name for s in view.late_tools()]


def test_tools_that_a_definition_names_are_defined_from_the_start() -> None:
    server = Server("mcp__git__log", "mcp__web__get")
    view = ServerView(server, lambda name: name.startswith("mcp__git__"), in_front=True)
    assert [(s.name, s.deferred) for s in view.late_tools()] == [("mcp__git__log", False)]
    server.tools["mcp__git__blame"] = FakeTool("mcp__git__blame", lambda given: "done")
    assert [s.name for s in view.late_tools()] == ["mcp__git__log", "mcp__git__blame"]
