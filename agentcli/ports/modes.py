"""Between the tools that end or begin a mode, and the session that has one."""

from __future__ import annotations

from typing import Protocol

from agentcli.ports.permissions import PermissionMode


class ModeSwitch(Protocol):
    """``ToolContext.services["modes"]``: the session's permission mode."""

    @property
    def mode(self) -> PermissionMode: ...

    def set_mode(self, mode: PermissionMode) -> None:
        """From now on; told to the user."""
