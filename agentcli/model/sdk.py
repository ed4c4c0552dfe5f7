"""The SDK's clients, made from a connection.  Imported inside: it costs more than a second."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

import agentcli
from agentcli.errors import SetupError
from agentcli.model.connection import Connection

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic


def hides_bearer(connection: Connection) -> bool:
    """Whether the SDK's own ``Authorization`` header must be left out: there is no key, or it goes elsewhere."""
    if connection.provider not in ("first_party", "gateway"):
        return False
    if any(name.lower() == "authorization" for name, _ in connection.headers):
        return False
    nobody = connection.api_key is None and connection.auth_token is None
    return nobody or (connection.auth_header == "x-api-key" and connection.auth_token is None)


def make_client(connection: Connection) -> AsyncAnthropic:
    """The SDK's client for the connection.  ``SetupError`` when the cloud's extra is not installed."""
    import anthropic

    common: dict[str, Any] = {"max_retries": 0, "default_headers": _default_headers(connection)}
    if _needs_no_tls(connection.base_url):
        # Reading the machine's certificates takes a tenth of a second; plain HTTP on this machine needs none.
        common["http_client"] = anthropic.DefaultAsyncHttpxClient(verify=False, follow_redirects=False)
    if connection.base_url:
        common["base_url"] = connection.base_url
    try:
        match connection.provider:
            case "bedrock":
                return cast("AsyncAnthropic", anthropic.AsyncAnthropicBedrock(**common))
            case "vertex":
                return cast("AsyncAnthropic", anthropic.AsyncAnthropicVertex(**common))
            case "foundry":
                return anthropic.AsyncAnthropicFoundry(api_key=connection.api_key, **common)
            case _:
                common["open_telemetry"] = False
                if connection.auth_token is not None:
                    return anthropic.AsyncAnthropic(auth_token=connection.auth_token, **common)
                # Without a key of ours the SDK would look for profiles on disk; the header itself is left out.
                return anthropic.AsyncAnthropic(api_key=connection.api_key or "none", **common)
    except ImportError as error:
        provider = connection.provider
        raise SetupError(f"{provider} needs more packages: install agentcli[{provider}]. ({error})") from error
    except (anthropic.AnthropicError, ValueError) as error:
        raise SetupError(f"{connection.provider}: {error}") from error


def _needs_no_tls(url: str) -> bool:
    """Plain HTTP on the loopback interface, without a proxy in between and without redirects to anywhere else."""
    parts = urlsplit(url)
    proxied = any(name.lower() in ("http_proxy", "all_proxy") and value for name, value in os.environ.items())
    return parts.scheme == "http" and parts.hostname in ("127.0.0.1", "localhost", "::1") and not proxied


def _default_headers(connection: Connection) -> dict[str, str]:
    headers = {"User-Agent": f"agentcli/{agentcli.__version__}"}
    if connection.anthropic_version:
        headers["anthropic-version"] = connection.anthropic_version
    if connection.api_key is not None and _sends_key_header(connection):
        headers["X-Api-Key"] = connection.api_key
    headers.update(connection.headers)
    return headers


def _sends_key_header(connection: Connection) -> bool:
    """Older gateways read only ``x-api-key``, newer servers only the bearer: without a setting a gateway gets both."""
    if connection.provider not in ("first_party", "gateway"):
        return False
    return connection.auth_header == "x-api-key" or (
        connection.auth_header is None and connection.provider == "gateway"
    )
