"""``/agents``: which agents there are, and where they come from."""

from __future__ import annotations

from agentcli.commands.base import Command, CommandContext, CommandResult
from agentcli.commands.skills import NOTHING_READ
from agentcli.extend.agents import AgentDefinition
from agentcli.extend.room import Extensions
from agentcli.text import one_line


async def run(context: CommandContext, arguments: str) -> CommandResult:
    room: Extensions | None = getattr(context.session, "extensions", None)
    if room is None:
        return CommandResult(NOTHING_READ)
    room.refresh()
    if arguments:
        return CommandResult(details(room.agent(arguments)))
    lines = ["**Agents**", "", *(_line(agent) for agent in room.agents.values())]
    if room.warnings:
        lines += ["", "**Not loaded, or worth a look**", "", *(f"- `{w}`" for w in room.warnings)]
    return CommandResult("\n".join(lines))


def _line(agent: AgentDefinition) -> str:
    facts = ", ".join(fact for fact in (agent.scope, agent.model, agent.color) if fact)
    return f"- `{agent.name}`: {one_line(agent.description, 160)} ({facts})"


def details(agent: AgentDefinition) -> str:
    """Everything about one agent, as Markdown."""
    facts = [
        ("from", str(agent.path) if agent.scope not in ("built-in", "session") else agent.scope),
        ("tools", "all" if agent.tools is None else ", ".join(agent.tools) or "none"),
        ("without", ", ".join(agent.disallowed_tools)),
        ("model", agent.model or "as the session"),
        ("effort", agent.effort or ""),
        ("permission mode", agent.permission_mode or ""),
        ("turns", str(agent.max_turns or "")),
        ("skills", ", ".join(agent.skills)),
        ("memory", agent.memory or ""),
        ("isolation", agent.isolation or ""),
        ("hooks", ", ".join(agent.hooks)),
        ("MCP servers", ", ".join(s if isinstance(s, str) else ", ".join(s) for s in agent.mcp_servers)),
        ("in the background", "always" if agent.background else ""),
        ("color", agent.color),
        ("first prompt", one_line(agent.initial_prompt, 160)),
    ]
    lines = [f"- {name}: {value}" for name, value in facts if value]
    parts = [f"**{agent.name}**: {agent.description}", "\n".join(lines), agent.body or "(the default agent prompt)"]
    return "\n\n".join(parts)


COMMAND = Command("agents", "Show agents", run, argument_hint="[name]", while_running=True)
