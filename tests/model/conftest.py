from __future__ import annotations

import random
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from agentcli.model.client import AnthropicClient
from agentcli.model.connection import Connection
from agentcli.model.options import ClientOptions
from agentcli.model.retry import RetryPolicy
from agentcli.prompt.split import split_sys_prompt_prefix
from tests.api import ApiServer
from tests.api.fixtures import api  # noqa: F401  (a fixture)
from tests.model.clock import VirtualClock

MakeClient = Callable[..., AnthropicClient]


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


@pytest.fixture
async def make_client(api: ApiServer, clock: VirtualClock, tmp_path: Path) -> AsyncIterator[MakeClient]:  # noqa: F811
    """``make_client(provider="gateway", stall=1, …)``: a client of the running server, on a virtual clock."""
    async with AsyncExitStack() as stack:

        def make(*, provider: Any = "first_party", **more: Any) -> AnthropicClient:
            connection = more.pop("connection", None) or Connection(
                provider, api.url, api_key=api.key, key_source="ANTHROPIC_API_KEY"
            )
            more.setdefault("retry", RetryPolicy(random=random.Random(1)))
            more.setdefault("stall", 30.0)
            more.setdefault("state_dir", tmp_path / "state")
            made = AnthropicClient(
                connection, splitter=split_sys_prompt_prefix, clock=clock, options=ClientOptions(**more)
            )
            stack.push_async_callback(made.close)
            return made

        yield make
