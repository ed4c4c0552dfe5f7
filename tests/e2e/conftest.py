"""The benchmark's sessions, played once for all tests that look at them."""

from __future__ import annotations

import asyncio

import pytest

from tests.benchmarks.cache import Played, played
from tests.benchmarks.cache_sessions import SESSIONS


@pytest.fixture(scope="session")
def sessions() -> dict[str, Played]:
    async def play() -> dict[str, Played]:
        return {name: await played(name, session) for name, session in SESSIONS.items()}

    return asyncio.run(play())
