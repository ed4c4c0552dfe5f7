"""``/agents``: which agents there are, and where they come from."""

from __future__ import annotations

from agentcli.commands.base import Command, CommandContext, CommandResult
from agentcli.errors import UserError
from agentcli.extend.agents import AgentDefinition
from agentcli.extend.room import Extensions
from agentcli.i18n import IN_ENGLISH, Texts
from agentcli.text import one_line


async def run(context: CommandContext, arguments: str) -> CommandResult:
    room: Extensions | None = getattr(context.session, "extensions", None)
    if room is None:
        return CommandResult(context.texts("extensions.off"))
    room.refresh()
    t = context.texts
    if arguments and arguments.lower() not in (name.lower() for name in room.agents):
        raise UserError(t("agents.unknown", name=arguments, known=", ".join(room.agents)))
    if arguments:
        return CommandResult(details(room.agent(arguments), t))
    lines = [f"**{t('agents.agents')}**", "", *(_line(agent) for agent in room.agents.values())]
    if room.warnings:
        lines += ["", f"**{t('extensions.warnings')}**", "", *(f"- `{w}`" for w in room.warnings)]
    return CommandResult("\n".join(lines))


def _line(agent: AgentDefinition) -> str:
    facts = ", ".join(fact for fact in (agent.scope, agent.model, agent.color) if fact)
    return f"- `{agent.name}`: {one_line(agent.description, 160)} ({facts})"


def details(agent: AgentDefinition, t: Texts = IN_ENGLISH) -> str:
    """Everything about one agent, as Markdown."""
    facts = [
        (t("agents.from"), str(agent.path) if agent.scope not in ("built-in", "session") else agent.scope),
        (t("agents.tools"), t("agents.all") if agent.tools is None else ", ".join(agent.tools) or t("agents.none")),
        (t("agents.without"), ", ".join(agent.disallowed_tools)),
        (t("agents.model"), agent.model or t("agents.session")),
        (t("agents.effort"), agent.effort or ""),
        (t("agents.mode"), agent.permission_mode or ""),
        (t("agents.turns"), str(agent.max_turns or "")),
        (t("agents.skills"), ", ".join(agent.skills)),
        (t("agents.memory"), agent.memory or ""),
        (t("agents.isolation"), agent.isolation or ""),
        (t("agents.hooks"), ", ".join(agent.hooks)),
        (t("agents.servers"), ", ".join(s if isinstance(s, str) else ", ".join(s) for s in agent.mcp_servers)),
        (t("agents.background"), t("agents.always") if agent.background else ""),
        (t("agents.color"), agent.color),
        (t("agents.first"), one_line(agent.initial_prompt, 160)),
    ]
    lines = [f"- {name}: {value}" for name, value in facts if value]
    parts = [f"**{agent.name}**: {agent.description}", "\n".join(lines), agent.body or t("agents.default")]
    return "\n\n".join(parts)


COMMAND = Command("agents", "Show agents", run, argument_hint="[name]", while_running=True)
