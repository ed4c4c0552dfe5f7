"""``/status``: where the session stands."""

from __future__ import annotations

from agentcli import __version__
from agentcli.commands.base import Command, CommandContext, CommandResult


async def run(context: CommandContext, arguments: str) -> CommandResult:
    status = context.session.status()
    share = status.cache_read_share
    rows = [
        ("Version", __version__),
        ("Session", f"`{status.session_id}`" + (f" “{status.title}”" if status.title else "")),
        ("Model", f"{status.model_name} (`{status.model}`)" + (f", effort {status.effort}" if status.effort else "")),
        ("Mode", f"{status.mode} ({context.texts(f'mode.{status.mode}')})"),
        ("Directory", f"`{status.cwd}`" + (f" on `{status.branch}`" if status.branch else "")),
        ("Sandbox", _sandbox(context)),
        ("Others", ", ".join(f"`{root}`" for root in context.session.workspace.extra_roots)),
        ("Context", f"{status.context_used:,} of {status.window:,} tokens"),
        ("Cost", "unknown (no price for this model)" if status.cost is None else f"${status.cost:.4f}"),
        ("Cache", "" if share is None else f"{share:.0%} of the last request was read from the cache"),
        ("Not used", ", ".join(sorted(context.session.models.refused)) + ": refused by the server, or switched off"),
    ]
    if not context.session.models.refused:
        rows.pop()
    lines = [f"- **{name}:** {value}" for name, value in rows if value]
    return CommandResult("\n".join([*lines, *_troubles(context)]))


def _sandbox(context: CommandContext) -> str:
    bounds = context.session.gate.confinement
    if bounds is None:
        return ""
    return "shell commands are confined" + ("" if bounds.unasked else ", and asked about all the same")


def _troubles(context: CommandContext) -> list[str]:
    """What of the settings and rules is of no use, and why."""
    settings = context.session.world.settings
    found = [*settings.errors, *settings.warnings, *context.session.gate.warnings]
    if settings.unknown:
        found.append(f"unknown settings: {', '.join(settings.unknown)}")
    return [f"- **Settings:** {_literal(text)}" for text in dict.fromkeys(found)]


def _literal(text: str) -> str:
    """As Markdown that shows the text as it is: paths and rules are full of marks."""
    return text if "`" in text else f"`{text}`"


COMMAND = Command("status", "Where the session stands", run, while_running=True)
