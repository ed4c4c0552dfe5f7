"""The question of trust, before anything of a project acts."""

from __future__ import annotations

from dataclasses import dataclass

from agentcli.mcp.approval import Guard
from agentcli.mcp.config import read_configuration
from agentcli.mcp.values import ServerEntry
from agentcli.runtime.options import SessionOptions
from agentcli.runtime.world import read_world
from agentcli.settings.bring import Brought, brought
from agentcli.settings.trust import Project, TrustStore, project_of


@dataclass(frozen=True, slots=True)
class TrustQuestion:
    """What an untrusted project would bring.  A yes is kept for the project where that makes sense (never for the home
    directory or ``/`` as a whole)."""

    project: Project
    brought: tuple[Brought, ...]
    store: TrustStore
    guard: Guard
    servers: tuple[ServerEntry, ...] = ()
    """Those of ``brought``, as they stood when they were shown: the yes is for these, not for what they become."""

    def accept(self) -> str:
        """Keeps the yes.  Start the session with ``SessionOptions.trust`` then.  Returns why it holds for this session
        only; empty when it is kept."""
        why = self.store.accept(self.project)
        if not why:
            for server in self.servers:
                if self.guard.verdict(server) != "no":
                    self.guard.answer(server, approved=True)
        return why


def trust_question(options: SessionOptions) -> TrustQuestion | None:
    """The question that has to be asked before the session begins; ``None`` when there is nothing to ask.

    Only a person at a terminal is asked; headless runs need ``--trust`` or an earlier yes.
    """
    if options.trust or options.bare or not options.interactive:
        return None
    world = read_world(options)
    if world.settings.trusted:
        return None
    project = project_of(options.cwd, world.env)
    found = brought(world.settings, project.key)
    if not found:
        return None
    servers = read_configuration(options.cwd, world.settings, world.env).servers
    guard = Guard(project, world.settings, world.env, project_trusted=False)
    brought_servers = tuple(s for s in servers if s.scope == "project")
    return TrustQuestion(project, found, TrustStore(world.env), guard, brought_servers)
