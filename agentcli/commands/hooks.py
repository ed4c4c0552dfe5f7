"""``/hooks [TOOL]``: which hooks there are; which would run for a tool."""

from __future__ import annotations

from collections.abc import Iterator

from agentcli.commands.base import Command, CommandContext, CommandResult
from agentcli.extend.hooks import EVENTS, Handler, HookRoom
from agentcli.extend.hooks.config import TOOL_EVENTS
from agentcli.extend.hooks.running import seconds_of
from agentcli.extend.room import Extensions
from agentcli.i18n import IN_ENGLISH, Texts


async def run(context: CommandContext, arguments: str) -> CommandResult:
    room: Extensions | None = getattr(context.session, "extensions", None)
    if room is None or not isinstance(room.hooks, HookRoom):
        return CommandResult(context.texts("extensions.off" if room is None else "hooks.off"))
    return CommandResult(listing(room.hooks, arguments, context.texts))


def listing(hooks: HookRoom, tool: str = "", t: Texts = IN_ENGLISH) -> str:
    """Markdown: the hooks by event in the order in which they are declared; with a tool only those that would run for
    its calls."""
    parts: list[str] = []
    for event in EVENTS:
        handlers = _of(hooks, event, tool)
        if handlers:
            parts.append("\n".join([f"**{event}**", "", *_lines(handlers, t)]))
    config = hooks.config
    if not parts:
        parts.append(t("hooks.none_for", tool=tool) if tool else t("hooks.none"))
    if config.off:
        parts.append(t("hooks.note", text=config.off))
    if config.warnings:
        parts.append("\n".join([f"**{t('hooks.ignored')}**", "", *(f"- `{w}`" for w in config.warnings)]))
    return "\n\n".join(parts)


def _of(hooks: HookRoom, event: str, tool: str) -> tuple[Handler, ...]:
    if tool:
        return hooks.matching(event, tool) if event in TOOL_EVENTS else ()
    return tuple(h for h in hooks.config.handlers if h.event == event)


def _lines(handlers: tuple[Handler, ...], t: Texts) -> Iterator[str]:
    for handler in handlers:
        about = t("hooks.for", matcher=f"`{handler.matcher}`") if handler.matcher else ""
        only = t("hooks.if", condition=f"`{handler.condition}`") if handler.condition else ""
        how = t("hooks.background") if handler.background else t("hooks.most", seconds=f"{seconds_of(handler):g}")
        yield f"- {handler.kind} `{handler.label}`{about}{only} ({how}; {handler.source})"


COMMAND = Command("hooks", "Which hooks run, and for what", run, argument_hint="[tool]", while_running=True)
