"""Limits of the room and the variables that change them.

``MCP_TIMEOUT`` and ``MCP_TOOL_TIMEOUT`` are milliseconds, as in other programs of this kind; since nobody means half a
second there, a value below 600 is taken as seconds.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from agentcli.env import number

START = 30.0
"""Seconds from starting or calling a server to its list of tools."""
TRIES = 5
"""Attempts to connect again after a server was lost or could not be had."""
BACKOFF = (0.5, 1.0, 2.0, 4.0, 8.0)
"""Seconds before each of them."""
STEADY = 60.0
"""A connection that held so long earns new attempts."""
GRACE_INTERACTIVE = 0.5
GRACE_HEADLESS = 5.0
"""Seconds that a conversation's first request waits for servers that are still connecting: longer where nobody can ask
again, but no server that never answers may cost every script its whole start timeout.  Whoever sets ``MCP_TIMEOUT``
says how long is worth it.  Where tools are rendered in front of the prompt it is the start timeout as well: a late one
would cost the whole cache."""
ALIVE = 5.0
"""Seconds in which a server that was cancelled or timed out must answer a ping, or it is started anew."""
CLOSE = 2.5
"""Seconds that closing all servers takes at most."""
INSTRUCTIONS = 2_048
DESCRIPTION = 2_048
"""Characters of a server's instructions and of a tool's description that the model gets."""
RESULT_TOKENS = 25_000
"""Estimated tokens of one result (``MAX_MCP_OUTPUT_TOKENS``); more goes to a file."""
RESULT_CHARACTERS = 500_000
"""The most that a server may ask for one of its tools."""
IMAGES = 10
"""Images of one result that the model gets; further ones go to files."""
PAGES = 100
"""Pages of one list; a server that always has another is cut off there."""
SECONDS_BELOW = 600


def _seconds(name: str, env: Mapping[str, str]) -> float:
    value = number(name, 0, env)
    return float(value) if value < SECONDS_BELOW else value / 1000


def start_timeout(env: Mapping[str, str] | None = None) -> float:
    """``MCP_TIMEOUT`` in seconds."""
    return _seconds("MCP_TIMEOUT", os.environ if env is None else env) or START


def headless_grace(env: Mapping[str, str] | None = None) -> float:
    """Seconds that a headless run's first request waits for servers."""
    return _seconds("MCP_TIMEOUT", os.environ if env is None else env) or GRACE_HEADLESS


def call_timeout(env: Mapping[str, str] | None = None) -> float | None:
    """``MCP_TOOL_TIMEOUT`` in seconds; ``None``: a call may take any time (it can always be interrupted)."""
    return _seconds("MCP_TOOL_TIMEOUT", os.environ if env is None else env) or None


def result_tokens(env: Mapping[str, str] | None = None) -> int:
    return number("MAX_MCP_OUTPUT_TOKENS", 0, env) or RESULT_TOKENS
