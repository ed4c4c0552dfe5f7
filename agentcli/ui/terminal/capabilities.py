"""What the terminal can do, as far as the environment tells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

ColorSystem = Literal["standard", "256", "truecolor"]

_LINK_PROGRAMS = frozenset({"iTerm.app", "WezTerm", "ghostty", "vscode", "Hyper", "rio"})
_REFLOW_PROGRAMS = _LINK_PROGRAMS | {"Apple_Terminal"}
_REFLOW_MARKS = ("VTE_VERSION", "KITTY_WINDOW_ID", "WT_SESSION", "TMUX", "ALACRITTY_WINDOW_ID", "KONSOLE_VERSION")
_LINK_MARKS = ("VTE_VERSION", "KITTY_WINDOW_ID", "WT_SESSION", "ALACRITTY_WINDOW_ID", "KONSOLE_VERSION")


@dataclass(frozen=True, slots=True)
class Capabilities:
    """``dumb``: no control sequences at all.  ``color`` is ``None`` where no colour may be used (bold and underline
    still may).  ``links``: OSC 8 hyperlinks.  ``reflow``: lines are wrapped anew when the window changes its width.
    ``notices``: OSC 9 notifications."""

    dumb: bool
    color: ColorSystem | None
    links: bool
    reflow: bool
    notices: bool
    unicode: bool = True


def detect(env: Mapping[str, str], *, encoding: str = "utf-8") -> Capabilities:
    """``NO_COLOR`` counts when it is not empty (no-color.org); ``TERM`` unset or ``dumb`` is a dumb terminal."""
    term = env.get("TERM", "")
    program = env.get("TERM_PROGRAM", "")
    return Capabilities(
        dumb=term in ("", "dumb"),
        color=None if env.get("NO_COLOR") else _color(env, term),
        links=program in _LINK_PROGRAMS or any(env.get(m) for m in _LINK_MARKS),
        reflow=program in _REFLOW_PROGRAMS or any(env.get(m) for m in _REFLOW_MARKS) or term.startswith("foot"),
        notices=program in ("iTerm.app", "WezTerm", "ghostty") or bool(env.get("KITTY_WINDOW_ID")),
        unicode=encoding.lower().replace("-", "") in ("utf8", "utf16", "gb18030"),
    )


def _color(env: Mapping[str, str], term: str) -> ColorSystem:
    if env.get("COLORTERM", "").lower() in ("truecolor", "24bit") or env.get("WT_SESSION"):
        return "truecolor"
    return "256" if "256" in term or "kitty" in term or "alacritty" in term else "standard"
