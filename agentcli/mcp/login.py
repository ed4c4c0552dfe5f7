"""Logging in to a remote server, and out again."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AsyncExitStack

from agentcli.mcp.client import Host, Link, load_sdk
from agentcli.mcp.oauth import Loopback, login_provider
from agentcli.mcp.serverlog import ServerLog
from agentcli.mcp.tokens import Tokens, key_of
from agentcli.mcp.values import ServerEntry, ServerError


async def login(entry: ServerEntry, host: Host, *, show: Callable[[str], None]) -> str:
    """Takes the user through a login; ``show`` gets the address to be opened in a browser.

    Returns one line of how it went.  ``ServerError`` where it failed, or the server has no logins.
    """
    if entry.transport == "stdio":
        raise ServerError("runs on this machine and has no login")
    if host.vault is None:
        raise ServerError("there is no place to keep a login in; set HOME or AGENTCLI_HOME")
    await load_sdk()
    tokens = Tokens(host.vault, key_of(entry))
    log = ServerLog(host.logs, entry.name)
    link = Link(host, entry, log)
    try:
        async with Loopback(entry.oauth.callback_port) as loopback:
            provider = await login_provider(entry, host.vault, host.env, loopback, show)
            async with AsyncExitStack() as stack:
                await link.open(stack, auth=provider)
                found = provider.context
                if found.current_tokens is not None:
                    await tokens.remember(metadata=found.oauth_metadata, resource=found.protected_resource_metadata)
    except Exception as error:  # in the server's words, whatever it was
        raise await link.explain(error) from error
    finally:
        log.close()
    if await tokens.get_tokens() is None:
        return "is reached without a login"
    return "logged in"


async def logout(entry: ServerEntry, host: Host) -> bool:
    """Forgets the stored login.  Whether there was one."""
    return await Tokens(host.vault, key_of(entry)).forget()
