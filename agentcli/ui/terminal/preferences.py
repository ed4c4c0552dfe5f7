"""What the settings say about the interface."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from agentcli.settings.merged import Settings

_THEMES = {
    "dark": "dark",
    "light": "light",
    "dark-ansi": "dark",
    "light-ansi": "light",
    "daltonised": "daltonised",
    "daltonized": "daltonised",
    "dark-daltonized": "daltonised",
    "light-daltonized": "daltonised",
    "none": "none",
}
"""Names of the setting ``theme``, those of the field's settings files too."""

Notify = Literal["auto", "bell", "none"]
"""What happens when the person is needed or a long turn ends: a bell, with a notification where the terminal can show
one; the bell alone; nothing."""
_NOTIFY: dict[str, Notify] = {"terminal_bell": "bell", "notifications_disabled": "none", "none": "none"}


@dataclass(frozen=True, slots=True)
class Preferences:
    """``None`` and empty: the settings say nothing."""

    theme: str | None = None
    language: str | None = None
    vi: bool = False
    notify: Notify = "auto"
    flat: bool = False
    """Lines in, lines out, nothing drawn twice: for screen readers."""


def preferences(settings: Settings) -> Preferences:
    """``theme``, ``uiLanguage``, ``editorMode`` (``vim`` or ``vi``), ``preferredNotifChannel``, ``axScreenReader``."""
    return Preferences(
        theme=_THEMES.get(settings.text("theme") or ""),
        language=settings.text("uiLanguage"),
        vi=settings.text("editorMode") in ("vim", "vi"),
        notify=_NOTIFY.get(settings.text("preferredNotifChannel") or "", "auto"),
        flat=settings.flag("axScreenReader"),
    )
