"""Who asks the person on a terminal that can draw."""

from __future__ import annotations

from collections.abc import Callable

from agentcli.ui.terminal.elicitation import TerminalElicitor
from agentcli.ui.terminal.questions import TerminalQuestions
from agentcli.ui.terminal.screen import Screen
from agentcli.ui.terminal.trust import outside_dialog
from agentcli.ui.terminal.way import Asking


def terminal_asking(screen: Screen, interrupt: Callable[[], object]) -> Asking:
    """``interrupt`` is called for Ctrl+C."""
    return Asking(
        outside_dialog(screen),
        TerminalQuestions(screen, interrupt),
        TerminalElicitor(screen, interrupt),
        screen.watch_focus,
    )
