"""agentcli: an interactive coding agent for the terminal.

Importing the package costs nothing: the public Python interface is handed on lazily.
"""

from __future__ import annotations

__version__ = "0.1.0"
