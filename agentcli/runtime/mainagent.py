"""What the definition behind ``--agent`` changes about the session, beside its prompt and its tools."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from agentcli.errors import UserError
from agentcli.extend.agents import agents_from_json, find_agent
from agentcli.extend.room import Extensions
from agentcli.mcp import Configuration, Ground, inline_configuration
from agentcli.memory import AgentNotes, MemoryRoom
from agentcli.modes.agent import MainThreadAgent
from agentcli.paths import claude_home
from agentcli.permissions.gate import Gate
from agentcli.ports.prompt import Reminder
from agentcli.runtime.agent_servers import inline_servers, server_rules
from agentcli.runtime.deferred import listed
from agentcli.runtime.extending import preloaded
from agentcli.runtime.guard import SessionGate, may_bypass
from agentcli.runtime.models import Models
from agentcli.runtime.world import World

Warn = Callable[[str], None]


def main_agent(world: World) -> MainThreadAgent | None:
    """The definition behind ``--agent NAME``.  ``UserError`` when there is none or it can't be read."""
    name = world.options.agent
    if not name:
        return None
    given = agents_from_json(world.options.agents) if world.options.agents.strip() else ()
    definition = next((a for a in given if a.name == name), None) or find_agent(
        name, cwd=world.workspace.start, user=claude_home(world.env), trusted=world.settings.trusted
    )
    if definition is None:
        raise UserError(f"--agent {name}: no file .claude/agents/{name}.md here or in the user's directory")
    return MainThreadAgent(
        name=definition.name,
        body=definition.body,
        tools=definition.tools,
        disallowed_tools=definition.disallowed_tools,
        model=definition.model,
        initial_prompt=definition.initial_prompt,
        definition=definition,
    )


def as_agent(world: World, agent: MainThreadAgent | None, warn: Warn) -> World:
    """The world with what the definition says where the command line says nothing.  What it forbids is added to what
    the command line forbids.  A resumed session has a mode of its own."""
    if agent is None:
        return world
    options, definition = world.options, agent.definition
    mode = definition.permission_mode if options.resume is None else None
    if mode == "bypassPermissions" and not (may_bypass(world) and not world.settings.bypass_disabled):
        warn(f"agent {agent.name}: bypassPermissions is not allowed here; the session has its own mode")
        mode = None
    changed = replace(
        options,
        permission_mode=options.permission_mode or mode,
        max_turns=options.max_turns or definition.max_turns,
        disallowed_tools=(*options.disallowed_tools, *definition.disallowed_tools),
    )
    return replace(world, options=changed)


def with_effort(world: World, agent: MainThreadAgent | None, models: Models, model: str) -> World:
    """The definition's effort, where the command line names none and the model knows it."""
    effort = agent.definition.effort if agent is not None else None
    if effort is None or world.options.effort or world.options.resume or effort not in models.info(model).efforts:
        return world
    return replace(world, options=replace(world.options, effort=effort))


def bound(gate: SessionGate, agent: MainThreadAgent | None) -> None:
    """Servers' tools that the definition does not list may not be called, whatever a resumed conversation knows."""
    if agent is None or agent.tools is None:
        return
    rules = (*agent.tools, *server_rules(agent.definition))

    def missing(tool: str) -> str:
        if not tool.startswith("mcp__") or listed(tool, rules):
            return ""
        return f"the agent {agent.name} does not have {tool}"

    gate.missing = missing


def with_servers(agent: MainThreadAgent | None, warn: Warn) -> Callable[[Configuration, Ground], Configuration]:
    """Adds the servers that the definition brings.  A configured one of the same name stays."""

    def added(found: Configuration, ground: Ground) -> Configuration:
        inline = inline_servers(agent.definition) if agent is not None else {}
        if agent is None or not inline:
            return found
        definition = agent.definition
        if (ground.strict or ground.bare) and definition.scope != "session":
            warn(f"agent {agent.name}: its MCP servers are left out, as the command line says")
            return found
        own = inline_configuration(
            ground.cwd,
            ground.settings,
            ground.env,
            {name: raw for name, raw in inline.items() if found.get(name) is None},
            base=ground.cwd,
            scope="project" if definition.scope == "project" else "flag",
            origin=f"agent {agent.name} ({definition.path})",
        )
        servers = sorted((*found.servers, *own.servers), key=lambda s: s.name)
        return replace(
            found,
            servers=tuple(servers),
            broken=(*found.broken, *own.broken),
            warnings=(*found.warnings, *own.warnings),
        )

    return added


def agent_notes(agent: MainThreadAgent | None, memory: MemoryRoom | None, gate: Gate) -> AgentNotes | None:
    """The agent's own notes, which it may read and write without asking."""
    if agent is None or agent.definition.memory is None or memory is None:
        return None
    notes = memory.notes_of(agent.name, agent.definition.memory)
    if notes is not None:
        gate.own = (*gate.own, *notes.names)
    return notes


async def agent_skills(extensions: Extensions, agent: MainThreadAgent, warn: Warn) -> list[Reminder]:
    """The skills that the conversation begins with."""
    try:
        found = await preloaded(extensions, agent.definition)
    except UserError as error:
        warn(f"agent {agent.name}: {error}")
        return []
    return [Reminder(f"skill:{skill.name}", skill.text) for skill in found]


def missing_servers(agent: MainThreadAgent, configuration: Configuration | None) -> list[str]:
    """Servers that the definition names and that there are not, in sentences for the user."""
    named = [s for s in agent.definition.mcp_servers if isinstance(s, str)]
    return [
        f"agent {agent.name}: there is no MCP server {name!r} in this session"
        for name in named
        if configuration is None or configuration.get(name) is None
    ]
