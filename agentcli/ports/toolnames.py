"""Names of tools as the model and permission rules see them: ``mcp__SERVER__TOOL``, at most 64 of ``[a-zA-Z0-9_-]``.

The same server and tool get the same name in every session.  Where two would share one, or a name is too long, a short
hash of the real names is added; the way back is kept by whoever asked for the name.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Container

LIMIT = 64
_HASH = 8
SHORT = LIMIT - _HASH - 1
"""What stays of a name that is too long."""
SHORT_SERVER = LIMIT // 2 - _HASH - 1
_OTHER = re.compile(r"[^A-Za-z0-9_-]")
_RUNS = re.compile(r"_{2,}")


def server_part(name: str) -> str:
    """The server's part of its tools' names.  Never holds ``__``: a rule for ``mcp__a`` must not cover a server that
    is called ``a__b``."""
    return _RUNS.sub("_", _OTHER.sub("_", name)).strip("_") or "server"


def tool_name(server: str, tool: str, *, part: str = "", taken: Container[str] = ()) -> str:
    """The full name; ``part`` is the server's part where it is not ``server_part(server)``."""
    prefix = f"mcp__{part or server_part(server)}__"
    plain = prefix + (_OTHER.sub("_", tool) or "tool")
    if len(plain) <= LIMIT and plain not in taken:
        return plain
    return f"{plain[:SHORT]}_{_hash(server, tool)}"


def server_parts(names: list[str]) -> dict[str, str]:
    """The parts of all configured servers: short enough to leave room for a tool, and each of them once."""
    parts: dict[str, str] = {}
    exact = sorted(names, key=lambda n: (server_part(n) != n, n))
    for name in exact:
        part = server_part(name)
        if len(part) > LIMIT // 2 or part in parts.values():
            part = f"{part[:SHORT_SERVER]}_{_hash(name, '')}"
        parts[name] = part
    return parts


def order(tools: list[str]) -> list[str]:
    """The tools of a server in the order in which they get their names: those that keep their own first."""
    return sorted(tools, key=lambda n: (_OTHER.search(n) is not None, n))


def _hash(server: str, tool: str) -> str:
    return hashlib.sha256(f"{server}\0{tool}".encode("utf-8", "replace")).hexdigest()[:_HASH]
