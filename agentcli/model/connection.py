"""Which server the model is asked from, and with which key.

Sources, first match wins: the clouds (``CLAUDE_CODE_USE_BEDROCK``, ``…_VERTEX``, ``…_FOUNDRY``), else the Messages API
at ``ANTHROPIC_BASE_URL`` (by default the Anthropic API), with ``ANTHROPIC_API_KEY``, ``ANTHROPIC_AUTH_TOKEN`` or the
setting ``apiKeyHelper`` (a command whose output is the key).
"""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias
from urllib.parse import urlsplit

from agentcli.env import truthy
from agentcli.errors import SetupError
from agentcli.model.catalog import Provider

AuthHeader = Literal["x-api-key", "bearer"]
RunHelper: TypeAlias = Callable[[str], Awaitable[str]]
"""Runs the command of ``apiKeyHelper`` and returns its standard output; raises ``SetupError`` when it fails."""
ANTHROPIC_URL = "https://api.anthropic.com"

_NO_KEY = """No API key and no server is configured.
  Set ANTHROPIC_API_KEY to a key of the Anthropic API (https://platform.claude.com), or
  set ANTHROPIC_BASE_URL to a server that speaks the Messages API (a gateway, vLLM, llama.cpp, Ollama), or
  put a command that prints a key into the setting "apiKeyHelper".
To look around without a key, run: agentcli demo"""


@dataclass(frozen=True, slots=True)
class Connection:
    """``key_source`` names where the key came from; ``headers`` are sent with every request."""

    provider: Provider
    base_url: str = ANTHROPIC_URL
    api_key: str | None = None
    auth_token: str | None = None
    auth_header: AuthHeader | None = None
    anthropic_version: str | None = None
    headers: tuple[tuple[str, str], ...] = ()
    key_source: str = "none"
    helper: str = ""
    """The command of ``apiKeyHelper``, where the key came from it: it is asked again when the key is refused."""

    @property
    def first_party(self) -> bool:
        """Whether this is the Anthropic API itself, so that its betas and its global cache scope may be used."""
        return self.provider == "first_party"

    @property
    def fingerprint(self) -> str:
        """Endpoint and key in one short name that gives neither away."""
        secret = self.api_key or self.auth_token or ""
        return hashlib.sha256(f"{self.provider}\n{self.base_url}\n{secret}".encode()).hexdigest()[:16]

    def __repr__(self) -> str:
        return f"Connection({self.provider}, {self.base_url}, key from {self.key_source})"


async def connect(
    settings: Mapping[str, Any], env: Mapping[str, str], *, run_helper: RunHelper | None = None
) -> Connection:
    """The connection that settings and environment describe.  ``SetupError`` in a few lines when they can't work."""
    headers = tuple(_custom_headers(env))
    for provider, switch in (("bedrock", "BEDROCK"), ("vertex", "VERTEX"), ("foundry", "FOUNDRY")):
        if truthy(f"CLAUDE_CODE_USE_{switch}", env):
            return _cloud(provider, env, headers)
    base_url = _base_url(env)
    foreign = base_url is not None and not _is_anthropic(base_url)
    passing_through = truthy("AGENTCLI_FIRST_PARTY_GATEWAY", env)
    connection = Connection(
        "gateway" if foreign and not passing_through else "first_party",
        base_url or ANTHROPIC_URL,
        auth_header=_choice(settings, "authHeader", ("x-api-key", "bearer")),
        anthropic_version=_text(settings, "anthropicVersion"),
        headers=headers,
    )
    key, token = env.get("ANTHROPIC_API_KEY", "").strip(), env.get("ANTHROPIC_AUTH_TOKEN", "").strip()
    helper = _text(settings, "apiKeyHelper")
    if helper and run_helper is not None:
        return await with_helper_key(replace(connection, helper=helper), run_helper)
    if key:
        return replace(connection, api_key=_checked(key, "ANTHROPIC_API_KEY"), key_source="ANTHROPIC_API_KEY")
    if token:
        return replace(
            connection, auth_token=_checked(token, "ANTHROPIC_AUTH_TOKEN"), key_source="ANTHROPIC_AUTH_TOKEN"
        )
    if _has_auth(headers):
        return replace(connection, key_source="ANTHROPIC_CUSTOM_HEADERS")
    if not foreign:
        raise SetupError(_NO_KEY)
    return connection


async def with_helper_key(connection: Connection, run_helper: RunHelper) -> Connection:
    """The connection with a key that ``apiKeyHelper`` has just printed."""
    printed = (await run_helper(connection.helper)).strip()
    if not printed:
        raise SetupError(f"apiKeyHelper printed nothing: {connection.helper}")
    return replace(connection, api_key=_checked(printed, "apiKeyHelper"), key_source="apiKeyHelper")


def _checked(key: str, source: str) -> str:
    if not key.isascii() or any(c.isspace() for c in key):
        raise SetupError(f"The key from {source} holds blanks, line ends or non-ASCII characters. Give the bare key.")
    return key


def _cloud(provider: str, env: Mapping[str, str], headers: tuple[tuple[str, str], ...]) -> Connection:
    match provider:
        case "bedrock":
            if not (env.get("AWS_REGION") or env.get("AWS_DEFAULT_REGION")):
                raise SetupError("CLAUDE_CODE_USE_BEDROCK is set, but no region: set AWS_REGION.")
            return Connection("bedrock", env.get("ANTHROPIC_BEDROCK_BASE_URL", ""), headers=headers, key_source="AWS")
        case "vertex":
            if not env.get("ANTHROPIC_VERTEX_PROJECT_ID"):
                raise SetupError("CLAUDE_CODE_USE_VERTEX is set, but no project: set ANTHROPIC_VERTEX_PROJECT_ID.")
            return Connection(
                "vertex", env.get("ANTHROPIC_VERTEX_BASE_URL", ""), headers=headers, key_source="Google Cloud"
            )
        case _:
            if not (env.get("ANTHROPIC_FOUNDRY_RESOURCE") or env.get("ANTHROPIC_FOUNDRY_BASE_URL")):
                raise SetupError("CLAUDE_CODE_USE_FOUNDRY is set, but no resource: set ANTHROPIC_FOUNDRY_RESOURCE.")
            url = env.get("ANTHROPIC_FOUNDRY_BASE_URL", "")
            return Connection(
                "foundry", url, env.get("ANTHROPIC_FOUNDRY_API_KEY"), headers=headers, key_source="Foundry"
            )


def _base_url(env: Mapping[str, str]) -> str | None:
    given = env.get("ANTHROPIC_BASE_URL", "").strip()
    if not given:
        return None
    try:
        parts = urlsplit(given)
        sound = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        sound = False
    if not sound or any(c.isspace() for c in given):
        raise SetupError(
            f"ANTHROPIC_BASE_URL is not a web address: {given!r}\n"
            "  It should look like http://127.0.0.1:8080 or https://gateway.example.com/anthropic\n"
            "  To look around without a server, run: agentcli demo"
        )
    # The client adds /v1/messages itself; addresses are often given with it.
    return given.rstrip("/").removesuffix("/messages").removesuffix("/v1").rstrip("/")


def _is_anthropic(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    return host == "api.anthropic.com" or host.endswith(".anthropic.com")


def _custom_headers(env: Mapping[str, str]) -> list[tuple[str, str]]:
    """``ANTHROPIC_CUSTOM_HEADERS``: one ``Name: value`` a line."""
    found = []
    for line in env.get("ANTHROPIC_CUSTOM_HEADERS", "").splitlines():
        if not line.strip():
            continue
        name, colon, value = line.partition(":")
        if not colon or not name.strip().isascii() or not name.strip() or " " in name.strip():
            raise SetupError(f"ANTHROPIC_CUSTOM_HEADERS: not a header: {line!r}. Give one `Name: value` a line.")
        found.append((name.strip(), value.strip()))
    return found


def _has_auth(headers: tuple[tuple[str, str], ...]) -> bool:
    return any(name.lower() in ("authorization", "x-api-key") for name, _ in headers)


def _text(settings: Mapping[str, Any], name: str) -> str | None:
    value = settings.get(name)
    if value is None or value == "":
        return None
    if not isinstance(value, str):
        raise SetupError(f"The setting {name!r} must be a text.")
    return value


def _choice(settings: Mapping[str, Any], name: str, choices: tuple[AuthHeader, ...]) -> AuthHeader | None:
    value = _text(settings, name)
    if value is None:
        return None
    for choice in choices:
        if value.lower() == choice:
            return choice
    raise SetupError(f"The setting {name!r} must be one of {', '.join(choices)}, not {value!r}.")
