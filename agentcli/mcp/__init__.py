"""Client of Model Context Protocol servers, on the official ``mcp`` package: the only room that imports it.

``config`` says which servers there are (``expand`` and ``entries`` read one, ``store`` keeps our own, ``approval``
guards those of projects).  ``connection`` owns one server from connect to close in one task; ``stdio``,
``remote`` and ``inclient`` (servers that live in the client of a headless session) are its transports, ``incoming``
reads what comes, ``answers`` what a server may ask of us.  ``known`` keeps every tool that this conversation knows
(``naming``, ``schema``, ``results`` and ``tools`` turn a server's tool into one of ours), ``announce`` tells the model
what came and went.  ``room.McpRoom`` brings them together; it is what a session holds.

Nothing here is needed before a server is configured: the names below are loaded when they are first used, and the
package itself (half a second of CPU time) in a thread, when the first server is connected.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentcli.mcp.config import Configuration, inline_configuration, read_configuration
    from agentcli.mcp.opening import Ground, make_room
    from agentcli.mcp.room import McpRoom
    from agentcli.mcp.values import ServerEntry, ServerStatus
    from agentcli.mcp.wiring import Wiring

__all__ = [
    "Configuration",
    "Ground",
    "McpRoom",
    "ServerEntry",
    "ServerStatus",
    "Wiring",
    "inline_configuration",
    "make_room",
    "read_configuration",
]
_HOMES = {
    "Configuration": "config",
    "Ground": "opening",
    "McpRoom": "room",
    "ServerEntry": "values",
    "ServerStatus": "values",
    "Wiring": "wiring",
    "inline_configuration": "config",
    "make_room": "opening",
    "read_configuration": "config",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
