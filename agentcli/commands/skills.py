"""``/skills``: what skills and custom commands there are; ``/NAME`` calls one."""

from __future__ import annotations

from collections.abc import Iterable

from agentcli.commands.base import Command, CommandContext, CommandResult
from agentcli.extend.room import Extensions
from agentcli.extend.skills import Skill
from agentcli.i18n import IN_ENGLISH, Texts
from agentcli.ports.frontend import UserInput
from agentcli.text import one_line


async def run(context: CommandContext, arguments: str) -> CommandResult:
    room: Extensions | None = getattr(context.session, "extensions", None)
    if room is None:
        return CommandResult(context.texts("extensions.off"))
    room.refresh()
    return CommandResult(listing(room, context.texts))


def listing(room: Extensions, t: Texts = IN_ENGLISH) -> str:
    """Markdown: skills, commands, and what was left out."""
    parts = []
    if room.skills:
        lines = [f"- {_called(s)}: {_words(s, t)}{_who(s, room, t)}" for s in room.skills.values()]
        parts.append("\n".join([f"**{t('skills.skills')}**", "", *lines]))
    if room.commands:
        lines = [f"- {_called(c)}: {_words(c, t)} ({c.scope})" for c in room.commands.values()]
        parts.append("\n".join([f"**{t('skills.commands')}**", "", *lines]))
    if not parts:
        parts.append(t("skills.none"))
    if room.warnings:
        parts.append("\n".join([f"**{t('extensions.warnings')}**", "", *(f"- `{w}`" for w in room.warnings)]))
    return "\n\n".join(parts)


def _called(skill: Skill) -> str:
    return f"`/{skill.name} {skill.argument_hint}".rstrip() + "`"


def _words(skill: Skill, t: Texts) -> str:
    return one_line(skill.description, 160) or t("skills.undescribed")


def _who(skill: Skill, room: Extensions, t: Texts) -> str:
    notes: list[str] = [skill.scope]
    visibility = room.visibility(skill.name)
    if visibility != "on":
        notes.append(visibility)
    elif not skill.by_model:
        notes.append(t("skills.by_user"))
    elif not skill.by_user:
        notes.append(t("skills.by_model"))
    if skill.paths:
        notes.append(t("skills.paths", patterns=", ".join(skill.paths)))
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

    return Command(skill.name, _words(skill, IN_ENGLISH), call, argument_hint=skill.argument_hint)


COMMAND = Command("skills", "Show skills and custom commands", run, while_running=True)
