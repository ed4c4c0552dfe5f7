"""agentcli: an interactive coding agent for the terminal, and a small library.

Importing the package costs nothing: each public name is loaded when it is first used.  ``query`` asks once,
``open_session`` holds a conversation; both yield the events of ``agentcli.events``::

    async for event in agentcli.query("Which tests are slow?"):
        if isinstance(event, agentcli.TurnFinished):
            print(event.text)
"""

from __future__ import annotations

__version__ = "0.1.0"

TYPE_CHECKING = False  # type checkers take it for true; importing `typing` would cost every start
if TYPE_CHECKING:
    from agentcli.api import Permission, Session, open_session, query
    from agentcli.errors import AgentcliError, UserError
    from agentcli.events import Event, PermissionAsked, TextDelta, ToolFinished, ToolStarted, TurnFinished
    from agentcli.ports.permissions import Answer, PermissionMode, PermissionUpdate
    from agentcli.runtime.options import Resume, SessionOptions

__all__ = [
    "AgentcliError",
    "Answer",
    "Event",
    "Permission",
    "PermissionAsked",
    "PermissionMode",
    "PermissionUpdate",
    "Resume",
    "Session",
    "SessionOptions",
    "TextDelta",
    "ToolFinished",
    "ToolStarted",
    "TurnFinished",
    "UserError",
    "__version__",
    "open_session",
    "query",
]

_HOMES = {
    "agentcli.api": ("Permission", "Session", "open_session", "query"),
    "agentcli.errors": ("AgentcliError", "UserError"),
    "agentcli.events": ("Event", "PermissionAsked", "TextDelta", "ToolFinished", "ToolStarted", "TurnFinished"),
    "agentcli.ports.permissions": ("Answer", "PermissionMode", "PermissionUpdate"),
    "agentcli.runtime.options": ("Resume", "SessionOptions"),
}

if not TYPE_CHECKING:  # a type checker would take every misspelt name for one that is loaded lazily

    def __getattr__(name: str) -> object:
        from importlib import import_module

        for home, names in _HOMES.items():
            if name in names:
                value = globals()[name] = getattr(import_module(home), name)
                return value
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}; it offers {', '.join(__all__)}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
