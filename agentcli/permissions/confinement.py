"""Which shell commands the operating system confines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agentcli.permissions.shellpatterns import command_form, compile_pattern, matches
from agentcli.ports.sandbox import LEAVE
from agentcli.shell import parse


@dataclass(frozen=True, slots=True)
class Confinement:
    """``unasked``: confined commands need no permission (``autoAllowBashIfSandboxed``); ``may_leave``: the model may
    ask to run a command outside (``allowUnsandboxedCommands``); ``excluded``: patterns of commands that always run
    outside (``excludedCommands``)."""

    unasked: bool = True
    may_leave: bool = True
    excluded: tuple[str, ...] = ()

    def covers(self, values: Mapping[str, Any]) -> bool:
        """Whether the command of a shell call runs confined.  A line of which one command is excluded runs outside."""
        if self.may_leave and values.get(LEAVE) in (True, "true"):
            return False
        command = values.get("command")
        if not self.excluded or not isinstance(command, str):
            return True
        patterns = [compile_pattern(text) for text in self.excluded]
        return not any(
            matches(pattern, command_form(found.words))
            for found in parse(command).commands
            if found.words
            for pattern in patterns
        )


def read_confinement(settings: Mapping[str, Any]) -> Confinement:
    """From the setting ``sandbox``."""
    excluded = settings.get("excludedCommands")
    return Confinement(
        unasked=settings.get("autoAllowBashIfSandboxed") is not False,
        may_leave=settings.get("allowUnsandboxedCommands") is not False,
        excluded=tuple(t for t in excluded if isinstance(t, str)) if isinstance(excluded, list) else (),
    )
