from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from agentcli.processes import ProcessManager


@pytest.fixture
async def manager() -> AsyncIterator[ProcessManager]:
    manager = ProcessManager(grace=0.4)
    yield manager
    await manager.close()
    assert manager.running == ()
