"""The room's values: a configured server, its state, what it offers."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from agentcli.errors import AgentcliError
from agentcli.messages import Json

Scope = Literal["flag", "local", "project", "user", "managed"]
SCOPES: tuple[Scope, ...] = ("flag", "local", "project", "user", "managed")
"""Nearest first: of entries with one name the nearest counts, as a whole."""
TransportKind = Literal["stdio", "http", "sse", "sdk"]
"""``sdk``: in the client that drives the session."""
State = Literal["pending", "connected", "needs-auth", "failed", "disabled"]


class ServerError(AgentcliError):
    """A server could not do what was asked.  ``str`` says why, without the server's name."""


class ServerGone(ServerError):
    """There is no connection (any more)."""


class Hopeless(ServerError):
    """Another attempt would end the same."""


class ClientOver(ServerGone, Hopeless):
    """The client that has the server is gone, as at the end of every session: nobody needs to be told."""


class NeedsLogin(ServerError):
    """The server wants a login first."""


@dataclass(frozen=True, slots=True)
class OAuthChoices:
    """What an entry fixes about its login; all optional."""

    client_id: str = ""
    callback_port: int = 0
    scopes: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerEntry:
    """A configured server, variables expanded.

    ``raw`` is the entry as it was written: an approval is bound to it.  ``origin`` names the file or flag, ``base`` is
    the directory that a stdio server starts in.  ``timeout`` is a limit for calls in seconds, ``None`` the general one.
    """

    name: str
    scope: Scope
    origin: str
    raw: Json
    base: Path
    transport: TransportKind
    command: str = ""
    args: tuple[str, ...] = ()
    env: Json = field(default_factory=dict)
    url: str = ""
    headers: Json = field(default_factory=dict)
    headers_helper: str = ""
    oauth: OAuthChoices = OAuthChoices()
    timeout: float | None = None
    always_load: bool = False

    @property
    def where(self) -> str:
        """What is run or called, in one line, as it was written: variables may hold secrets, and are not expanded."""
        if self.transport == "sdk":
            return "in the client"
        if self.transport != "stdio":
            return str(self.raw.get("url", self.url))
        return " ".join(map(str, (self.raw.get("command", self.command), *self.raw.get("args", self.args))))


@dataclass(frozen=True, slots=True)
class BrokenEntry:
    """An entry that can't be used, and why."""

    name: str
    scope: Scope
    origin: str
    error: str


@dataclass(frozen=True, slots=True)
class ServerTool:
    """A tool as the server describes it."""

    name: str
    description: str
    input_schema: Json
    read_only: bool = False
    """The server's own word: informs, never grants."""
    destructive: bool = False
    max_result: int | None = None
    """Characters that a result may have, where the server asks for more than usual."""


@dataclass(frozen=True, slots=True)
class PromptArgument:
    name: str
    description: str = ""
    required: bool = False


@dataclass(frozen=True, slots=True)
class ServerPrompt:
    name: str
    description: str = ""
    arguments: tuple[PromptArgument, ...] = ()


@dataclass(frozen=True, slots=True)
class ServerResource:
    uri: str
    name: str
    description: str = ""
    media_type: str = ""


@dataclass(frozen=True, slots=True)
class Inventory:
    """What a connected server offers, as it was last listed."""

    tools: tuple[ServerTool, ...] = ()
    prompts: tuple[ServerPrompt, ...] = ()
    resources: tuple[ServerResource, ...] = ()
    templates: tuple[ServerResource, ...] = ()
    """Resources whose address the user completes: ``uri`` has ``{variables}``."""


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """A server as ``/mcp`` and the stream-json line show it.  ``reason`` says why it is not connected."""

    name: str
    state: State
    scope: Scope
    reason: str = ""
    transport: TransportKind = "stdio"
    where: str = ""
    origin: str = ""
    version: str = ""
    """Name and version that the server gives itself."""
    tools: tuple[str, ...] = ()
    """Full names."""
    prompts: int = 0
    resources: int = 0
    log: str = ""
    """Path of its log file; empty where there is none."""
