"""Logins of remote servers with the package's OAuth client: a loopback address for the answer, a browser for the user.

A connection only uses and renews a login that is stored; a new one is made by ``login`` alone, since it needs the user.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

from agentcli.mcp.tokens import Tokens, Vault, key_of
from agentcli.mcp.values import NeedsLogin, ServerEntry, ServerError

if TYPE_CHECKING:
    from mcp.client.auth import OAuthClientProvider
    from mcp.shared.auth import AuthorizationCodeResult, OAuthClientInformationFull

CLIENT_NAME = "agentcli"
WAIT = 300.0
"""Seconds that the user has in the browser."""
_PAGE = (
    "<!doctype html><html><head><meta charset=utf-8><title>agentcli</title></head>"
    "<body style='font-family:sans-serif;margin:4em'><h1>{0}</h1><p>{1}</p></body></html>"
)


class Loopback:
    """A server on 127.0.0.1 that takes the one redirect of a login.  ``port`` 0 takes a free one."""

    def __init__(self, port: int = 0) -> None:
        self._wanted = port
        self._answer: asyncio.Future[dict[str, str]] = asyncio.get_running_loop().create_future()
        self._server: asyncio.Server | None = None

    @property
    def address(self) -> str:
        assert self._server is not None
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/callback"

    async def __aenter__(self) -> Loopback:
        try:
            self._server = await asyncio.start_server(self._serve, "127.0.0.1", self._wanted)
        except OSError as error:
            raise ServerError(f"port {self._wanted} for the login can't be opened ({error.strerror})") from error
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        if not self._answer.done():
            self._answer.cancel()

    async def wait(self) -> AuthorizationCodeResult:
        """The code that the browser brought.  ``ServerError`` where the login was refused or nobody came."""
        from mcp.shared.auth import AuthorizationCodeResult

        try:
            async with asyncio.timeout(WAIT):
                answer = await self._answer
        except TimeoutError:
            raise ServerError(f"nobody logged in within {WAIT / 60:.0f} minutes") from None
        if "code" not in answer:
            what = answer.get("error_description") or answer.get("error") or "no code came back"
            raise ServerError(f"the login was refused: {what}")
        return AuthorizationCodeResult(code=answer["code"], state=answer.get("state"), iss=answer.get("iss"))

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(10):
                request = await reader.readuntil(b"\r\n\r\n")
            target = request.split(b" ", 2)[1].decode("ascii", "replace")
        except (TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, IndexError, ConnectionError):
            writer.close()
            return
        parts = urlsplit(target)
        given = {k: v[0] for k, v in parse_qs(parts.query).items()}
        ours = parts.path == "/callback" and bool({"code", "error"} & given.keys())
        title, text = ("Not found", "This is not the address of a login.")
        if ours:
            good = "code" in given
            title = "Logged in" if good else "The login was refused"
            text = "You can close this window and go back to the terminal."
            if not self._answer.done():
                self._answer.set_result(given)
        body = _PAGE.format(title, text).encode()
        status = "200 OK" if ours else "404 Not Found"
        head = (
            f"HTTP/1.1 {status}\r\nContent-Type: text/html\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        )
        writer.write(head.encode() + body)
        with contextlib.suppress(ConnectionError):
            await writer.drain()
        writer.close()


async def silent_provider(
    entry: ServerEntry, vault: Vault | None, env: Mapping[str, str], *, renew: bool = False
) -> OAuthClientProvider | None:
    """What signs the requests of a connection: the stored login, renewed without the user; ``None`` without one, and
    where the entry brings its own ``Authorization``.

    ``renew``: the access token is not accepted any more, whatever its date says.
    """
    from mcp.shared.auth import OAuthMetadata, ProtectedResourceMetadata

    tokens = Tokens(vault, key_of(entry), fixed=_fixed_client(entry, env, ""))
    if any(n.lower() == "authorization" for n in entry.headers) or await tokens.get_tokens() is None:
        return None

    async def nobody(address: str = "") -> None:
        raise NeedsLogin("the stored login is no longer accepted")

    provider = _provider(entry, tokens, "http://127.0.0.1/callback", nobody, nobody)
    provider.context.token_expiry_time = 1.0 if renew else await tokens.expires_at()
    provider.context.oauth_metadata = await tokens.remembered("metadata", OAuthMetadata)
    provider.context.protected_resource_metadata = await tokens.remembered("resource", ProtectedResourceMetadata)
    return provider


async def can_renew(entry: ServerEntry, vault: Vault | None) -> bool:
    """Whether a stored login could be renewed."""
    found = await Tokens(vault, key_of(entry)).get_tokens()
    return found is not None and bool(found.refresh_token)


async def login_provider(
    entry: ServerEntry, vault: Vault | None, env: Mapping[str, str], loopback: Loopback, show: Callable[[str], None]
) -> OAuthClientProvider:
    """What logs in: ``show`` gets the address that the user has to open."""
    tokens = Tokens(vault, key_of(entry), fixed=_fixed_client(entry, env, loopback.address))
    known = await tokens.get_client_info()
    if known is not None and not entry.oauth.client_id:
        addresses = [str(u) for u in known.redirect_uris or ()]
        if loopback.address not in addresses:
            await tokens.forget_client()

    async def redirect(address: str) -> None:
        show(address)

    return _provider(entry, tokens, loopback.address, redirect, loopback.wait)


def _provider(
    entry: ServerEntry,
    tokens: Tokens,
    address: str,
    redirect: Callable[[str], Awaitable[None]],
    callback: Callable[[], Awaitable[Any]],
) -> OAuthClientProvider:
    from mcp.client.auth import OAuthClientProvider
    from mcp.shared.auth import OAuthClientMetadata

    class Pinned(OAuthClientMetadata):
        """The entry's scopes stay, whatever the server proposes."""

        def __setattr__(self, name: str, value: Any) -> None:
            if name != "scope":
                super().__setattr__(name, value)

    model = Pinned if entry.oauth.scopes else OAuthClientMetadata
    metadata = model.model_validate(
        {
            "client_name": CLIENT_NAME,
            "redirect_uris": [address],
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
            "scope": entry.oauth.scopes or None,
        }
    )
    return OAuthClientProvider(entry.url, metadata, tokens, redirect, callback)


def _fixed_client(entry: ServerEntry, env: Mapping[str, str], address: str) -> OAuthClientInformationFull | None:
    """A client that was registered with the server beforehand (``oauth.clientId``, ``MCP_CLIENT_SECRET``)."""
    if not entry.oauth.client_id:
        return None
    from mcp.shared.auth import OAuthClientInformationFull

    secret = env.get("MCP_CLIENT_SECRET")
    return OAuthClientInformationFull.model_validate(
        {
            "client_id": entry.oauth.client_id,
            "client_secret": secret,
            "redirect_uris": [address] if address else None,
            "token_endpoint_auth_method": "client_secret_post" if secret else "none",
        }
    )
