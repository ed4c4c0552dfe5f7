"""Servers that come, change and go in the middle of a conversation, on the cache simulation."""

from __future__ import annotations

import asyncio
import json
from collections import ChainMap
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any

import pytest

from agentcli.agent import SessionState
from agentcli.agent.reminders import Reminders
from agentcli.conversation import PromptPart, SystemPrompt
from agentcli.events import CacheObserved, ToolStarted
from agentcli.mcp.room import McpRoom
from agentcli.model.client import AnthropicClient
from agentcli.model.connection import Connection
from agentcli.model.options import ClientOptions
from agentcli.ports.tools import Tool
from agentcli.prompt.split import split_sys_prompt_prefix
from agentcli.tools.mcp_call import McpCall, resolve
from agentcli.tools.tool_search import ToolSearch
from tests.agent.world import Prompt, make, standard_tools
from tests.agent.world import World as Engine
from tests.api import ApiServer, Request, error, reply, tool_use
from tests.api.render import without_marks
from tests.mcp.world import World, tool, until

LONG = SystemPrompt((PromptPart("identity", "identity", "You are agentcli. " * 300),), "default")
LOGIN = {
    "tools": [tool("login")],
    "calls": {
        "login": {
            "text": "in",
            "tools": [tool("login2", user={"type": "string"}), tool("query", sql={"type": "string"})],
            "notices": 50,
        },
        "query": {
            "text": "rows",
            "tools": [tool("login2", user={"type": "integer"})],
            "notices": 1,
        },
    },
}


@dataclass
class Stage:
    """An engine with the real SDK on the strict server, and servers around it."""

    api: ApiServer
    mcp: World
    room: McpRoom
    engine: Engine

    async def say(self, words: str, *steps: Any) -> None:
        self.api.play(*steps)
        finished = await self.engine.turn(words)
        assert finished.outcome == "completed", (finished.error, [r.error for r in self.api.refused])

    @property
    def last(self) -> Request:
        return self.api.requests[-1]

    @property
    def lost(self) -> int:
        return sum(r.cache.lost for r in self.api.requests if r.cache)

    @property
    def causes(self) -> list[str]:
        return [e.cause for e in self.engine.seen(CacheObserved) if e.cause]

    def told(self) -> list[str]:
        """Every reminder about servers, in order, as the last request has it."""
        blocks = [b for m in self.last.messages for b in m["content"] if b["type"] == "text"]
        return [b["text"] for b in blocks if "MCP server" in b["text"]]


MakeStage = Callable[..., Any]


@pytest.fixture
async def stage(api: ApiServer, mcp: World) -> AsyncIterator[MakeStage]:
    opened: list[Any] = []

    async def build(*, first_party: bool = True, state: SessionState | None = None) -> Stage:
        provider: Any = "first_party" if first_party else "gateway"
        connection = Connection(provider, api.url, api_key=api.key, key_source="ANTHROPIC_API_KEY")
        client = AnthropicClient(connection, splitter=split_sys_prompt_prefix, options=ClientOptions(stall=30.0))
        if state is not None:
            mcp.cache = state.cache
        mcp.wiring_options = {
            "references": lambda: first_party and "deferral" not in client.refused,
            **mcp.wiring_options,
        }
        room = mcp.room()
        built: dict[str, Tool] = {**standard_tools()}
        if room.searchable:
            built["ToolSearch"] = ToolSearch(room)
        if room.dispatches:
            built["McpCall"] = McpCall(room.names)
        tools: Any = ChainMap(built, room.tools)  # type: ignore[arg-type]  # only read
        engine = make(
            client,
            tools=tools,
            prompt=Prompt(LONG),
            reminders=Reminders([room]),
            late_tools=room.late_tools,
            resolve=lambda call: resolve(call, room.tools.__contains__),
            state=state
            or SessionState(
                "s1", "claude-sonnet-5-5", "2026-11-30", tools=tuple(t.spec for t in built.values()), cache=mcp.cache
            ),
        )
        room.start(engine.state.tools)
        opened.append((room, client))
        return Stage(api, mcp, room, engine)

    yield build
    for room, client in opened:
        await room.close()
        await client.close()
    await mcp.processes.close()


async def test_servers_that_come_change_and_go_cost_no_cached_token_while_deferred(
    stage: MakeStage, mcp: World
) -> None:
    mcp.servers.add("fast", tools=[tool("read")], instructions="Read only what you need.")
    mcp.servers.add("slow", start_delay=1.0, **LOGIN)
    now: Stage = await stage()
    await now.room.manager.wait(10, ["fast"])
    await now.say("one", reply(tool_use("ToolSearch", {"query": "select:mcp__fast__read"})), "ok")
    front = without_marks([t for t in now.last.tools if not t.get("defer_loading")])
    assert [t["name"] for t in now.last.tools if t.get("defer_loading")] == ["mcp__fast__read"]
    assert "Read only what you need." in now.told()[0]
    await now.room.manager.wait(10, ["slow"])
    await now.say(
        "two",
        reply(tool_use("mcp__fast__read", {}), tool_use("ToolSearch", {"query": "login"})),
        reply(tool_use("mcp__slow__login", {})),
        reply(tool_use("ToolSearch", {"query": "select:mcp__slow__query,mcp__slow__login2"})),
        reply(tool_use("mcp__slow__query", {"sql": "select"})),
        "ok",
    )
    assert "mcp__slow__login" in now.told()[1]
    assert "New tools: mcp__slow__login2, mcp__slow__query" in now.told()[2]
    assert "no longer has: mcp__slow__login" in now.told()[2]
    assert "no longer has: mcp__slow__query" in now.told()[3]
    assert "is defined so now" in now.told()[3]
    await now.room.manager.switch("fast", on=False)
    await now.say("three", reply(tool_use("mcp__fast__read", {}), tool_use("mcp__slow__query", {"sql": ""})), "ok")
    assert "fast is no longer connected (it is switched off)" in now.told()[4]
    results = [r["content"][0]["text"] for r in now.last.tool_results]
    assert results == [
        "The MCP server fast is not part of this session any more.",
        "The MCP server slow no longer offers the tool mcp__slow__query.",
    ]
    assert without_marks([t for t in now.last.tools if not t.get("defer_loading")]) == front
    assert now.lost == 0
    assert now.causes == []
    deferred = [t["name"] for t in now.last.tools if t.get("defer_loading")]
    assert deferred == ["mcp__fast__read", "mcp__slow__login", "mcp__slow__login2", "mcp__slow__query"]


async def test_in_front_a_change_has_its_price_and_its_name(stage: MakeStage, mcp: World) -> None:
    mcp.env = {"ENABLE_TOOL_SEARCH": "false"}
    mcp.servers.add("slow", **LOGIN)
    now: Stage = await stage()
    assert not now.room.searchable
    await now.room.manager.wait(10)
    await now.say("one", reply(tool_use("mcp__slow__login", {})), reply(tool_use("mcp__slow__query", {})), "ok")
    assert [t["name"] for t in now.last.tools if t["name"].startswith("mcp")] == [
        "mcp__slow__login",
        "mcp__slow__login2",
        "mcp__slow__query",
    ]
    assert now.lost > 1000
    assert now.causes == ["tool `mcp__slow__login2` added, tool `mcp__slow__query` added", now.causes[1]]
    assert now.causes[1].startswith("tool `mcp__slow__login2` changed")
    assert all(e.expected for e in now.engine.seen(CacheObserved))


async def test_without_tool_references_a_constant_dispatcher_calls_by_name(stage: MakeStage, mcp: World) -> None:
    mcp.servers.add("slow", start_delay=0.5, **LOGIN)
    now: Stage = await stage(first_party=False)
    await now.say("zero", "ok")
    await now.room.manager.wait(10)
    await now.say(
        "one",
        reply(tool_use("ToolSearch", {"query": "log in +login"})),
        reply(tool_use("McpCall", {"tool": "mcp__slow__login", "arguments": {}})),
        reply(tool_use("McpCall", {"tool": "mcp__slow__nothing", "arguments": {}})),
        reply(tool_use("mcp__slow__query", {"sql": "x"})),
        "ok",
    )
    started = [e.name for e in now.engine.seen(ToolStarted)]
    assert started == ["ToolSearch", "mcp__slow__login", "McpCall", "mcp__slow__query"]
    results = [r["content"][0]["text"] for m in now.last.messages for r in m["content"] if r["type"] == "tool_result"]
    assert json.loads(results[0].splitlines()[1])["name"] == "mcp__slow__login"
    assert results[1:] == [
        "in",
        "There is no tool 'mcp__slow__nothing' to call. Find its name and definition with ToolSearch first.",
        "rows",
    ]
    assert not [t for t in now.last.tools if t["name"].startswith("mcp__")]
    assert now.lost == 0


async def test_permission_rules_see_the_real_name_behind_the_dispatcher(stage: MakeStage, mcp: World) -> None:
    mcp.servers.add("alpha", tools=[tool("read"), tool("drop")])
    now: Stage = await stage(first_party=False)
    await now.room.manager.wait(10)
    now.engine.policy.denies.add("mcp__alpha__drop")
    call = {"tool": "mcp__alpha__drop", "arguments": "{}"}
    await now.say("one", reply(tool_use("McpCall", call)), "ok")
    assert now.last.tool_results[0]["content"][0]["text"] == "Denied: rule deny mcp__alpha__drop"


async def test_a_resumed_conversation_sends_what_it_sent_though_its_server_is_gone(
    stage: MakeStage, mcp: World
) -> None:
    mcp.servers.add("alpha", tools=[tool("read"), tool("drop")], instructions="Careful.")
    mcp.servers.add("beta", tools=[tool("write")])
    now: Stage = await stage()
    await now.room.manager.wait(10)
    await now.say("one", reply(tool_use("ToolSearch", {"query": "select:mcp__alpha__read"})), "ok")
    state = now.engine.state
    del mcp.servers.entries["alpha"]
    again: Stage = await stage(state=state)
    await again.room.manager.wait(10)
    await again.say("two", reply(tool_use("mcp__alpha__read", {})), "ok")
    assert again.lost == 0
    assert "alpha is no longer connected (it is not configured any more)" in again.told()[1]
    assert len(again.told()) == 2
    text = again.last.tool_results[0]["content"][0]["text"]
    assert text.startswith("The MCP server alpha is not connected in this session")


async def test_ten_starts_send_the_same_bytes_whatever_servers_do(stage: MakeStage, mcp: World) -> None:
    mcp.servers.add("fast", tools=[tool("b"), tool("a")])
    mcp.servers.add("slow", start_delay=0.4, tools=[tool("c")])
    mcp.servers.add("never", mute=True)
    mcp.servers.add("flaky", tools=[tool("d")], fail_times=1, fail_file=str(mcp.cwd.parent / "count"))
    mcp.wiring_options = {"interactive": False}
    mcp.host_options = {"start": 2.5}
    for _ in range(3):
        (mcp.cwd.parent / "count").unlink(missing_ok=True)
        mcp.cache.reset()
        now: Stage = await stage()
        await now.say("x", "ok")
    first, *others = [json.dumps(without_marks(r.json)) for r in now.api.requests]
    assert others == [first, first]
    assert "mcp__flaky__d" in first
    assert "mcp__slow__c" in first


async def test_a_refused_feature_falls_back_to_definitions_as_text(
    stage: MakeStage, mcp: World, api: ApiServer
) -> None:
    mcp.servers.add("alpha", tools=[tool("read")])
    now: Stage = await stage()
    await now.room.manager.wait(10)
    refusal = error(400, message="tools.5.defer_loading: Extra inputs are not permitted")
    await now.say(
        "one",
        reply(tool_use("ToolSearch", {"query": "read"})),
        refusal,
        reply(tool_use("mcp__alpha__read", {})),
        "ok",
    )
    found = [r for m in now.last.messages for r in m["content"] if r["type"] == "tool_result"]
    assert found[0]["content"][0]["type"] == "text"
    assert '"name":"mcp__alpha__read"' in found[0]["content"][0]["text"]
    assert found[1]["content"][0]["text"] == "read {}"


async def test_nothing_is_told_twice_and_a_compaction_tells_it_again(mcp: World) -> None:
    mcp.servers.add("alpha", tools=[tool("read")], instructions="Careful.")
    async with mcp.open() as room:
        first = await room.collect("first_message")
        assert await room.collect("before_step") == []
        assert mcp.cache.choices["mcp_told"]
        assert await room.collect("after_compaction") == first
        mcp.cache.reset()
        assert await room.collect("before_step") == []
        assert mcp.cache.choices["mcp_told"]
        assert mcp.cache.choices["mcp_tools"] == "deferred"


async def test_without_delta_instructions_stay_out_of_reminders(mcp: World) -> None:
    mcp.servers.add("alpha", tools=[tool("read")], instructions="Careful.")
    mcp.servers.add("mute", mute=True)
    mcp.wiring_options = {"delta": False}
    async with mcp.open(wait=0.1) as room:
        await room.manager.wait(10, ["alpha"])
        (reminder,) = await room.collect("first_message")
        assert "Careful" not in reminder.text
        assert "mcp__alpha__read" in reminder.text
        assert await room.instructions() == "## alpha\n\nCareful."


async def test_searching_waits_for_servers_that_are_still_connecting(mcp: World) -> None:
    mcp.servers.add("slow", start_delay=0.5, tools=[tool("query_database", "Asks the data base.")])
    mcp.servers.add("missing", {"command": "no-such-program-xyz"})
    async with mcp.open(wait=0) as room:
        search = ToolSearch(room)
        result = await search.run({"query": "database"}, mcp.context())
        assert [type(c).__name__ for c in result.for_model] == ["ToolReferenceBlock"]
        nothing = await search.run({"query": "select:mcp__slow__other"}, mcp.context())
        assert nothing.is_error
        assert "There are: mcp__slow__query_database." in nothing.for_model[0].text  # type: ignore[union-attr]
        assert "missing (not found: no-such-program-xyz)" in nothing.for_model[0].text  # type: ignore[union-attr]


async def test_a_first_question_waits_shortly_and_only_for_servers_that_it_names(mcp: World) -> None:
    mcp.servers.add("slow", start_delay=0.8, tools=[tool("read")])
    mcp.servers.add("never", mute=True)
    async with mcp.open(wait=0) as room:
        loop = asyncio.get_running_loop()
        began = loop.time()
        await room.wait_named("What does Slow, the server, know?")
        assert loop.time() - began < 8
        assert {s.name: s.state for s in room.statuses()} == {"slow": "connected", "never": "pending"}
        await until(lambda: room.grace == 0.5)
    mcp.wiring_options = {"interactive": False}
    mcp.host_options = {"start": 30.0}
    for env, seconds in (({}, 5.0), ({"MCP_TIMEOUT": "7000"}, 7.0), ({"ENABLE_TOOL_SEARCH": "false"}, 30.0)):
        mcp.env = dict(env)
        assert mcp.room().grace == seconds


async def test_auto_renders_in_front_what_fits(mcp: World) -> None:
    mcp.servers.add("alpha", tools=[tool("read")])
    mcp.env = {"ENABLE_TOOL_SEARCH": "auto:1"}
    mcp.wiring_options = {"window": lambda: 100_000}
    async with mcp.open() as room:
        await room.collect("first_message")
        assert [s.name for s in room.late_tools()] == ["mcp__alpha__read"]
        assert not room.late_tools()[0].deferred
        assert mcp.cache.choices["mcp_tools"] == "front"
    mcp.cache.reset()
    mcp.wiring_options = {"window": lambda: 1_000}
    async with mcp.open() as room:
        await room.collect("first_message")
        assert room.late_tools() == ()


async def test_a_server_that_always_loads_stands_in_front(mcp: World) -> None:
    mcp.servers.add("alpha", {"alwaysLoad": True}, tools=[tool("read")])
    mcp.servers.add("beta", tools=[tool("write")])
    async with mcp.open() as room:
        (reminder,) = await room.collect("first_message")
        assert [(s.name, s.deferred) for s in room.late_tools()] == [("mcp__alpha__read", False)]
        assert "alpha" not in reminder.text
        assert room.names() == ("mcp__beta__write",)


async def test_after_a_rewind_the_servers_are_told_again_and_not_before(stage: MakeStage, mcp: World) -> None:
    mcp.servers.add("fast", tools=[tool("read")])
    mcp.servers.add("late", tools=[tool("login")])
    now: Stage = await stage()
    await now.room.manager.switch("late", on=False)
    await now.room.manager.wait(30, ["fast"])
    await now.say("one", "ok")
    await now.room.manager.switch("late", on=True)
    await now.room.manager.wait(30, ["late"])
    await now.say("two", "ok")
    await now.say("three", "ok")
    assert [("mcp__late__login" in t, "mcp__fast__read" in t) for t in now.told()] == [(False, True), (True, False)]
    now.engine.agent.rewind(4)
    await now.say("three b", "ok")
    assert len(now.told()) == 2
    now.engine.agent.rewind(2)
    await now.say("two b", "ok")
    assert "mcp__late__login" in now.told()[1]
