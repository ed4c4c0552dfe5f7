"""What is done behind the first prompt: the SDK is loaded, and the server asked for the model's windows."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

from agentcli.env import truthy
from agentcli.errors import SetupError
from agentcli.model.client import AnthropicClient
from agentcli.model.usage import cost_of
from agentcli.runtime.world import World

if TYPE_CHECKING:
    from agentcli.runtime.session import Session

SECONDS = 10.0
"""So long a server is waited for that says nothing of its models: the catalog's word holds then."""


def warm(session: Session, client: AnthropicClient) -> Warming:
    """Begins for a session that starts.  With the setting ``promptCachePrewarm`` the first question finds its prefix in
    the cache: it is answered sooner, for a tenth of the prefix's price (and the prefix is paid though nothing is
    asked)."""
    warming = Warming(client, session.world)
    warming.ask(session.state.model)
    first = session.state.interactive and not session.state.messages
    if first and session.world.settings.flag("promptCachePrewarm"):
        warming.write_front(session)
    return warming


class Warming:
    """Nothing waits for it but the session's end.  ``ask`` may be called for every model that is switched to."""

    def __init__(self, client: AnthropicClient, world: World) -> None:
        self._client = client
        quiet = truthy("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", world.env)
        # The clouds' own gateways have no such address.
        self._asks = client.connection.provider in ("first_party", "gateway") and not quiet
        self._asked: dict[str, asyncio.Task[None]] = {}
        self._front: asyncio.Task[None] | None = None
        self._loading = asyncio.create_task(self._load())

    def ask(self, model: str) -> None:
        """Has ``Models.info`` say what the server says of this model, once that has answered."""
        if self._asks and model not in self._asked:
            self._asked[model] = asyncio.create_task(self._ask(model))

    def write_front(self, session: Session) -> None:
        """Has tools and system prompt of a first request written to the cache before it is asked."""
        self._front = asyncio.create_task(self._write(session))

    async def _write(self, session: Session) -> None:
        from agentcli.runtime.explain import next_request

        usage = await self._client.prewarm(await next_request(session))
        if usage is not None:
            session.state.spend(session.state.model, usage, cost_of(usage, session.info))

    async def close(self) -> None:
        tasks = [*self._asked.values(), *([self._front] if self._front else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(self._loading, *tasks, return_exceptions=True)

    async def _load(self) -> None:
        with contextlib.suppress(SetupError):  # the first request says it, where it can be answered
            await self._client.prefetch()

    async def _ask(self, model: str) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(SECONDS):
                await self._client.refresh_model(model)
