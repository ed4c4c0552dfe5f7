"""``/skills``: what skills and custom commands there are; ``/NAME`` calls one."""

from __future__ import annotations

from collections.abc import Iterable

from agentcli.commands.base import Command, CommandContext, CommandResult
from agentcli.extend.room import Extensions
from agentcli.extend.skills import Skill
from agentcli.ports.frontend import UserInput
from agentcli.text import one_line

NOTHING_READ = "This session reads no extensions."


async def run(context: CommandContext, arguments: str) -> CommandResult:
    room: Extensions | None = getattr(context.session, "extensions", None)
    if room is None:
        return CommandResult(NOTHING_READ)
    room.refresh()
    return CommandResult(listing(room))


def listing(room: Extensions) -> str:
    """Markdown: skills, commands, and what was left out."""
    parts = []
    if room.skills:
        lines = [f"- {_called(s)}: {_words(s)}{_who(s, room)}" for s in room.skills.values()]
        parts.append("\n".join(["**Skills**", "", *lines]))
    if room.commands:
        lines = [f"- {_called(c)}: {_words(c)} ({c.scope})" for c in room.commands.values()]
        parts.append("\n".join(["**Commands**", "", *lines]))
    if not parts:
        parts.append("There are none. A skill is `.claude/skills/NAME/SKILL.md`, a command `.claude/commands/NAME.md`.")
    if room.warnings:
        parts.append("\n".join(["**Not loaded, or worth a look**", "", *(f"- `{w}`" for w in room.warnings)]))
    return "\n\n".join(parts)


def _called(skill: Skill) -> str:
    return f"`/{skill.name} {skill.argument_hint}".rstrip() + "`"


def _words(skill: Skill) -> str:
    return one_line(skill.description, 160) or "no description"


def _who(skill: Skill, room: Extensions) -> str:
    notes: list[str] = [skill.scope]
    visibility = room.visibility(skill.name)
    if visibility != "on":
        notes.append(visibility)
    elif not skill.by_model:
        notes.append("only you start it")
    elif not skill.by_user:
        notes.append("only the model starts it")
    if skill.paths:
        notes.append(f"told with files that match {', '.join(skill.paths)}")
    return f" ({'; '.join(notes)})"


def slash_commands(room: Extensions) -> Iterable[Command]:
    """Skills and custom commands that a user can call, as slash commands."""
    for skill in (*room.skills.values(), *room.commands.values()):
        if skill.by_user:
            yield _command(room, skill)


def _command(room: Extensions, skill: Skill) -> Command:
    async def call(context: CommandContext, arguments: str) -> CommandResult:
        found = await room.invoke(skill.name, arguments, by="user")
        return CommandResult(prompt=UserInput(found.text))

    return Command(skill.name, _words(skill), call, argument_hint=skill.argument_hint)


COMMAND = Command("skills", "Show skills and custom commands", run, while_running=True)
