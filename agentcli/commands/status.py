"""``/status``: where the session stands."""

from __future__ import annotations

from agentcli import __version__
from agentcli.commands.base import Command, CommandContext, CommandResult


async def run(context: CommandContext, arguments: str) -> CommandResult:
    status, t = context.session.status(), context.texts
    share, refused = status.cache_read_share, ", ".join(sorted(context.session.models.refused))
    effort = f", {t('session.effort', level=status.effort)}" if status.effort else ""
    tokens = t("session.tokens", used=f"{status.context_used:,}", window=f"{status.window:,}")
    rows = [
        (t("session.version"), __version__),
        (t("session.session"), f"`{status.session_id}`" + (f" “{status.title}”" if status.title else "")),
        (t("session.model"), f"{status.model_name} (`{status.model}`){effort}"),
        (t("session.mode"), f"{status.mode} ({t(f'mode.{status.mode}')})"),
        (t("session.directory"), f"`{status.cwd}`" + (f" (`{status.branch}`)" if status.branch else "")),
        (t("session.sandbox"), _sandbox(context)),
        (t("session.others"), ", ".join(f"`{root}`" for root in context.session.workspace.extra_roots)),
        (t("session.context"), tokens),
        (t("session.cost"), t("session.unpriced") if status.cost is None else f"${status.cost:.4f}"),
        (t("session.cache"), "" if share is None else t("session.share", share=f"{share:.0%}")),
        (t("session.unused"), t("session.refused", what=refused) if refused else ""),
    ]
    lines = [f"- **{name}:** {value}" for name, value in rows if value]
    return CommandResult("\n".join([*lines, *_troubles(context)]))


def _sandbox(context: CommandContext) -> str:
    bounds = context.session.gate.confinement
    if bounds is None:
        return ""
    return context.texts("session.confined") if bounds.unasked else context.texts("session.confined.asked")


def _troubles(context: CommandContext) -> list[str]:
    """What of the settings and rules is of no use, and why."""
    settings = context.session.world.settings
    found = [*settings.errors, *settings.warnings, *context.session.gate.warnings]
    if settings.unknown:
        found.append(context.texts("session.unknown", names=", ".join(settings.unknown)))
    return [f"- **{context.texts('session.settings')}:** {_literal(text)}" for text in dict.fromkeys(found)]


def _literal(text: str) -> str:
    """As Markdown that shows the text as it is: paths and rules are full of marks."""
    return text if "`" in text else f"`{text}`"


COMMAND = Command("status", "Where the session stands", run, while_running=True)
