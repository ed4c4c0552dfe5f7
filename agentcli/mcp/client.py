"""One connected session: opened in one task and closed in the same, called from any."""

from __future__ import annotations

import asyncio
import importlib
import logging
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentcli import __version__
from agentcli.errors import SetupError
from agentcli.mcp.answers import elicitation_callback, roots_callback
from agentcli.mcp.inclient import ENDED, ClientTransport
from agentcli.mcp.limits import ALIVE, START
from agentcli.mcp.oauth import can_renew, silent_provider
from agentcli.mcp.remote import HttpNotes, remote_transport, request_headers
from agentcli.mcp.serverlog import ServerLog
from agentcli.mcp.stdio import StdioTransport
from agentcli.mcp.tokens import Vault
from agentcli.mcp.values import ClientOver, Hopeless, NeedsLogin, ServerEntry, ServerError, ServerGone
from agentcli.ports.client_servers import ClientServers
from agentcli.ports.elicitation import Elicitor, NobodyElicits
from agentcli.processes import ProcessManager

if TYPE_CHECKING:
    from mcp import Client
    from mcp.shared.dispatcher import ProgressFnT

Progress = Callable[[float, float | None, str | None], None]
NEWER_ONLY = (-32022, -32601)
"""A server's answer to ``initialize`` where it only speaks a protocol without it."""
NO_CLIENT = (
    "a server of type sdk lives in the program that drives agentcli over its control channel; without one "
    "(-p --input-format stream-json) it can't be reached"
)
CLOSED = -32000
TIMED_OUT = -32001


def _no_roots() -> tuple[Path, ...]:
    return ()


@dataclass(slots=True, kw_only=True)
class Host:
    """What all connections of a session share.  ``start`` and ``call`` are timeouts in seconds (``None``: no limit),
    ``alive`` the time in which a server must answer a ping after a call was given up; ``backoff`` the waits before new
    attempts."""

    processes: ProcessManager
    env: Mapping[str, str]
    logs: Path | None = None
    vault: Vault | None = None
    elicitor: Elicitor = field(default_factory=NobodyElicits)
    roots: Callable[[], tuple[Path, ...]] = _no_roots
    start: float = START
    call: float | None = None
    alive: float = ALIVE
    clients: ClientServers | None = None
    """The way to servers that live in the session's client, where it has one."""
    backoff: tuple[float, ...] = (0.5, 1.0, 2.0, 4.0, 8.0)


def _load() -> None:
    """Imports the package and keeps what it logs off the screen."""
    for name in ("mcp", "client", "mcp.client.stdio"):
        logger = logging.getLogger(name)
        if not logger.handlers:
            logger.addHandler(logging.NullHandler())
        logger.propagate = False
    for module in ("mcp", "mcp.client.streamable_http", "mcp.client.sse", "mcp.client.auth"):
        importlib.import_module(module)


async def load_sdk() -> None:
    """Loads the ``mcp`` package in a thread.  ``ServerError`` where it is not installed."""
    try:
        await asyncio.to_thread(_load)
    except ImportError as error:
        raise ServerError(f"the mcp package can't be loaded ({error}); install agentcli anew") from error


class Link:
    """The way to one server: its transport, and what is known about why it broke."""

    def __init__(self, host: Host, entry: ServerEntry, log: ServerLog) -> None:
        self._host = host
        self._entry = entry
        self._log = log
        self.notes = HttpNotes()
        self.process: StdioTransport | ClientTransport | None = None
        """What is watched for its end: every transport but those over HTTP."""
        self.stale = asyncio.Event()
        self.fresh = asyncio.Event()
        self.fresh.set()
        self.changed: set[str] = set()
        """Lists that the server said have changed."""

    async def open(self, stack: AsyncExitStack, *, auth: Any = None) -> Client:
        """A client after its handshake, entered into ``stack``: leave that in the same task.  Raises what went wrong
        as it comes; ``explain`` puts it into words.

        Child processes and servers of the client are greeted in the older way first: all but the newest servers
        understand it, and an old one may never answer a question that it does not know.
        """
        if self._entry.transport in ("http", "sse"):
            return await self._remote(stack, auth)
        from mcp import MCPError

        try:
            return await stack.enter_async_context(self._client(self._process(), "legacy"))
        except Exception as error:
            flat = _flatten(error)
            if not isinstance(flat, MCPError) or flat.code not in NEWER_ONLY:
                raise
        return await stack.enter_async_context(self._client(self._process(), "auto"))

    async def _remote(self, stack: AsyncExitStack, auth: Any) -> Client:
        """A connection to a remote server, with the stored login (renewed if it has to be) or with ``auth``."""
        entry, host = self._entry, self._host
        headers = await request_headers(entry, host.processes, host.env)
        mode = "legacy" if entry.transport == "sse" else "auto"
        signer = auth or await silent_provider(entry, host.vault, host.env)
        try:
            transport = remote_transport(entry, headers=headers, notes=self.notes, auth=signer, log=self._log)
            return await stack.enter_async_context(self._client(transport, mode))
        except Exception as error:
            refused = isinstance(_flatten(error), NeedsLogin) and auth is None
            if not refused or not await can_renew(entry, host.vault):
                raise
        signer = await silent_provider(entry, host.vault, host.env, renew=True)
        transport = remote_transport(entry, headers=headers, notes=self.notes, auth=signer, log=self._log)
        return await stack.enter_async_context(self._client(transport, mode))

    def _process(self) -> StdioTransport | ClientTransport:
        host, entry = self._host, self._entry
        if entry.transport == "sdk":
            self.process = self._in_client()
        else:
            self.process = StdioTransport(host.processes, entry, env=host.env, log=self._log)
        return self.process

    def _in_client(self) -> ClientTransport:
        clients = self._host.clients
        if clients is None:
            raise Hopeless(NO_CLIENT)
        if clients.ended.is_set():
            raise ClientOver(ENDED)
        return ClientTransport(clients, self._entry, log=self._log)

    def _client(self, transport: Any, mode: str) -> Client:
        from mcp import Client
        from mcp.types import Implementation

        return Client(
            transport,
            mode=mode,
            client_info=Implementation(name="agentcli", version=__version__),
            elicitation_callback=elicitation_callback(self._entry.name, self._host.elicitor),
            list_roots_callback=roots_callback(self._host.roots),
            message_handler=self._hear,
        )

    async def _hear(self, message: Any) -> None:
        from mcp.types import (
            PromptListChangedNotification,
            ResourceListChangedNotification,
            ToolListChangedNotification,
        )

        match message:
            case ToolListChangedNotification():
                self.note_changed("tools")
            case PromptListChangedNotification():
                self.note_changed("prompts")
            case ResourceListChangedNotification():
                self.note_changed("resources")
            case Exception():
                self._log.note(f"{type(message).__name__}: {message}")
            case _:
                pass

    def note_changed(self, what: str) -> None:
        self.changed.add(what)
        self.stale.set()
        self.fresh.clear()

    def refreshed(self) -> None:
        """What was ``changed`` has been read; ``fresh`` unless more came meanwhile."""
        if not self.changed:
            self.stale.clear()
            self.fresh.set()

    async def explain(self, error: BaseException) -> ServerError:
        """What went wrong, as one error of ours in plain words."""
        from mcp import MCPError

        flat = _flatten(error)
        self._log.note(f"{type(flat).__name__}: {flat}")
        if isinstance(flat, NeedsLogin) or self.notes.refused == 401:
            return NeedsLogin(str(flat) if isinstance(flat, NeedsLogin) else "wants a login")
        match flat:
            case ServerError():
                return flat
            case SetupError():
                return Hopeless(str(flat))
            case FileNotFoundError():
                return Hopeless(f"not found: {flat.filename or self._entry.command}")
            case OSError() if self.process is not None and not self.process.started:
                return Hopeless(f"can't be started ({flat.strerror or flat})")
        if self.process is not None and self.process.ended.is_set():
            return ServerError(self._with_last_line(await self.process.ending()))
        if isinstance(flat, MCPError):
            status = f" (HTTP status {self.notes.status})" if self.notes.status >= 400 else ""
            return ServerError(f"answered: {flat.message}{status}")
        if isinstance(flat, ValueError):
            return ServerError(f"does not follow the protocol ({_short(flat)})")
        return ServerError(_network(flat))

    async def end(self) -> ServerGone:
        """How a connection ended that is closed."""
        process = self.process
        if process is None:
            return ServerGone("the connection was closed")
        over = isinstance(process, ClientTransport) and process.ended.is_set()
        how = await process.ending()
        return ClientOver(how) if over else ServerGone(how)

    def _with_last_line(self, how: str) -> str:
        last = next((line for line in reversed(self._log.tail) if not line.startswith("[agentcli")), "")
        return f"{how}: {last[:200]}" if last else how


def _flatten(error: BaseException) -> BaseException:
    """The first plain error inside groups of groups."""
    while isinstance(error, BaseExceptionGroup) and error.exceptions:
        error = error.exceptions[0]
    return error


def _short(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return " ".join(lines[:3])[:300]


def _network(error: BaseException) -> str:
    name = type(error).__name__
    text = str(error).strip()
    if name == "ConnectError":
        return f"can't be reached ({text or 'connection refused'})"
    return f"{name}: {text}" if text else name


def telling(progress: Progress) -> ProgressFnT:
    """``progress`` as the package wants to call it."""

    tell = progress

    async def told(progress: float, total: float | None, message: str | None) -> None:
        tell(progress, total, message)

    return told
