"""Slash commands on the screen: which there are, what came of one, and that there is none of a name."""

from __future__ import annotations

from agentcli.commands.base import CommandResult
from agentcli.commands.registry import Registry
from agentcli.ui.terminal.input.complete import CommandEntry
from agentcli.ui.terminal.screen import Screen


def command_entries(screen: Screen, registry: Registry) -> list[CommandEntry]:
    """What completion offers, described in the user's language."""
    texts = screen.texts
    return [
        CommandEntry(c.name, texts.optional(f"command.{c.name}", c.description), c.argument_hint)
        for c in registry.all()
    ]


def unknown_command(screen: Screen, registry: Registry, name: str, arguments: str) -> None:
    """Says that there is no such command, and which may have been meant."""
    near = registry.nearest(name)
    words = screen.texts("command.unknown", name=name)
    screen.view.echo(f"/{name} {arguments}".rstrip())
    meant = screen.texts("command.meant", name=near) if near else screen.texts("command.list")
    screen.view.note(f"{words} {meant}", "error")


def show_outcome(screen: Screen, result: CommandResult) -> None:
    """What of a command's result is for the eyes alone."""
    if result.theme:
        screen.use_theme(result.theme)
    if result.text:
        screen.view.markdown(result.text)
    if result.copy:
        screen.copy(result.copy)
    if result.draft:
        screen.put_back(result.draft)
