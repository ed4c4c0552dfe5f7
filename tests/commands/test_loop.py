"""``/loop`` and ``/proactive``: a copy of the conversation takes this one's place, and wakes by itself."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeAlias, cast

import pytest

from agentcli.commands.base import CommandContext
from agentcli.commands.registry import Registry
from agentcli.errors import UsageError, UserError
from agentcli.model.scripted import ScriptedClient
from agentcli.ports.frontend import UserInput
from agentcli.runtime.options import SessionOptions
from agentcli.runtime.session import Session
from agentcli.ui.terminal.engine import Engine
from tests.commands.test_commands import Asked

Replaced: TypeAlias = tuple[Session, Session, ScriptedClient]


@asynccontextmanager
async def replaced(
    project: Path, line: str, **environment: str
) -> AsyncIterator[tuple[Session, Session, ScriptedClient]]:
    """A session with one turn, and the one that takes its place after the command."""
    client = ScriptedClient(["Remembered.", "Mended.\nLOOP_DONE", "Looked around."])
    engine = Engine(SessionOptions(cwd=project, environment=environment), client)
    first = cast("Session", await engine.start())
    await first.run(UserInput("remember 42"))
    name, _, arguments = line.partition(" ")
    command = Registry().find(name)
    assert command is not None
    result = await command.run(CommandContext(first, Asked()), arguments)
    assert result.change is not None
    second = cast("Session", await engine.change(result.change))
    try:
        yield first, second, client
    finally:
        await first.close()
        await second.close()


async def test_a_loop_goes_on_from_a_copy_until_it_is_done(project: Path) -> None:
    async with replaced(project, "loop 10m mend a test") as (first, second, client):
        assert first.id != second.id
        assert len(second.state.messages) == 2
        prompt = await second.waking.next()
        assert prompt.text == "mend a test"
        await second.run(prompt)
        assert second.waking.ticker is not None
        assert second.waking.ticker.over == "The loop has ended after 1 round: done."
        assert client.requests[1].system.level == "override"
        assert len(first.state.messages) == 2


async def test_proactive_mode_goes_on_from_a_copy(project: Path) -> None:
    async with replaced(project, "proactive", AGENTCLI_FEATURE_PROACTIVE="1") as (_, second, client):
        assert second.waking.ticker is not None
        await second.run(UserInput("look around"))
        assert "Sleep" in [t.name for t in client.requests[1].tools]
        second.interrupt()
        assert second.waking.ticker.over


async def test_what_can_not_be_done_is_told(project: Path) -> None:
    with pytest.raises(UserError, match="needs the feature PROACTIVE"):
        async with replaced(project, "proactive"):
            pass
    with pytest.raises(UsageError, match="/loop needs a prompt"):
        async with replaced(project, "loop"):
            pass
