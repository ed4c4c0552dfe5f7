"""``/hooks [TOOL]``: which hooks there are; which would run for a tool."""

from __future__ import annotations

from collections.abc import Iterator

from agentcli.commands.base import Command, CommandContext, CommandResult
from agentcli.commands.skills import NOTHING_READ
from agentcli.extend.hooks import EVENTS, Handler, HookRoom
from agentcli.extend.hooks.config import TOOL_EVENTS
from agentcli.extend.hooks.running import seconds_of
from agentcli.extend.room import Extensions


async def run(context: CommandContext, arguments: str) -> CommandResult:
    room: Extensions | None = getattr(context.session, "extensions", None)
    if room is None or not isinstance(room.hooks, HookRoom):
        return CommandResult(NOTHING_READ if room is None else "No hooks run in this session.")
    return CommandResult(listing(room.hooks, arguments))


def listing(hooks: HookRoom, tool: str = "") -> str:
    """Markdown: the hooks by event in the order in which they are declared; with a tool only those that would run for
    its calls."""
    parts: list[str] = []
    for event in EVENTS:
        handlers = _of(hooks, event, tool)
        if handlers:
            parts.append("\n".join([f"**{event}**", "", *_lines(handlers)]))
    config = hooks.config
    if not parts:
        parts.append(f"No hook runs for {tool}." if tool else "There are no hooks. They stand in settings, `hooks`.")
    if config.off:
        parts.append(f"Note: {config.off}.")
    if config.warnings:
        parts.append("\n".join(["**Ignored**", "", *(f"- `{w}`" for w in config.warnings)]))
    return "\n\n".join(parts)


def _of(hooks: HookRoom, event: str, tool: str) -> tuple[Handler, ...]:
    if tool:
        return hooks.matching(event, tool) if event in TOOL_EVENTS else ()
    return tuple(h for h in hooks.config.handlers if h.event == event)


def _lines(handlers: tuple[Handler, ...]) -> Iterator[str]:
    for handler in handlers:
        about = f" for `{handler.matcher}`" if handler.matcher else ""
        only = f" if `{handler.condition}`" if handler.condition else ""
        how = "in the background" if handler.background else f"{seconds_of(handler):g} s at most"
        yield f"- {handler.kind} `{handler.label}`{about}{only} ({how}; {handler.source})"


COMMAND = Command("hooks", "Which hooks run, and for what", run, argument_hint="[tool]", while_running=True)
