"""Logins of remote servers: in the system's keyring where there is one, else in ``mcp-tokens.json`` (mode 0600)."""

from __future__ import annotations

import asyncio
import hashlib
import importlib
import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from agentcli.errors import SetupError
from agentcli.mcp.values import ServerEntry
from agentcli.paths import agentcli_home
from agentcli.settings.statefile import StateFile

if TYPE_CHECKING:
    from mcp.shared.auth import OAuthClientInformationFull, OAuthToken

FILE = "mcp-tokens.json"
SERVICE = "agentcli-mcp"


class Vault(Protocol):
    """Where secrets are kept, as JSON texts by key.  Blocking: call it in a thread."""

    def get(self, key: str) -> dict[str, Any]: ...

    def put(self, key: str, value: dict[str, Any]) -> None:
        """``SetupError`` if it can't be stored.  An empty value removes it."""


class FileVault:
    def __init__(self, path: Path) -> None:
        self._file = StateFile(path)

    def get(self, key: str) -> dict[str, Any]:
        value = self._file.read().get(key)
        return value if isinstance(value, dict) else {}

    def put(self, key: str, value: dict[str, Any]) -> None:
        def change(data: dict[str, Any]) -> None:
            data.pop(key, None)
            if value:
                data[key] = value

        try:
            self._file.change(change)
        except OSError as error:
            raise SetupError(f"{self._file.path}: the login can't be stored ({error.strerror or error})") from error


class KeyringVault:
    """The ``keyring`` package, where it is installed and has a real backend."""

    def __init__(self, keyring: Any) -> None:
        self._keyring = keyring

    def get(self, key: str) -> dict[str, Any]:
        try:
            text = self._keyring.get_password(SERVICE, key)
            value = json.loads(text) if text else {}
        except (self._keyring.errors.KeyringError, ValueError):
            return {}
        return value if isinstance(value, dict) else {}

    def put(self, key: str, value: dict[str, Any]) -> None:
        try:
            if value:
                self._keyring.set_password(SERVICE, key, json.dumps(value))
            elif self._keyring.get_password(SERVICE, key):
                self._keyring.delete_password(SERVICE, key)
        except self._keyring.errors.KeyringError as error:
            raise SetupError(f"the keyring refused to store the login ({error})") from error


def open_vault(env: Mapping[str, str] | None = None) -> Vault | None:
    """Where logins are kept; ``None`` where they can't be."""
    try:
        keyring = importlib.import_module("keyring")
        importlib.import_module("keyring.errors")
        if keyring.get_keyring().priority >= 1:
            return KeyringVault(keyring)
    except (ImportError, RuntimeError):
        pass  # not installed, or without a backend
    home = agentcli_home(env)
    return FileVault(home / FILE) if home else None


def key_of(entry: ServerEntry) -> str:
    """A login belongs to a name and an address: another address under the same name is another server."""
    return f"{entry.name}|{hashlib.sha256(entry.url.encode()).hexdigest()[:16]}"


class Tokens:
    """The package's ``TokenStorage`` over a vault.  ``fixed`` is a client registered beforehand."""

    def __init__(self, vault: Vault | None, key: str, *, fixed: OAuthClientInformationFull | None = None) -> None:
        self._vault = vault
        self._key = key
        self._fixed = fixed

    async def read(self) -> dict[str, Any]:
        return await asyncio.to_thread(self._vault.get, self._key) if self._vault else {}

    async def get_tokens(self) -> OAuthToken | None:
        from mcp.shared.auth import OAuthToken

        found: OAuthToken | None = _parsed(OAuthToken, (await self.read()).get("tokens"))
        return found

    async def set_tokens(self, tokens: OAuthToken) -> None:
        expires = time.time() + tokens.expires_in if tokens.expires_in is not None else None
        await self._change(tokens=tokens.model_dump(mode="json", exclude_none=True), expires_at=expires)

    async def expires_at(self) -> float | None:
        """When the stored access token ends, in seconds since the epoch; ``None`` if that is not known."""
        found = (await self.read()).get("expires_at")
        return float(found) if isinstance(found, int | float) else None

    async def remember(self, **found: Any) -> None:
        """Keeps what a login discovered (the authorisation server's addresses), so that it can be renewed later."""
        plain = {k: v.model_dump(mode="json", exclude_none=True) for k, v in found.items() if v is not None}
        await self._change(**plain)

    async def remembered(self, name: str, model: Any) -> Any:
        return _parsed(model, (await self.read()).get(name))

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        from mcp.shared.auth import OAuthClientInformationFull

        return self._fixed or _parsed(OAuthClientInformationFull, (await self.read()).get("client"))

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        await self._change(client=client_info.model_dump(mode="json", exclude_none=True))

    async def forget(self) -> bool:
        """Removes the login; whether there was one."""
        known = bool(await self.read())
        if known and self._vault is not None:
            await asyncio.to_thread(self._vault.put, self._key, {})
        return known

    async def forget_client(self) -> None:
        await self._change(client=None)

    async def _change(self, **values: Any) -> None:
        """Sets values; ``None`` removes one."""
        if self._vault is None:
            return
        data = {k: v for k, v in {**await self.read(), **values}.items() if v is not None}
        await asyncio.to_thread(self._vault.put, self._key, data)


def _parsed(model: Any, value: Any) -> Any:
    """The value, or ``None`` for what is damaged: a new login mends it."""
    if not isinstance(value, dict):
        return None
    try:
        return model.model_validate(value)
    except ValueError:
        return None
