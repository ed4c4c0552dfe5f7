"""One entry of a configuration: its variables, its shape, clear errors for it alone."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agentcli.errors import SettingsError
from agentcli.mcp.values import OAuthChoices, Scope, ServerEntry, TransportKind
from agentcli.messages import Json

VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
_KINDS: Mapping[str, TransportKind] = {
    "stdio": "stdio",
    "http": "http",
    "streamable-http": "http",
    "sse": "sse",
    "sdk": "sdk",
}
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


def expand(text: str, env: Mapping[str, str], where: str) -> str:
    """``${VAR}`` and ``${VAR:-default}`` replaced (an empty variable takes the default too, as in the shell).

    ``SettingsError`` for a variable that is not set and has no default.
    """

    def value(match: re.Match[str]) -> str:
        name, default = match[1], match[2]
        found = env.get(name)
        if default is not None:
            return found or default
        if found is None:
            raise SettingsError(
                f"{where} uses ${{{name}}}, which is not set. Set it, or write ${{{name}:-default}} in the entry."
            )
        return found

    return VARIABLE.sub(value, text)


def parse_entry(name: str, raw: Any, *, scope: Scope, origin: str, base: Path, env: Mapping[str, str]) -> ServerEntry:
    """The entry as a value.  ``SettingsError`` says what is wrong with it."""
    if not isinstance(raw, dict):
        raise SettingsError('must be an object such as {"command": "..."} or {"type": "http", "url": "..."}')
    kind = _kind(raw)
    timeout = raw.get("timeout")
    if timeout is not None and (isinstance(timeout, bool) or not isinstance(timeout, int | float) or timeout <= 0):
        raise SettingsError("timeout must be a number of milliseconds above 0")
    common: dict[str, Any] = {
        "name": name,
        "scope": scope,
        "origin": origin,
        "raw": raw,
        "base": base,
        "transport": kind,
        "timeout": timeout / 1000 if timeout is not None else None,
        "always_load": raw.get("alwaysLoad") is True,
    }
    if kind == "sdk":
        if scope != "flag":
            raise SettingsError(
                "type sdk is for servers of a program that drives agentcli; only --mcp-config names them"
            )
        return ServerEntry(**common)
    values = {**env, "CLAUDE_PROJECT_DIR": env.get("CLAUDE_PROJECT_DIR") or str(base)}
    if kind == "stdio":
        return ServerEntry(**common, **_command(raw, values))
    return ServerEntry(**common, **_remote(raw, values))


def _kind(raw: Json) -> TransportKind:
    named = raw.get("type", raw.get("transport"))
    if named is None:
        return "http" if "url" in raw and "command" not in raw else "stdio"
    if named not in _KINDS:
        raise SettingsError(f"type {named!r} is not supported; use stdio, http or sse{_hint(named)}")
    return _KINDS[named]


def _hint(named: object) -> str:
    return " (servers over WebSocket can't be reached)" if named in ("ws", "websocket") else ""


def _command(raw: Json, env: Mapping[str, str]) -> dict[str, Any]:
    command = raw.get("command")
    if not isinstance(command, str) or not command.strip():
        raise SettingsError("command must be the program to run, as a text (arguments go into args)")
    args = raw.get("args", [])
    if not isinstance(args, list) or not all(isinstance(a, str) for a in args):
        raise SettingsError("args must be a list of texts")
    made = {
        "command": _path_of_home(expand(command, env, "command")),
        "args": tuple(expand(a, env, f"args[{i}]") for i, a in enumerate(args)),
        "env": _texts(raw, "env", env),
    }
    if any("\0" in word for word in (made["command"], *made["args"])):
        raise SettingsError("command and args can't hold NUL characters")
    return made


def _path_of_home(command: str) -> str:
    return str(Path(command).expanduser()) if command.startswith("~/") else command


def _remote(raw: Json, env: Mapping[str, str]) -> dict[str, Any]:
    url = raw.get("url")
    if not isinstance(url, str) or not url:
        raise SettingsError("url must be the server's address, as a text")
    url = expand(url, env, "url")
    if not url.startswith(("http://", "https://")):
        raise SettingsError(f"url must begin with http:// or https://, not {url[:40]!r}")
    headers = _texts(raw, "headers", env)
    for name, value in headers.items():
        if not _HEADER_NAME.fullmatch(name) or any(c in value for c in "\r\n\0"):
            raise SettingsError(f"headers: {name!r} is not a valid header")
    helper = raw.get("headersHelper", "")
    if not isinstance(helper, str):
        raise SettingsError("headersHelper must be a command, as a text")
    return {"url": url, "headers": headers, "headers_helper": helper, "oauth": _oauth(raw.get("oauth"))}


def _texts(raw: Json, key: str, env: Mapping[str, str]) -> dict[str, str]:
    value = raw.get(key) or {}
    if not isinstance(value, dict):
        raise SettingsError(f"{key} must be an object of texts")
    found: dict[str, str] = {}
    for name, item in value.items():
        if isinstance(item, bool) or not isinstance(item, str | int | float):
            raise SettingsError(f"{key}.{name} must be a text")
        found[name] = expand(str(item), env, f"{key}.{name}")
        if key == "env" and (not name or "=" in name or "\0" in name + found[name]):
            raise SettingsError(f"env: {name!r} is not a valid name, or its value holds a NUL character")
    return found


def _oauth(value: Any) -> OAuthChoices:
    if value is None:
        return OAuthChoices()
    if not isinstance(value, dict):
        raise SettingsError("oauth must be an object")
    client, port, scopes = value.get("clientId", ""), value.get("callbackPort", 0), value.get("scopes", "")
    if isinstance(scopes, list) and all(isinstance(s, str) for s in scopes):
        scopes = " ".join(scopes)
    if not isinstance(client, str) or not isinstance(scopes, str):
        raise SettingsError("oauth: clientId and scopes must be texts")
    if isinstance(port, bool) or not isinstance(port, int) or not 0 <= port < 65_536:
        raise SettingsError("oauth: callbackPort must be a port number")
    return OAuthChoices(client, port, scopes)
