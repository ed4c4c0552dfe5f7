"""Makes a room from what a session knows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from agentcli.mcp.approval import Guard
from agentcli.mcp.client import Host
from agentcli.mcp.config import Configuration, read_configuration
from agentcli.mcp.limits import call_timeout, start_timeout
from agentcli.mcp.room import McpRoom
from agentcli.mcp.store import ServerStore
from agentcli.mcp.tokens import open_vault
from agentcli.mcp.wiring import Wiring
from agentcli.paths import agentcli_home
from agentcli.ports.client_servers import ClientServers
from agentcli.ports.elicitation import Elicitor, NobodyElicits
from agentcli.processes import ProcessManager
from agentcli.settings.merged import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """Where servers run.  ``env`` is the session's environment, ``given`` the values of ``--mcp-config``, ``strict``
    and ``bare`` the flags of these names; ``trusted`` is the word of ``--trust``."""

    cwd: Path
    settings: Settings
    env: Mapping[str, str]
    given: Sequence[str] = ()
    strict: bool = False
    bare: bool = False
    trusted: bool = False
    elicitor: Elicitor = field(default_factory=NobodyElicits)
    roots: Callable[[], tuple[Path, ...]] | None = None
    """Working directories; by default only ``cwd``."""
    clients: ClientServers | None = None
    """The way to servers of type ``sdk``."""

    def configuration(self) -> Configuration:
        """``UsageError`` for a wrong ``--mcp-config``."""
        return read_configuration(
            self.cwd, self.settings, self.env, given=self.given, strict=self.strict, bare=self.bare
        )

    def host(self, processes: ProcessManager, *, logins: bool = True) -> Host:
        """``logins``: whether a server may need one; looking for the system's keyring takes a moment."""
        home = agentcli_home(self.env)
        return Host(
            processes=processes,
            env=self.env,
            logs=home / "logs" / "mcp" if home else None,
            vault=open_vault(self.env) if logins else None,
            elicitor=self.elicitor,
            roots=self.roots or (lambda: (self.cwd,)),
            start=start_timeout(self.env),
            call=call_timeout(self.env),
            clients=self.clients,
        )


def make_room(
    ground: Ground, processes: ProcessManager, wiring: Wiring, *, inline: Configuration | None = None
) -> McpRoom:
    """A room that has not been started yet; nothing runs and the ``mcp`` package is not loaded.  ``inline`` takes the
    place of everything that is configured.  ``UsageError`` for a wrong ``--mcp-config``."""
    found = inline or ground.configuration()
    guard = Guard(found.project, ground.settings, ground.env, trusted=ground.trusted)
    return McpRoom(found, ground.host(processes), wiring, guard=guard, store=ServerStore(found.project.key, ground.env))
