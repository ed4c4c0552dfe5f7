"""What a session may choose about its model client."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from agentcli.env import number
from agentcli.errors import SetupError
from agentcli.model.connection import Connection
from agentcli.model.retry import RetryPolicy
from agentcli.model.transport import STALL


@dataclass(frozen=True, slots=True)
class ClientOptions:
    """``fallback_models`` are tried in order after repeated overload; ``betas`` are the user's own beta headers;
    ``cache_ttl`` is the setting ``promptCacheTtl``; ``stall`` seconds; ``state_dir`` is where refusals are remembered;
    ``refresh_key`` makes a connection with a new key when the old one is refused.
    """

    env: Mapping[str, str] = field(default_factory=dict)
    fallback_models: tuple[str, ...] = ()
    betas: tuple[str, ...] = ()
    cache_ttl: Literal["5m", "1h"] | None = None
    stall: float | None = None
    state_dir: Path | None = None
    refresh_key: Callable[[], Awaitable[Connection]] | None = None
    retry: RetryPolicy | None = None


def stall_seconds(env: Mapping[str, str]) -> float:
    """``CLAUDE_STREAM_IDLE_TIMEOUT_MS`` in seconds, or the default."""
    return number("CLAUDE_STREAM_IDLE_TIMEOUT_MS", int(STALL * 1000), env) / 1000 or STALL


def user_betas(options: ClientOptions, connection: Connection) -> tuple[str, ...]:
    """``--betas``, ``ANTHROPIC_BETAS`` and a custom ``anthropic-beta`` header, each once."""
    given = [*options.betas, *options.env.get("ANTHROPIC_BETAS", "").split(",")]
    given += [
        part for name, value in connection.headers if name.lower() == "anthropic-beta" for part in value.split(",")
    ]
    return tuple(dict.fromkeys(b.strip() for b in given if b.strip()))


def extra_body(env: Mapping[str, str]) -> Mapping[str, Any] | None:
    """``CLAUDE_CODE_EXTRA_BODY``: a JSON object for the request's top level.  ``SetupError`` when it is none."""
    text = env.get("CLAUDE_CODE_EXTRA_BODY", "").strip()
    if not text:
        return None
    try:
        value = json.loads(text)
    except ValueError as error:
        raise SetupError(f"CLAUDE_CODE_EXTRA_BODY is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise SetupError("CLAUDE_CODE_EXTRA_BODY must be a JSON object.")
    return value
