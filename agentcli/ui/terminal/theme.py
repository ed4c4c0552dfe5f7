"""Themes: one small table of looks, used by rich (finished output) and prompt_toolkit (the live part) alike."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, get_args

ThemeName = Literal["dark", "light", "daltonised", "none"]
THEME_NAMES: tuple[ThemeName, ...] = get_args(ThemeName)

AGENT_COLORS: Final = {
    "red": "red",
    "orange": "bright_red",
    "yellow": "yellow",
    "green": "green",
    "cyan": "cyan",
    "blue": "blue",
    "purple": "magenta",
    "pink": "bright_magenta",
}
"""What the ``color`` of an agent's definition may be, as one of the terminal's own."""
SHAPES: Final = {
    "plain": "",
    "user": "bold",
    "accent": "bold",
    "dim": "dim",
    "ok": "",
    "error": "bold",
    "warning": "bold",
    "tool": "bold",
    "code": "",
    "link": "underline",
    "added": "",
    "removed": "",
    "added_word": "bold underline",
    "removed_word": "bold underline",
    "chip": "reverse",
    "selected": "bold",
    "heading": "bold",
    "heading1": "bold underline",
    "quote": "italic",
    "mode": "bold",
    **{f"agent_{name}": "" for name in AGENT_COLORS},
}
"""What every theme has, with and without colour: signs and shapes carry the meaning, hue only adds to it."""

_DARK: Final = {
    "user": "bright_cyan",
    "accent": "bright_cyan",
    "dim": "bright_black",
    "ok": "green",
    "error": "bright_red",
    "warning": "yellow",
    "code": "cyan",
    "link": "bright_blue",
    "added": "green",
    "removed": "red",
    "added_word": "bright_green",
    "removed_word": "bright_red",
    "selected": "bright_cyan",
    "heading": "bright_magenta",
    "heading1": "bright_magenta",
    "mode": "magenta",
    **{f"agent_{name}": color for name, color in AGENT_COLORS.items()},
}
_LIGHT: Final = {
    **_DARK,
    "user": "blue",
    "accent": "blue",
    "error": "red",
    "code": "magenta",
    "link": "blue",
    "added_word": "green",
    "removed_word": "red",
    "selected": "blue",
    "heading": "magenta",
    "heading1": "magenta",
}
_DALTONISED: Final = {
    **_DARK,
    "ok": "bright_blue",
    "error": "yellow",
    "warning": "bright_white",
    "added": "bright_blue",
    "removed": "yellow",
    "added_word": "bright_blue",
    "removed_word": "bright_yellow",
}
_COLORS: Final[Mapping[ThemeName, Mapping[str, str]]] = {
    "dark": _DARK,
    "light": _LIGHT,
    "daltonised": _DALTONISED,
    "none": {},
}
_PTK_COLORS: Final = {
    "black": "ansiblack",
    "red": "ansired",
    "green": "ansigreen",
    "yellow": "ansiyellow",
    "blue": "ansiblue",
    "magenta": "ansimagenta",
    "cyan": "ansicyan",
    "white": "ansigray",
    "bright_black": "ansibrightblack",
    "bright_red": "ansibrightred",
    "bright_green": "ansibrightgreen",
    "bright_yellow": "ansibrightyellow",
    "bright_blue": "ansibrightblue",
    "bright_magenta": "ansibrightmagenta",
    "bright_cyan": "ansibrightcyan",
    "bright_white": "ansiwhite",
}


@dataclass(frozen=True, slots=True)
class Theme:
    """The looks of one theme.  ``code`` is the pygments style for fences (its 16 colours are the terminal's own)."""

    name: ThemeName
    code: str

    def rich(self, look: str) -> str:
        """The look as a rich style definition."""
        color = _COLORS[self.name].get(look, "")
        shape = SHAPES[look]
        if color == "bright_black":
            shape = ""
        return f"{shape} {color}".strip() or "none"

    def ptk(self, look: str) -> str:
        """The look as a prompt_toolkit style string."""
        return " ".join(_PTK_COLORS.get(word, word) for word in self.rich(look).split() if word != "none")


def theme(name: str, *, color: bool = True) -> Theme:
    """The theme of that name; ``none`` for an unknown name or where no colour may be used."""
    if not color or name not in _COLORS:
        return Theme("none", "bw")
    return Theme(name, "ansi_light" if name == "light" else "ansi_dark")  # type: ignore[arg-type]  # checked above


def choose_theme(given: str | None, env: Mapping[str, str]) -> str:
    """What was asked for, else light where ``COLORFGBG`` tells of a light background (7 or 15), else dark."""
    if given:
        return given
    background = env.get("COLORFGBG", "").rsplit(";", 1)[-1]
    return "light" if background in ("7", "15") else "dark"
