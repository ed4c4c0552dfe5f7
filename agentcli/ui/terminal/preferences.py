"""What the settings say about the interface."""

from __future__ import annotations

from dataclasses import dataclass

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


@dataclass(frozen=True, slots=True)
class Preferences:
    """``None`` and empty: the settings say nothing."""

    theme: str | None = None
    language: str | None = None
    vi: bool = False


def preferences(settings: Settings) -> Preferences:
    """``theme``, ``uiLanguage`` and ``editorMode`` (``vim`` or ``vi``)."""
    return Preferences(
        theme=_THEMES.get(settings.text("theme") or ""),
        language=settings.text("uiLanguage"),
        vi=settings.text("editorMode") in ("vim", "vi"),
    )
