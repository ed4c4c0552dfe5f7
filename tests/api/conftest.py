from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack

import pytest
from anthropic import AsyncAnthropic

from tests.api import ApiServer
from tests.api.fixtures import api

__all__ = ["Connect", "api", "connect"]

Connect = Callable[..., AsyncAnthropic]


@pytest.fixture
async def connect() -> AsyncIterator[Connect]:
    """``connect(api)`` is the real SDK's client on that server, without retries of its own."""
    async with AsyncExitStack() as stack:

        def make(api: ApiServer, *, key: str = ApiServer.key, **options: object) -> AsyncAnthropic:
            options.setdefault("max_retries", 0)
            client = AsyncAnthropic(base_url=api.url, api_key=key, **options)  # type: ignore[arg-type]
            stack.push_async_callback(client.close)
            return client

        yield make
