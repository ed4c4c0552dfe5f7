"""Deliberate breaks in running sessions: each is named right, and its price is the server's own."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from agentcli.agent.measure import without_thinking
from agentcli.messages import ImageBlock
from agentcli.model.monitor import Observation
from agentcli.ports.model import ToolSpec
from agentcli.prompt.effective import given
from agentcli.runtime.session import Session
from tests.api import ApiServer, error, reply, text, thinking, tool_use
from tests.api.models import MODELS
from tests.api.render import render
from tests.benchmarks.cache_sessions import MCP_TOOL
from tests.e2e.harness import PIXEL, Stage, blocks

LONG = "A long question about the code of this place. " * 300
READ = 0.1
WRITE = 1.25
Change = Callable[[Stage, Session], Awaitable[None] | None]


@pytest.fixture
def stage(api: ApiServer, home: Path, project: Path) -> Stage:
    (project / "CLAUDE.md").write_text("Use tabs.\n")
    return Stage(api, home, project)


def section(name: str) -> Change:
    """One more byte at the end of a section that is memoised."""

    def change(stage: Stage, session: Session) -> None:
        session.state.cache.sections[name] = f"{session.state.cache.sections[name]}!"

    return change


def layer(session: Session, kind: str, words: str) -> None:
    """Words of another level, as a changed command line would bring them."""
    session.prompt.levels = replace(session.prompt.levels, **{kind: given(words)})


def tools(change: Callable[[list[ToolSpec]], list[ToolSpec]]) -> Change:
    def apply(stage: Stage, session: Session) -> None:
        session.state.tools = tuple(change(list(session.state.tools)))

    return apply


def one_byte(specs: list[ToolSpec]) -> list[ToolSpec]:
    return [replace(specs[0], description=specs[0].description + "!"), *specs[1:]]


def edited(stage: Stage, session: Session) -> None:
    message = session.state.messages[2]
    words = replace(message.content[-1], text=message.content[-1].text.replace("long", "Long", 1))
    session.state.messages[2] = replace(message, content=(*message.content[:-1], words))
    for number in (3, 5):
        session.state.messages[number] = without_thinking(session.state.messages[number])


async def model(stage: Stage, session: Session) -> None:
    await session.set_model("opus")


async def effort(stage: Stage, session: Session) -> None:
    await session.set_model(effort="low")


async def no_thinking(stage: Stage, session: Session) -> None:
    await session.set_model(thinking="off")


def betas(stage: Stage, session: Session) -> None:
    session.state.cache.beta_headers.append("context-1m-2025-08-07")


def rewind(stage: Stage, session: Session) -> None:
    session.agent.rewind(session.agent.turn_starts()[-1])


@dataclass(frozen=True)
class Row:
    change: Change
    cause: str
    expected: bool = False
    kept: str = "nothing"
    """What must still be read: ``nothing``, ``tools``, ``static`` (tools and static region), ``front`` (all in front of
    the messages) or ``some`` messages."""
    price: float = 2.0


TABLE = {
    "one byte of a tool's description": Row(tools(one_byte), "tool `Bash` changed (+1 bytes at "),
    "a tool removed": Row(tools(lambda t: t[1:]), "tool `Bash` removed"),
    "tools reordered": Row(tools(lambda t: [t[1], t[0], *t[2:]]), "tools reordered"),
    "a tool added": Row(tools(lambda t: [*t, replace(MCP_TOOL, name="Search", mcp=False)]), "tool `Search` added"),
    "a server's tool rendered in front": Row(
        tools(lambda t: [*t, MCP_TOOL]), "tool `mcp__tickets__search` added", expected=True
    ),
    "model": Row(model, "model changed (claude-sonnet-5-5 to claude-opus-5-5)", expected=True, price=4.0),
    "effort": Row(effort, "effort changed (default to low)", expected=True),
    "a beta header": Row(betas, "beta headers changed (context-1m-2025-08-07 added)"),
    "section session_guidance": Row(section("session_guidance"), "section `session_guidance` changed", kept="static"),
    "section memory": Row(section("memory"), "section `memory` changed", kept="static"),
    "section env_info_simple": Row(section("env_info_simple"), "section `env_info_simple` changed", kept="static"),
    "section token_budget": Row(section("token_budget"), "section `token_budget` changed", kept="static"),
    "section scratchpad": Row(section("scratchpad"), "section `scratchpad` changed", kept="static"),
    "an appended prompt": Row(
        lambda stage, session: layer(session, "append", "Other words."), "section `append` added", kept="static"
    ),
    "a replaced prompt": Row(
        lambda stage, session: layer(session, "custom", "Other words."), "section `identity` removed", kept="nothing"
    ),
    "thinking switched off": Row(
        no_thinking, "thinking changed (adaptive to between_tools)", expected=True, kept="front"
    ),
    "an old message edited": Row(edited, "history rewritten at message 3", kept="some"),
    "rewind": Row(rewind, "history rewritten at message 5 by rewind", expected=True, kept="some"),
    "a pause past the time to live": Row(
        lambda stage, session: stage.clock.advance(420), "idle 7 min > TTL 5 min", expected=True
    ),
    "an eviction": Row(lambda stage, session: stage.api.cache.evict(), "prefix unchanged: evicted by the server"),
}


async def three_turns(stage: Stage, session: Session) -> None:
    for number in range(3):
        words = reply(thinking(f"I think of {number}."), text(f"Answer {number}."))
        await stage.say(session, f"{number}: {LONG}", words)


def check_price(stage: Stage, seen: Observation, price: float) -> None:
    """The monitor's word on the request that came last is the server's."""
    before, now = stage.requests[-2:]
    assert before.cache is not None
    assert now.cache is not None
    assert seen.lost == before.cache.total - now.cache.read == now.cache.lost > 0
    assert (seen.usage.cache_read, seen.usage.cache_write) == (now.cache.read, now.cache.written)
    again = min(seen.lost, now.cache.written)
    assert seen.lost_cost == pytest.approx(again * (WRITE - READ) * price / 1e6)
    assert seen.cost == pytest.approx(now.cost)
    assert seen.saved == pytest.approx(now.cache.cost_uncached - now.cache.cost)


def kept_tokens(stage: Stage, kept: str) -> int:
    """The least that is read."""
    now = stage.requests[-1]
    chain = render(now.json, MODELS[now.model], now.betas)
    front = [b for b in chain if b.level != "messages"]
    static = next(i for i, b in enumerate(front) if b.marker) + 1
    match kept:
        case "nothing":
            return 0
        case "static":
            return sum(b.tokens for b in front[:static])
        case "front":
            return sum(b.tokens for b in front)
        case _:
            return sum(b.tokens for b in front) + 3_000


@pytest.mark.parametrize("name", TABLE)
async def test_each_break_is_named_priced_and_labelled(stage: Stage, name: str) -> None:
    row = TABLE[name]
    async with stage.session() as session:
        await three_turns(stage, session)
        made = row.change(stage, session)
        if made is not None:
            await made
        await stage.say(session, "And now?", "So.")
        seen = session.monitor.last
        assert seen is not None
        assert seen.cause.startswith(row.cause), seen.cause
        assert (seen.expected, seen.alert) == (row.expected, not row.expected)
        check_price(stage, seen, row.price)
        least = kept_tokens(stage, row.kept)
        assert stage.requests[-1].cache is not None
        read = stage.requests[-1].cache.read
        assert read == least or (row.kept == "some" and read > least)
        await stage.say(session, "And then?", "So too.")
        assert session.monitor.last.cause == ""
        assert stage.requests[-1].cache.lost == 0
    stage.api.assert_clean()


async def test_the_first_image_loses_the_messages_by_design(stage: Stage) -> None:
    async with stage.session() as session:
        await three_turns(stage, session)
        await stage.say(session, "Look.", "I see.", attach=[ImageBlock("image/png", PIXEL)])
        seen = session.monitor.last
        assert seen is not None
        assert (seen.cause, seen.expected, seen.alert) == ("first image of the conversation", True, False)
        check_price(stage, seen, 2.0)
        assert seen.usage.cache_read == kept_tokens(stage, "front")
        await stage.say(session, "And this?", "I see too.", attach=[ImageBlock("image/png", PIXEL)])
        assert session.monitor.last.cause == ""


async def test_a_compaction_is_named_and_its_price_is_the_servers(stage: Stage) -> None:
    async with stage.session() as session:
        await three_turns(stage, session)
        stage.play("A summary of three answers.")
        assert await session.compact() is not None
        assert session.monitor.last.cause == ""
        await stage.say(session, "On we go.", "So.")
        seen = session.monitor.last
        asking, now = stage.requests[-2:]
        assert seen.cause == "history rewritten at message 1 by compaction"
        assert (seen.expected, seen.alert) == (True, False)
        assert seen.lost == asking.cache.total - now.cache.read
        assert seen.lost_cost == pytest.approx(now.cache.written * (WRITE - READ) * 2 / 1e6)
        assert session.monitor.totals.breaks == 0


async def test_a_switch_and_back_drops_thinking_whole_and_shows_its_price_before(stage: Stage) -> None:
    async with stage.session() as session:
        await three_turns(stage, session)
        for there in ("opus", "sonnet"):
            price = session.switch_price(there)
            await session.set_model(there)
            await stage.say(session, f"With {there}?", reply(thinking("Well."), text("Yes.")))
            now = stage.requests[-1]
            assert [b for b in blocks(now) if '"thinking"' in b] == []
            assert session.monitor.last.cause.startswith("model changed")
            assert session.monitor.last.expected
            assert price.tokens == pytest.approx(now.cache.total, rel=0.02)
        await stage.say(session, "And on?", "Yes.")
        assert [b for b in blocks(stage.requests[-1]) if '"thinking"' in b] != []
        assert stage.requests[-1].cache.lost == 0
    stage.api.assert_clean()


async def test_a_fallback_in_the_middle_of_a_turn_is_accepted_and_named(stage: Stage) -> None:
    (stage.project / "a.py").write_text("x = 1\n")
    async with stage.session(fallback_model="opus") as session:
        await three_turns(stage, session)
        look = reply(thinking("I look."), tool_use("Read", {"file_path": str(stage.project / "a.py")}))
        await stage.say(session, "Read it.", look, *[error(529)] * 3, reply(thinking("Seen."), text("It is 1.")))
        assert stage.requests[-1].model == "claude-opus-5-5"
        assert session.monitor.last.cause == "model changed (claude-sonnet-5-5 to claude-opus-5-5) by fallback"
        await stage.say(session, "And now?", "Back.")
        assert stage.requests[-1].model == "claude-sonnet-5-5"
        assert session.monitor.last.cause == "model changed (claude-opus-5-5 to claude-sonnet-5-5)"
        assert session.monitor.totals.breaks == 0
    stage.api.assert_clean()


@pytest.mark.parametrize("layout", ["split", "documented"])
async def test_a_scope_that_is_refused_in_mid_session_is_switched_off(stage: Stage, layout: str) -> None:
    """With the split layout no text changes; with the documented one the thinking behind it has to go."""
    stage.api.refused_is_fine = True
    async with stage.session(settings=f'{{"promptCacheLayout": "{layout}"}}') as session:
        await three_turns(stage, session)
        stage.api.options.refuse_scope = True
        await stage.say(session, "And now?", "So.")
        assert len(stage.api.refused) == 1
        assert session.monitor.last.cause == "beta headers changed (prompt-caching-scope-2026-01-05 removed)"
        thought = [b for b in blocks(stage.requests[-1]) if '"thinking"' in b]
        assert len(thought) == (3 if layout == "split" else 0)
        await stage.say(session, "And then?", "So too.")
        assert stage.requests[-1].cache.lost == 0
        assert session.monitor.last.cause == ""
    assert len(stage.api.refused) == 1
