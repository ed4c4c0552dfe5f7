"""The status line: what the session costs and where it stands, as much of it as fits."""

from __future__ import annotations

from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.utils import get_cwidth

from agentcli.i18n import Texts
from agentcli.ports.frontend import SessionStatus
from agentcli.text import one_line
from agentcli.ui.terminal.output.glyphs import Glyphs

_WARN_AT = 0.8
"""Share of the window from which the context number is marked."""


def parts(status: SessionStatus, texts: Texts, glyphs: Glyphs) -> list[tuple[str, str]]:
    """(look, text) of each part, the most telling first; what does not fit is dropped from the end."""
    shown = [("", one_line(status.model_name or status.model, 40)), ("mode", texts(f"mode.{status.mode}"))]
    if status.effort:
        shown[0] = ("", f"{shown[0][1]} {status.effort}")
    if status.window:
        share = status.context_used / status.window
        shown.append(("warning" if share >= _WARN_AT else "", texts("status.context", percent=f"{share:.0%}")))
    if status.cost is not None:
        shown.append(("", f"${status.cost:.2f}" if status.cost >= 0.005 or not status.cost else f"${status.cost:.4f}"))
    if status.cache_read_share is not None:
        shown.append(("", texts("status.cache", percent=f"{status.cache_read_share:.0%}")))
    if status.branch:
        shown.append(("", f"{glyphs.branch} {one_line(status.branch, 40)}"))
    return shown


def line(shown: list[tuple[str, str]], width: int, glyphs: Glyphs) -> StyleAndTextTuples:
    """The parts on one line of at most ``width`` cells."""
    fragments: StyleAndTextTuples = []
    used = 0
    for look, text in shown:
        gap = f" {glyphs.dot} " if fragments else ""
        need = get_cwidth(gap) + get_cwidth(text)
        if used + need > width:
            break
        used += need
        fragments += [("class:dim", gap), (f"class:{look or 'dim'}", text)]
    return fragments
