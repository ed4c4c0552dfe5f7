"""``/context`` agrees with what the server counts, category by category, and asks for nothing twice."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agentcli.commands import context
from agentcli.commands.base import CommandContext
from agentcli.messages import Block, ImageBlock, Message, TextBlock, ToolResultBlock, ToolUseBlock, block_to_api, user
from agentcli.model.client import AnthropicClient
from agentcli.model.window import category_of, section_of
from agentcli.model.window_count import WindowCounter
from agentcli.ports.frontend import UserInput
from agentcli.ports.model import ModelRequest, ToolSpec
from agentcli.runtime.explain import next_request
from agentcli.runtime.session import Session
from tests.api import ApiServer, reply, text, thinking, tool_use
from tests.api.fixtures import api  # noqa: F401  (a fixture)
from tests.api.tokens import count_block, count_json, count_text
from tests.commands.test_money_and_window import NoDialogs
from tests.e2e.harness import PIXEL, Stage

MCP_TOOL = ToolSpec("mcp__db__query", "Asks the database. " * 20, {"type": "object", "properties": {}}, mcp=True)


@pytest.fixture
async def session(api: ApiServer, home: Path, project: Path) -> AsyncIterator[Session]:  # noqa: F811
    (project / "CLAUDE.md").write_text("Use tabs. " * 300)
    (project / "a.py").write_text("def part(value: int) -> int: ...\n" * 400)
    stage = Stage(api, home, project)
    async with stage.session() as opened:
        opened.state.tools = (*opened.state.tools, MCP_TOOL)
        read = tool_use("Read", {"file_path": str(project / "a.py")})
        await stage.say(
            opened,
            "Look at this. " * 40,
            reply(thinking("Hm. " * 50), text("I read it."), read),
            "It has parts. " * 30,
            attach=[ImageBlock("image/png", PIXEL)],
        )
        (project / "a.py").write_text("changed = True\n")
        await stage.say(opened, "Go on.", "Done.")
        yield opened


def reference(session: Session, request: ModelRequest) -> dict[str, int]:
    """The test server's own figures for the request, by category."""
    client = session.client
    assert isinstance(client, AnthropicClient)
    body: dict[str, Any] = client.preview(replace(request, messages=(*request.messages, user(".")))).body
    sizes: dict[str, int] = {}

    def add(name: str, count: int) -> None:
        sizes[name] = sizes.get(name, 0) + count

    for part in request.system.parts:
        if part.kind != "boundary":
            add(section_of(part.name), count_text(part.text))
    for tool, spec in zip(body["tools"], request.tools, strict=True):
        add("MCP tools" if spec.mcp else "tools", count_json({k: v for k, v in tool.items() if k != "cache_control"}))
    for message in request.messages:
        for block in message.content:
            add(category_of(block), counted(block))
    return sizes


def counted(block: Block) -> int:
    if isinstance(block, ToolResultBlock):
        return sum(counted(inner) for inner in block.content)
    return count_block(block_to_api(block))


def off(found: int, wanted: int) -> float:
    return abs(found - wanted) / wanted


async def test_every_category_is_within_two_percent(session: Session) -> None:
    request = await next_request(session)
    use = await WindowCounter(session.client.count, {}).use(request, window=200_000, reserved=45_000)
    wanted = reference(session, request)
    found = dict(use.parts)
    assert use.counted
    assert set(found) == set(wanted)
    assert {"memory files", "MCP tools", "tools", "tool results", "reminders", "conversation"} <= set(found)
    assert {name: off(found[name], wanted[name]) for name in wanted if off(found[name], wanted[name]) > 0.02} == {}


async def test_the_sum_is_what_the_next_request_has(session: Session, api: ApiServer) -> None:  # noqa: F811
    use = await WindowCounter(session.client.count, {}).use(await next_request(session), window=200_000, reserved=0)
    api.play("Again.")
    await session.run(UserInput("x"))
    last = api.requests[-1].cache
    assert last is not None
    assert last.total - use.used <= count_text("x")


async def test_looking_again_asks_only_for_what_is_new(session: Session, api: ApiServer) -> None:  # noqa: F811
    ctx = CommandContext(session, NoDialogs())

    def asked() -> int:
        return sum(r.path.endswith("/count_tokens") for r in api.all_requests)

    first = (await context.run(ctx, "")).text
    once = asked()
    assert 6 <= once <= 10
    assert (await context.run(ctx, "")).text == first
    assert asked() == once
    session.state.append(Message("user", (TextBlock("more"),)))
    await context.run(ctx, "")
    assert asked() == once + 1
    assert "counted by the API." in first
    assert "shares are estimated" not in first
    assert "the conversation is compacted by itself" in first


@pytest.mark.parametrize("fails", [lambda n: True, lambda n: n == 3])
async def test_a_server_that_does_not_count_leaves_estimates(session: Session, fails: Callable[[int], bool]) -> None:
    asked = 0

    async def count(request: ModelRequest) -> int | None:
        nonlocal asked
        asked += 1
        return None if fails(asked) else 100

    use = await WindowCounter(count, {}).use(await next_request(session), window=200_000, reserved=45_000)
    assert (use.measured, use.counted) == (False, False)
    assert use.used > 5_000


async def test_old_results_are_advice(session: Session) -> None:
    for number in range(7):
        session.state.append(Message("assistant", (tool(number),)))
        session.state.append(user(ToolResultBlock(f"t{number}", (TextBlock("a line\n" * 3_000),))))
    told = (await context.run(CommandContext(session, NoDialogs()), "")).text
    assert "`toolResultClearing`" in told
    session.agent.limits.clear_results = True
    assert "`toolResultClearing`" not in (await context.run(CommandContext(session, NoDialogs()), "")).text


def tool(number: int) -> Block:
    return ToolUseBlock(f"t{number}", "Read", {"file_path": f"/{number}"})
