"""Opens a session: reads the world, finds the model's server, opens the session file, has the rooms made."""

from __future__ import annotations

from dataclasses import dataclass

from agentcli import __version__
from agentcli.model.monitor import CacheMonitor
from agentcli.modes.select import NEEDED, proactive_active
from agentcli.paths import others_home
from agentcli.ports.client_servers import ClientServers
from agentcli.ports.model import ModelClient
from agentcli.ports.permissions import Hooks
from agentcli.ports.sessions import Clock
from agentcli.runtime.assembly import Assembly
from agentcli.runtime.beginning import resumed_model
from agentcli.runtime.client import make_client
from agentcli.runtime.identity import open_file
from agentcli.runtime.joining import make_session
from agentcli.runtime.mainagent import agent_skills, as_agent, main_agent, missing_servers, with_effort
from agentcli.runtime.models import Models
from agentcli.runtime.options import SessionOptions
from agentcli.runtime.resumed import changed_front, resume_mode
from agentcli.runtime.session import Session
from agentcli.runtime.toolbox import unknown_agent_tools, unknown_tools
from agentcli.runtime.world import World, read_world
from agentcli.sessions import SessionStore


async def open_session(
    options: SessionOptions,
    *,
    client: ModelClient | None = None,
    clock: Clock | None = None,
    hooks: Hooks | None = None,
    clients: ClientServers | None = None,
) -> Session:
    """A session that is ready for its first prompt.  ``UserError`` when it can't be had; nothing is left open then.

    ``client`` takes the place of the Messages API (the demonstration and tests), ``clock`` that of the real one.
    ``hooks`` are those of a client that holds them itself, ``clients`` the way to MCP servers that live in it.
    """
    world = read_world(options, clock=clock)
    monitor = CacheMonitor(clock=world.clock)
    agent = main_agent(world)
    asked = client or await make_client(world, monitor)
    warn = _Warnings([])
    world = as_agent(world, agent, warn)
    if options.persist and (text := others_home(world.home)):
        warn(text)
    store = SessionStore(world.home if options.persist else None, options.cwd, clock=world.clock, notice=warn)
    model = Models(world, asked).first(options.model or (agent.model if agent else None))
    today = world.clock.now().date().isoformat()
    opened, note = open_file(store, options, {"version": __version__, "model": model, "start_date": today})
    loaded = opened.loaded
    try:
        chosen = resumed_model(world, loaded) or model
        world = with_effort(world, agent, Models(world, asked), chosen)
        rooms = Assembly(world, asked, opened, model=chosen, main_agent=agent, warn=warn, hooks=hooks, clients=clients)
        session = make_session(rooms, store, monitor)
        if agent is not None:
            session.start_notices += missing_servers(agent, rooms.servers.configuration if rooms.servers else None)
            session.state.pending += await agent_skills(rooms.extensions, agent, warn) if loaded is None else []
        mode = resume_mode(session, loaded)
        changed = await changed_front(session, loaded) if loaded else ""
    except BaseException:
        opened.close("failed start")
        raise
    settings = (*world.settings.errors, *world.settings.warnings, *world.features.warnings, *session.gate.warnings)
    names = unknown_tools(options.tools or (), session.toolbox)
    names += unknown_agent_tools(rooms.extensions.agents.values(), session.toolbox)
    told = (*settings, *names, note, mode, _inert(world), *(loaded.notes if loaded else ()), changed)
    session.start_notices += [text for text in (*warn.early, *told) if text]
    warn.session = session
    return session


def _inert(world: World) -> str:
    """A line where ``--proactive`` changes nothing; empty otherwise."""
    inert = world.options.proactive and not proactive_active(world.features, active=True)
    return f"--proactive has no effect: it needs {NEEDED}" if inert else ""


@dataclass(slots=True)
class _Warnings:
    """Warnings of rooms: kept until there is a session, then emitted."""

    early: list[str]
    session: Session | None = None

    def __call__(self, text: str) -> None:
        if self.session is None:
            self.early.append(text)
        else:
            self.session.warn(text)
