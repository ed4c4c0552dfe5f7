"""Client of Model Context Protocol servers, on the official ``mcp`` package: the only room that imports it.

``config`` says which servers there are (``expand`` and ``entries`` read one, ``store`` keeps our own, ``approval``
guards those of projects).  ``connection`` owns one server from connect to close in one task; ``stdio`` and ``remote``
are its transports, ``answers`` what a server may ask of us.  ``known`` keeps every tool that this conversation knows
(``naming``, ``schema``, ``results`` and ``tools`` turn a server's tool into one of ours), ``announce`` tells the model
what came and went.  ``room.McpRoom`` brings them together; it is what a session holds.

Nothing here is needed before a server is configured, and the package itself (half a second of CPU time) loads in a
thread when the first server is connected.
"""

from agentcli.mcp.config import Configuration, read_configuration
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
    "make_room",
    "read_configuration",
]
