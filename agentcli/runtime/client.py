"""The session's model client: connection, key helper, refusals, fallback."""

from __future__ import annotations

import asyncio
from typing import Literal, cast

from agentcli.errors import SetupError
from agentcli.model.client import AnthropicClient
from agentcli.model.connection import Connection, RunHelper, connect
from agentcli.model.monitor import CacheMonitor
from agentcli.model.options import ClientOptions
from agentcli.processes.environment import without_keys
from agentcli.prompt.split import split_sys_prompt_prefix
from agentcli.runtime.world import World

HELPER_SECONDS = 30.0


async def make_client(world: World, monitor: CacheMonitor) -> AnthropicClient:
    """Reads where to ask and with which key; nothing is sent yet and the SDK is not loaded.  ``SetupError`` in a few
    lines when there is no key and no server."""
    settings = {key: world.settings.get(key) for key in ("apiKeyHelper", "anthropicVersion", "authHeader")}
    helper = key_helper(world)

    async def fresh() -> Connection:
        return await connect(settings, world.env, run_helper=helper)

    connection = await fresh()
    return AnthropicClient(
        connection,
        splitter=split_sys_prompt_prefix,
        options=ClientOptions(
            env=world.env,
            fallback_models=_fallbacks(world),
            betas=world.options.betas,
            cache_ttl=_ttl(world),
            state_dir=world.home,
            refresh_key=fresh if connection.helper else None,
        ),
        clock=world.clock,
        monitor=monitor,
    )


def key_helper(world: World) -> RunHelper:
    """Runs the command of ``apiKeyHelper`` in a shell; its output is the key."""

    async def run(command: str) -> str:
        process = await asyncio.create_subprocess_shell(
            command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=without_keys(world.env),
            cwd=world.workspace.start,
        )
        try:
            async with asyncio.timeout(HELPER_SECONDS):
                printed, complaint = await process.communicate()
        except TimeoutError as error:
            process.kill()
            await process.wait()
            raise SetupError(f"apiKeyHelper gave no key within {HELPER_SECONDS:g} s: {command}") from error
        if process.returncode:
            said = complaint.decode("utf-8", "replace").strip().partition("\n")[0]
            raise SetupError(f"apiKeyHelper failed with exit code {process.returncode}: {command}\n  {said}".rstrip())
        return printed.decode("utf-8", "replace")

    return run


def _fallbacks(world: World) -> tuple[str, ...]:
    from agentcli.model.catalog import resolve_model

    given = world.options.fallback_model or world.settings.get("fallbackModel") or ()
    names = given.split(",") if isinstance(given, str) else given
    return tuple(resolve_model(str(n).strip(), env=world.env) for n in names if str(n).strip())


def _ttl(world: World) -> Literal["5m", "1h"] | None:
    value = world.settings.get("promptCacheTtl")
    return cast("Literal['5m', '1h']", value) if value in ("5m", "1h") else None
