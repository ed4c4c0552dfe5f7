"""What a command is confined in, and what the model is told when that stopped it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from agentcli.ports.sandbox import LEAVE, CommandSandbox, Wrap

_STOPPED = re.compile(
    r"read-only file system|operation not permitted|permission denied|network is unreachable"
    r"|could(?: not|n't) resolve|name resolution|name or service not known|unable to resolve|getaddrinfo|EROFS|EPERM"
    r"|EACCES|ENETUNREACH|EAI_AGAIN",
    re.IGNORECASE,
)
"""How programs say that the file system is read-only or that there is no network."""


@dataclass(frozen=True, slots=True)
class Cage:
    """Nothing at all by default.  ``hint`` is told where a command failed as it does in a sandbox; ``ends_all``: what
    the command leaves behind ends with it (though it may be seen for a moment)."""

    wrap: Wrap = list
    environment: Mapping[str, str] = field(default_factory=dict)
    hint: str = ""
    ends_all: bool = False

    def explain(self, output: str, *, failed: bool) -> str:
        return self.hint if failed and self.hint and _STOPPED.search(output) else ""


def hint(sandbox: CommandSandbox) -> str:
    """For the model, when the sandbox may be what stopped its command."""
    network = "" if sandbox.network else " and has no network"
    text = f"ran in the sandbox, which writes only in the working directories and $TMPDIR{network}"
    if not sandbox.may_leave:
        return f"{text}; nothing runs outside of it here"
    return f"{text}; if that is why it failed, call again with {LEAVE}: true, about which the user is asked"
