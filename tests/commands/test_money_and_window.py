"""``/cost``, ``/cache`` and ``/context`` on a real session."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agentcli.commands import cache, context, cost
from agentcli.commands.base import CommandContext
from agentcli.errors import UserError
from agentcli.ports.frontend import UserInput
from agentcli.runtime.build import open_session
from agentcli.runtime.options import SessionOptions
from agentcli.runtime.session import Session
from tests.api import ApiServer
from tests.api.fixtures import api  # noqa: F401  (a fixture)


class NoDialogs:
    async def choose(self, *_: object, **__: object) -> None: ...

    async def confirm(self, *_: object, **__: object) -> bool:
        return False

    async def edit(self, *_: object, **__: object) -> None: ...

    async def show(self, *_: object) -> None: ...


@pytest.fixture
async def session(api: ApiServer, project: Path) -> AsyncIterator[Session]:  # noqa: F811
    opened = await open_session(SessionOptions(cwd=project))
    yield opened
    await opened.close()


async def test_before_anything_was_asked(session: Session) -> None:
    ctx = CommandContext(session, NoDialogs())
    assert "Nothing has been asked yet" in (await cost.run(ctx, "")).text
    assert "Nothing has been asked yet" in (await cache.run(ctx, "")).text
    window = (await context.run(ctx, "")).text
    assert "counted by the API" in window
    assert "conversation" not in window.partition("```")[2]


async def test_after_two_turns(session: Session, api: ApiServer) -> None:  # noqa: F811
    api.play("one", "two")
    ctx = CommandContext(session, NoDialogs())
    for words in ("hello", "again"):
        await session.run(UserInput(words))
    assert "`claude-sonnet-5-5` | 2 |" in (await cost.run(ctx, "")).text
    told = (await cache.run(ctx, "")).text
    assert "100.0% of what was readable" in told
    assert "Lost: 0 tokens" in told
    window = (await context.run(ctx, "")).text
    assert "counted by the API" in window
    assert "tools" in window


async def test_the_prompt_part_by_part(session: Session) -> None:
    ctx = CommandContext(session, NoDialogs())
    told = (await context.run(ctx, "prompt")).text
    assert "intro" in told
    assert "level default" in told
    with pytest.raises(UserError, match="prompt"):
        await context.run(ctx, "everything")


async def test_looking_decides_nothing(session: Session) -> None:
    await context.run(CommandContext(session, NoDialogs()), "")
    assert "ttl" not in session.state.cache.choices
    assert session.state.cache.beta_headers == []
