"""The sandbox as the shell tool sees it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, TypeAlias

from agentcli.messages import Json
from agentcli.ports.tools import Workspace

LEAVE = "dangerouslyDisableSandbox"
"""The input of the shell tool that asks to run a command outside.  No schema has it: whom the sandbox stops is told of
it."""
Wrap: TypeAlias = Callable[[Sequence[str]], Sequence[str]]
"""Puts something around a command's arguments."""


class CommandSandbox(Protocol):
    @property
    def may_leave(self) -> bool:
        """Whether the model may ask to run a command outside."""

    @property
    def network(self) -> bool:
        """Whether confined commands have one."""

    @property
    def ends_all(self) -> bool:
        """Whether nothing that a confined command started outlives it."""

    @property
    def environment(self) -> Mapping[str, str]:
        """Added to the environment of confined commands."""

    def covers(self, values: Json) -> bool:
        """Whether the command of these inputs of the shell tool runs confined."""

    def wrap(self, workspace: Workspace) -> Wrap:
        """What confines a command of this workspace.  ``OSError`` where that can't be prepared."""

    def close(self) -> None:
        """Behind the last command of the session."""
