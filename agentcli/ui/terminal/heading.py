"""What stands above a conversation: the lines at its beginning, the window's title."""

from __future__ import annotations

from functools import partial

from agentcli import __version__
from agentcli.ports.frontend import SessionHandle
from agentcli.text import one_line
from agentcli.ui.terminal.past import draw_past
from agentcli.ui.terminal.screen import Screen
from agentcli.ui.terminal.way import Way


def greet(screen: Screen, session: SessionHandle, way: Way) -> None:
    """Program, model and directory, and the end of the conversation that the session goes on with."""
    status, view = session.status(), screen.view
    view.note(f"agentcli {__version__} {screen.glyphs.dot} {status.model_name}", "accent")
    view.note(f"{status.cwd}\n{screen.texts('banner.help')}", "dim")
    show_title(screen, session)
    draw_past(view, way.past(session), partial(way.title, session))


def show_title(screen: Screen, session: SessionHandle, *, working: bool = False) -> None:
    """The window's title: the session's own, else the directory's name; a sign while the agent works."""
    name = one_line(session.status().title or session.workspace.start.name, 60)
    sign = f"{screen.glyphs.working} " if working else ""
    screen.title(f"{sign}{name} {screen.glyphs.dot} agentcli")
