"""What is done behind the first prompt: the SDK is loaded, and the server asked for the model's windows."""

from __future__ import annotations

import asyncio
import contextlib

from agentcli.env import truthy
from agentcli.errors import SetupError
from agentcli.model.client import AnthropicClient
from agentcli.runtime.world import World

SECONDS = 10.0
"""So long a server is waited for that says nothing of its models: the catalog's word holds then."""


class Warming:
    """Nothing waits for it but the session's end.  ``ask`` may be called for every model that is switched to."""

    def __init__(self, client: AnthropicClient, world: World) -> None:
        self._client = client
        quiet = truthy("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", world.env)
        # The clouds' own gateways have no such address.
        self._asks = client.connection.provider in ("first_party", "gateway") and not quiet
        self._asked: dict[str, asyncio.Task[None]] = {}
        self._loading = asyncio.create_task(self._load())

    def ask(self, model: str) -> None:
        """Has ``Models.info`` say what the server says of this model, once that has answered."""
        if self._asks and model not in self._asked:
            self._asked[model] = asyncio.create_task(self._ask(model))

    async def close(self) -> None:
        for task in self._asked.values():
            task.cancel()
        await asyncio.gather(self._loading, *self._asked.values(), return_exceptions=True)

    async def _load(self) -> None:
        with contextlib.suppress(SetupError):  # the first request says it, where it can be answered
            await self._client.prefetch()

    async def _ask(self, model: str) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(SECONDS):
                await self._client.refresh_model(model)
